/** Artificial, seeded links and a session's observations of them. */

import type { Observation } from '../../../abr/forecast.ts';
import { normal, seededRandom } from '../../../abr/statistics/random.ts';

export type Link = (second: number) => number;

const STEP_SECONDS = 0.1;

export function throughput(startSeconds: number, endSeconds: number, rateBps: number): Observation {
  return { kind: 'throughput', startSeconds, endSeconds, bits: rateBps * (endSeconds - startSeconds) };
}

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

interface SessionOptions {
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
