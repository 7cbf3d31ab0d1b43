/**
 * A session's history of its link in constant memory, and the features for models. Features are scale-free: rates are
 * logarithms of ratios to a reference rate, the average of the last half minute of downloading.
 */

import type { Observation } from '../../abr/forecast.ts';

/** Time constants of the averages, in seconds of downloading. */
const AVERAGE_SECONDS = [0.4, 2, 8, 30, 120] as const;
const REFERENCE = 3;
/** Bins of downloading, for extremes and spread. */
const BINS = 64;
const BIN_SECONDS = 1;
/** Older bins are ignored. */
const MEMORY_SECONDS = 90;
/** Floor of the reference, so that its logarithm is finite. */
const LEAST_REFERENCE_BPS = 1;
/** Floor of rates, as a share of the reference. */
const LEAST_LOG_RATIO = Math.log(0.01);
/** A link is silent below this share of its average of 8 s. */
const SILENT_SHARE = 0.02;
/**
 * The link has changed if the rates of this many bins are all outside the earlier rates by this factor. The earlier
 * bins cover more than an epoch, because each epoch may have another rate.
 */
const CHANGED_BINS = 4;
const CHANGED_LOG_RATIO = Math.log(2);
const LEAST_EARLIER_BINS = 20;
/** A greater rate is a wrong measurement. */
const GREATEST_RATE_BPS = 1e15;
/** A later time is a wrong clock. */
const LATEST_SECONDS = 1e8;
/** The page's load counts as a download of at most this duration before second 0: another server may have sent it. */
export const PAGE_LOAD_SECONDS = 1;
/** Times may overlap by this much, because timers round. */
const SLACK_SECONDS = 0.05;
/** features.ts has the names of the features. */
export const FEATURE_COUNT = 13;

/** Spreads until two bins are known. */
const FIRST_SPREAD_15 = 0.2;
const FIRST_SPREAD_90 = 0.3;

export class LinkHistory {
  private readonly _bits = new Float64Array(AVERAGE_SECONDS.length);
  private readonly _busy = new Float64Array(AVERAGE_SECONDS.length);
  /** Rings: ln rate of each bin, and its end. */
  private readonly _binLogs = new Float64Array(BINS);
  private readonly _binEnds = new Float64Array(BINS);
  private _binCount = 0;
  private _openBits = 0;
  private _openBusy = 0;
  private _silence = 0;
  private _lastSeenSeconds = Number.NEGATIVE_INFINITY;
  /** Seconds of downloading on this link. A change of link resets it: the past makes forecasts wrong for a minute. */
  downloadedSeconds = 0;

  /** Returns whether the observation is possible throughput. Ignores other observations. */
  observe(observation: Observation): observation is Extract<Observation, { kind: 'throughput' }> {
    if (observation.kind !== 'throughput') return false;
    const { startSeconds, endSeconds, bits } = observation;
    const duration = endSeconds - startSeconds;
    if (!(duration > 0) || !(startSeconds >= -PAGE_LOAD_SECONDS) || !(endSeconds <= LATEST_SECONDS)) return false;
    if (!(bits >= 0) || !(bits <= GREATEST_RATE_BPS * duration)) return false;
    if (startSeconds < this._lastSeenSeconds - SLACK_SECONDS) return false;
    this._average(bits, duration);
    this._silence = bits > SILENT_SHARE * duration * this._rate(2) ? 0 : this._silence + duration;
    this.downloadedSeconds += duration;
    this._lastSeenSeconds = endSeconds;
    this._openBits += bits;
    this._openBusy += duration;
    if (this._openBusy >= BIN_SECONDS - 1e-3) {
      const at = this._binCount++ % BINS;
      this._binLogs[at] = Math.log(Math.max(this._openBits / this._openBusy, Number.MIN_VALUE));
      this._binEnds[at] = endSeconds;
      this._openBits = 0;
      this._openBusy = 0;
      if (this._hasChanged()) this._forget();
    }
    return true;
  }

