/** The grid of times that all players share, and the series of each player on it. Pure. */

import type { Forecast } from 'leo-abr';
import { EPOCH_SECONDS, HANDOVER_SECOND } from '../../abr/forecast.ts';
import { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import { quantileAt } from '../../abr/statistics/distributions.ts';
import type { PublishedLink } from '../../replay/origin/published-link.ts';
import type { SessionRecord } from './session-record.ts';

export const GRID_SECONDS = 0.25;

/** A value per point of the grid; null means no value. */
export type Series = (number | null)[];

export type Track = ReturnType<Timeline['track']>;

/** The grid: times in seconds since the session's start, and the link's capacity at each. */
export class Timeline {
  times: number[] = [];
  /** Mean capacity over the step that begins at each time. */
  capacityBps: number[] = [];
  private readonly _path: PiecewisePath;

  /** `hasClock`: whether the UTC of the link is known, and with it the handovers. */
  constructor(
    readonly link: PublishedLink,
    durationSeconds: number,
    readonly hasClock: boolean,
  ) {
    const { stepEndsSeconds, ratesBps } = link;
    this._path = new PiecewisePath({ stepEndsSeconds, ratesBps });
    this.extendTo(durationSeconds);
  }

  get endSeconds(): number {
    return this.times.at(-1) ?? 0;
  }

  extendTo(seconds: number): void {
    const { startSeconds } = this.link;
    for (let i = this.times.length; (i - 1) * GRID_SECONDS < seconds; i++) {
      const at = i * GRID_SECONDS;
      const from = this._path.cumulativeBits(startSeconds + at);
      this.times.push(at);
      this.capacityBps.push((this._path.cumulativeBits(startSeconds + at + GRID_SECONDS) - from) / GRID_SECONDS);
    }
  }

  indexAt(seconds: number): number {
    return Math.min(this.times.length - 1, Math.max(0, Math.floor(seconds / GRID_SECONDS + 1e-9)));
  }

  /** Returns UTC in ms by the clock of the trace. */
  utcMsAt(seconds: number): number {
    return this.link.traceStartUtcMs + (this.link.startSeconds + seconds) * 1000;
  }

  /** Returns the seconds of the session at which handovers are due, up to the grid's end; none without a clock. */
  handovers(): number[] {
    if (!this.hasClock) return [];
    const intoEpoch = (this.utcMsAt(0) / 1000 - HANDOVER_SECOND) % EPOCH_SECONDS;
    const first = (EPOCH_SECONDS - intoEpoch) % EPOCH_SECONDS;
    const length = Math.max(0, Math.floor((this.endSeconds - first) / EPOCH_SECONDS) + 1);
    return Array.from({ length }, (_, i) => first + i * EPOCH_SECONDS);
  }

  /** Puts a session on the grid: bitrates of the requests and of the picture on the screen, buffer and live latency. */
  track(record: SessionRecord) {
    const empty = (): Series => new Array<number | null>(this.times.length).fill(null);
    const bitrates = { bitrateBps: empty(), shownBitrateBps: empty() };
    const track = { ...bitrates, bufferSeconds: empty(), latencySeconds: empty() };
    const { downloads, nowSeconds } = record;
    downloads.forEach((download, i) => {
      const last = this.indexAt(downloads[i + 1]?.requestedAtSeconds ?? nowSeconds);
      track.bitrateBps.fill(download.bitrateBps, this.indexAt(download.requestedAtSeconds), last + 1);
    });
    for (const { atSeconds, bufferSeconds, latencySeconds = null, shownBitrateBps = null } of record.samples) {
      const i = this.indexAt(atSeconds);
      track.bufferSeconds[i] = bufferSeconds;
      track.latencySeconds[i] = latencySeconds;
      track.shownBitrateBps[i] = shownBitrateBps;
    }
    return track;
  }
}

export type FanStep = ReturnType<typeof forecastFan>[number];

/** Returns the 10, 50 and 90 % quantiles of each step of a forecast; no steps for a forecast by paths. */
export function forecastFan(forecast: Forecast | undefined) {
  if (forecast === undefined || forecast.kind === 'path') return [];
  const { issuedAtMs, stepEndsSeconds, levels, quantilesBps } = forecast;
  const issuedAt = issuedAtMs / 1000;
  return stepEndsSeconds.map((end, step) => ({
    fromSeconds: issuedAt + (step === 0 ? 0 : stepEndsSeconds[step - 1]!),
    toSeconds: issuedAt + end,
    lowBps: quantileAt(0.1, levels, quantilesBps[step]!),
    middleBps: quantileAt(0.5, levels, quantilesBps[step]!),
    highBps: quantileAt(0.9, levels, quantilesBps[step]!),
  }));
}
