/** Artificial, seeded links and a session's observations of them. */

import type { Observation } from '../../../abr/forecast.ts';
import { normal, seededRandom } from '../../../abr/statistics/random.ts';

export type Link = (second: number) => number;

const STEP_SECONDS = 0.1;

export function throughput(startSeconds: number, endSeconds: number, rateBps: number): Observation {
  return { kind: 'throughput', startSeconds, endSeconds, bits: rateBps * (endSeconds - startSeconds) };
}

/** No time, or no number of bits. */
export const IMPOSSIBLE_THROUGHPUT: readonly Observation[] = [
  [20, 20, 1e6],
  [20, 19, 1e6],
  [Number.NaN, 20.1, 1e6],
  [20, Number.NaN, 1e6],
  [20, Number.POSITIVE_INFINITY, 1e6],
  [20, 20.1, Number.NaN],
  [20, 20.1, -1],
  [20, 20.1, Number.POSITIVE_INFINITY],
].map(([startSeconds, endSeconds, bits]) => {
  return { kind: 'throughput', startSeconds: startSeconds!, endSeconds: endSeconds!, bits: bits! };
});

/** A LEO link in bit/s: a rate per epoch, a dip in its first second, noise. Boundaries at `boundary` + n * 15 s. */
export function leoLink(options: { seed: number; boundary: number; spread?: number; noise?: number }): Link {
  const { seed, boundary, spread = 0.4, noise = 0.08 } = options;
  return (second) => {
    const position = second - boundary + 1500;
    const ofEpoch = normal(seededRandom(seed * 7919 + Math.floor(position / 15)));
    const ofStep = normal(seededRandom(seed * 104729 + Math.round(second / STEP_SECONDS)));
    return 60e6 * Math.exp(spread * ofEpoch + noise * ofStep) * (position % 15 < 1 ? 0.7 : 1);
  };
}

export function noisyLink(seed: number, noise: number): Link {
  return (second) => 60e6 * Math.exp(noise * normal(seededRandom(seed * 104729 + Math.round(second / STEP_SECONDS))));
}

export function squareLink(periodSeconds: number): Link {
  return (second) => (second % periodSeconds < periodSeconds / 2 ? 80e6 : 30e6);
}

/** A link at a quarter of its rate for 0.2 s from each of `dips` on. */
export function dippingLink(dips: (second: number) => boolean, link = noisyLink(1, 0.1)): Link {
  return (second) => link(second) * (dips(second) || dips(second - 0.1) ? 0.25 : 1);
}

/** Whether a dip begins in this tenth of a second: at `first`, and `everySeconds` later ... */
export function dipsEvery(everySeconds: number, first = 0): (second: number) => boolean {
  return (second) => (((second - first) % everySeconds) + everySeconds) % everySeconds < 0.1;
}

/** Dips 3 to 27 s apart. */
export function dipsAtRandom(seed: number): (second: number) => boolean {
  const random = seededRandom(seed);
  const starts = new Set<number>();
  for (let second = 0; second < 1000; second += 3 + 24 * random()) starts.add(Math.floor(second / STEP_SECONDS));
  return (second) => starts.has(Math.floor(second / STEP_SECONDS));
}

/** The observations of a live session: four chunks a second of `share` of 60 Mbit/s, each as soon as possible. */
export function liveObservationsOf(link: Link, options: SessionOptions & { share?: number }): Observation[] {
  const { untilSeconds, fromSeconds = 0, aheadSeconds = 0, share = 0.5 } = options;
  const observations: Observation[] = [];
  let backlogBits = 0;
  for (let tick = Math.round(fromSeconds * 40); tick < untilSeconds * 40; tick++) {
    if (tick % 10 === 0) backlogBits += (share * 60e6) / 4;
    if (backlogBits <= 0) continue;
    const rate = link((tick + 0.5) / 40);
    const startSeconds = aheadSeconds + tick / 40;
    const bits = Math.min(backlogBits, rate / 40);
    backlogBits -= bits;
    observations.push({ kind: 'throughput', startSeconds, endSeconds: startSeconds + bits / rate, bits });
  }
  return observations;
}

export interface SessionOptions {
  untilSeconds: number;
  fromSeconds?: number;
  /** Seconds of downloading per 4 s; the rest is idle. Default 3. */
  busySeconds?: number;
  /** The session's clock minus the link's. Default 0. */
  aheadSeconds?: number;
}

/** The observations of a session that downloads periodically. */
export function observationsOf(link: Link, options: SessionOptions): Observation[] {
  const { untilSeconds, fromSeconds = 0, busySeconds = 3, aheadSeconds = 0 } = options;
  const observations: Observation[] = [];
  for (let second = fromSeconds; second < untilSeconds; second += 4) {
    const at = second + aheadSeconds;
    for (let i = 0; i < Math.round(busySeconds / STEP_SECONDS); i++) {
      const rateBps = link(second + (i + 0.5) * STEP_SECONDS);
      observations.push(throughput(at + i * STEP_SECONDS, at + (i + 1) * STEP_SECONDS, rateBps));
    }
    if (busySeconds < 4) observations.push({ kind: 'idle', startSeconds: at + busySeconds, endSeconds: at + 4 });
  }
  return observations;
}

/** Circular distance of two positions in the epoch. */
export function apart(a: number, b: number): number {
  const distance = (((a - b) % 15) + 15) % 15;
  return Math.min(distance, 15 - distance);
}