  private _hasChanged(): boolean {
    const count = Math.min(this._binCount, BINS);
    if (count < CHANGED_BINS + LEAST_EARLIER_BINS) return false;
    // The first value is the recent bins' extreme, the second the earlier bins'.
    const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const most = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let back = 0; back < count; back++) {
      const log = this._binLogs[(this._binCount - 1 - back) % BINS]!;
      const part = back < CHANGED_BINS ? 0 : 1;
      if (log < least[part]!) least[part] = log;
      if (log > most[part]!) most[part] = log;
    }
    return Math.max(least[0]! - most[1]!, least[1]! - most[0]!) > CHANGED_LOG_RATIO;
  }

  /** Keeps the bins since the change, and their averages. */
  private _forget(): void {
    const kept = Array.from({ length: CHANGED_BINS }, (_, i) => (this._binCount - CHANGED_BINS + i) % BINS);
    const [logs, ends] = [kept.map((at) => this._binLogs[at]!), kept.map((at) => this._binEnds[at]!)];
    this._binLogs.set(logs);
    this._binEnds.set(ends);
    this._binCount = CHANGED_BINS;
    this._bits.fill(0);
    this._busy.fill(0);
    for (const log of logs) this._average(Math.exp(log) * BIN_SECONDS, BIN_SECONDS);
    this.downloadedSeconds = CHANGED_BINS * BIN_SECONDS;
  }

  /** The reference rate; undefined before the first bits. */
  referenceBps(): number | undefined {
    const rate = this._rate(REFERENCE);
    // NaN without observations.
    return rate >= LEAST_REFERENCE_BPS ? rate : undefined;
  }

  /** Writes the present features into `into` (length `FEATURE_COUNT`); returns false without observations. */
  writeFeatures(nowSeconds: number, into: Float64Array): boolean {
    const reference = this.referenceBps();
    if (reference === undefined) return false;
    const logReference = Math.log(reference);
    // In the order of `FEATURES`.
    into.set([
      this._logRatio(0, reference),
      this._logRatio(1, reference),
      this._logRatio(2, reference),
      this._logRatio(4, reference),
      ...this._binFeatures(nowSeconds, logReference),
      Math.min(6, this._silence) / 3,
      Math.min(8, Math.max(0, nowSeconds - this._lastSeenSeconds)) / 4,
      Math.log1p(Math.min(120, this.downloadedSeconds)) / 2,
    ]);
    return true;
  }

  private _average(bits: number, duration: number): void {
    for (let i = 0; i < AVERAGE_SECONDS.length; i++) {
      const fade = -Math.expm1(-duration / AVERAGE_SECONDS[i]!);
      const weight = AVERAGE_SECONDS[i]! * fade;
      const keep = 1 - fade;
      this._bits[i] = this._bits[i]! * keep + (weight * bits) / duration;
      this._busy[i] = this._busy[i]! * keep + weight;
    }
  }

  private _rate(average: number): number {
    return this._bits[average]! / this._busy[average]!;
  }

  private _logRatio(average: number, reference: number): number {
    return Math.max(LEAST_LOG_RATIO, Math.log(this._rate(average) / reference));
  }

  private _binFeatures(nowSeconds: number, logReference: number): number[] {
    let lowest10 = 0;
    let lowest40 = 0;
    let highest40 = 0;
    // Counts and sums of the last 15 s, and of all bins.
    let count15 = 0;
    let sum15 = 0;
    let squares15 = 0;
    let count = 0;
    let sum = 0;
    let squares = 0;
    for (; count < Math.min(this._binCount, BINS); count++) {
      const at = (this._binCount - 1 - count) % BINS;
      const age = nowSeconds - this._binEnds[at]!;
      if (age > MEMORY_SECONDS) break;
      const log = Math.max(LEAST_LOG_RATIO, this._binLogs[at]! - logReference);
      if (age <= 10 && log < lowest10) lowest10 = log;
      if (age <= 40 && log < lowest40) lowest40 = log;
      if (age <= 40 && log > highest40) highest40 = log;
      sum += log;
      squares += log * log;
      if (age > 15) continue;
      count15++;
      sum15 += log;
      squares15 += log * log;
    }
    const spread15 = count15 > 1 ? deviation(sum15 / count15, squares15 / count15) : FIRST_SPREAD_15;
    const spread90 = count > 1 ? deviation(sum / count, squares / count) : FIRST_SPREAD_90;
    return [lowest10, lowest40, highest40, spread15, spread90, count > 0 ? sum / count : 0];
  }
}

/** Standard deviation of values with this mean and this mean of their squares. */
function deviation(mean: number, meanSquare: number): number {
  return Math.sqrt(Math.max(0, meanSquare - mean ** 2));
}

/** The rate of a link while it was in use, over the last `memorySeconds`. Constant memory. */
export function deliveredTimeline(memorySeconds: number, cellSeconds = 0.5) {
  const cells = Math.ceil(memorySeconds / cellSeconds) + 2;
  const cellBits = new Float64Array(cells);
  const cellBusy = new Float64Array(cells);
  /** The newest cell, counted from second 0 of the session. */
  let newest = -1;

  /** The first kept cell from this second on. */
  const cellFrom = (seconds: number) => Math.max(Math.floor(seconds / cellSeconds), newest - cells + 1, 0);
  /** Seconds that a cell has of the time between two. */
  const secondsIn = (cell: number, fromSeconds: number, toSeconds: number) =>
    Math.min(toSeconds, (cell + 1) * cellSeconds) - Math.max(fromSeconds, cell * cellSeconds);

  return {
    /** Adds `bits` that arrived evenly between two times, in ascending order of ends. */
    add(startSeconds: number, endSeconds: number, bits: number): void {
      const last = Math.floor(endSeconds / cellSeconds);
      for (let cell = Math.max(newest, last - cells) + 1; cell <= last; cell++) {
        cellBits[cell % cells] = cellBusy[cell % cells] = 0;
      }
      newest = Math.max(newest, last);
      const rate = bits / (endSeconds - startSeconds);
      for (let cell = cellFrom(startSeconds); cell <= newest && cell * cellSeconds < endSeconds; cell++) {
        const at = cell % cells;
        const seconds = secondsIn(cell, startSeconds, endSeconds);
        cellBits[at]! += rate * seconds;
        // Downloads may be concurrent.
        cellBusy[at] = Math.min(cellSeconds, cellBusy[at]! + seconds);
      }
    },

    /** Mean rate between two times while the link was in use; NaN if it was for less than `leastShare` of the time. */
    rateBps(fromSeconds: number, toSeconds: number, leastShare: number): number {
      let bits = 0;
      let busy = 0;
      for (let cell = cellFrom(fromSeconds); cell <= newest && cell * cellSeconds < toSeconds; cell++) {
        const seconds = secondsIn(cell, fromSeconds, toSeconds);
        bits += seconds * cellBits[cell % cells]!;
        busy += seconds * cellBusy[cell % cells]!;
      }
      const least = leastShare * (toSeconds - fromSeconds) * cellSeconds;
      return busy > 0 && busy >= least ? bits / busy : Number.NaN;
    },
  };
}
