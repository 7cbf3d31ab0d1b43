/**
 * A session's history of its link in constant memory, and the features for models.
 *
 * All features are scale-free: rates are logarithms of ratios to a reference rate (the average of the last half minute
 * of downloading). While the handover is unknown, its features have values of their own (`UNKNOWN_HANDOVER`).
 */

import { EPOCH_SECONDS, type Observation } from '../../abr/forecast.ts';

/** Time constants of the averages, in seconds of downloading. */
const AVERAGE_SECONDS = [0.4, 2, 8, 30, 120] as const;
/** Index of the reference rate's average. */
const REFERENCE = 3;
/** Bins of a second of downloading, for extremes, spread and epochs. */
const BINS = 64;
const BIN_SECONDS = 1;
/** Older bins are ignored. */
const MEMORY_SECONDS = 90;
/** Floor of the reference, which is logarithmised. */
const LEAST_REFERENCE_BPS = 1;
/** Floor of rates, as a share of the reference. */
const LEAST_LOG_RATIO = Math.log(0.01);
/** A link is silent below this share of its average of 8 s. */
const SILENT_SHARE = 0.02;
/**
 * The link is another one if the rates of this many seconds of downloading are all outside of the earlier ones by this
 * factor. Those are of more than an epoch, because each epoch may have a rate of its own.
 */
const CHANGED_BINS = 4;
const CHANGED_LOG_RATIO = Math.log(2);
const LEAST_EARLIER_BINS = 20;
/** A greater rate is a wrong measurement. */
const GREATEST_RATE_BPS = 1e15;
/** A later time is a wrong clock. */
const LATEST_SECONDS = 1e8;
/** What the page loaded before second 0 counts as at most this long a download: another server may have sent it. */
export const PAGE_LOAD_SECONDS = 1;
/** Times may overlap by this much, because timers round. */
const SLACK_SECONDS = 0.05;
/** Previous epochs whose rates are features. */
const EPOCHS = 8;
/** The fewest bins for the rate of an epoch. */
const LEAST_EPOCH_BINS = 1;
/** Hat functions for the position in the epoch. */
const PHASE_HATS = 8;

/** Value of `epochs-spread` without two epochs. */
const FIRST_EPOCH_SPREAD = 0.3;
/** The features' number, and those that are always known; features.ts has their names. */
const ALWAYS_KNOWN = 13;
/** Values of the features of the handover, the last ones, while it is unknown. */
export const UNKNOWN_HANDOVER = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, FIRST_EPOCH_SPREAD, 0, 0];
export const FEATURE_COUNT = ALWAYS_KNOWN + UNKNOWN_HANDOVER.length;

/** Spreads before there are two bins or epochs. */
const FIRST_SPREAD_15 = 0.2;
const FIRST_SPREAD_90 = 0.3;

export class LinkHistory {
  readonly #bits = new Float64Array(AVERAGE_SECONDS.length);
  readonly #busy = new Float64Array(AVERAGE_SECONDS.length);
  /** Rings: ln rate of each bin, and its end. */
  readonly #binLogs = new Float64Array(BINS);
  readonly #binEnds = new Float64Array(BINS);
  #binCount = 0;
  #openBits = 0;
  #openBusy = 0;
  #silence = 0;
  #lastSeenSeconds = Number.NEGATIVE_INFINITY;
  /**
   * Downloading so far on this link. What was before a change of link is forgotten: forecasts from it would be wrong for a
   * minute.
   */
  observedSeconds = 0;

  /** Returns whether the observation is a possible one of throughput; others are ignored. */
  observe(observation: Observation): observation is Extract<Observation, { kind: 'throughput' }> {
    if (observation.kind !== 'throughput') return false;
    const { startSeconds, endSeconds, bits } = observation;
    const duration = endSeconds - startSeconds;
    if (!(duration > 0) || !(startSeconds >= -PAGE_LOAD_SECONDS) || !(endSeconds <= LATEST_SECONDS)) return false;
    if (!(bits >= 0) || !(bits <= GREATEST_RATE_BPS * duration)) return false;
    if (startSeconds < this.#lastSeenSeconds - SLACK_SECONDS) return false;
    this.#average(bits, duration);
    this.#silence = bits > SILENT_SHARE * duration * this.#rate(2) ? 0 : this.#silence + duration;
    this.observedSeconds += duration;
    this.#lastSeenSeconds = endSeconds;
    this.#openBits += bits;
    this.#openBusy += duration;
    if (this.#openBusy >= BIN_SECONDS - 1e-3) {
      const at = this.#binCount++ % BINS;
      this.#binLogs[at] = Math.log(Math.max(this.#openBits / this.#openBusy, Number.MIN_VALUE));
      this.#binEnds[at] = endSeconds;
      this.#openBits = 0;
      this.#openBusy = 0;
      if (this.#hasChanged()) this.#forget();
    }
    return true;
  }

  #hasChanged(): boolean {
    const count = Math.min(this.#binCount, BINS);
    if (count < CHANGED_BINS + LEAST_EARLIER_BINS) return false;
    const logs = Array.from({ length: count }, (_, back) => this.#binLogs[(this.#binCount - 1 - back) % BINS]!);
    const [recent, earlier] = [logs.slice(0, CHANGED_BINS), logs.slice(CHANGED_BINS)];
    const rise = Math.min(...recent) - Math.max(...earlier);
    const fall = Math.min(...earlier) - Math.max(...recent);
    return Math.max(rise, fall) > CHANGED_LOG_RATIO;
  }

  /** Keeps the bins since the change, and their averages. */
  #forget(): void {
    const kept = Array.from({ length: CHANGED_BINS }, (_, i) => (this.#binCount - CHANGED_BINS + i) % BINS);
    const [logs, ends] = [kept.map((at) => this.#binLogs[at]!), kept.map((at) => this.#binEnds[at]!)];
    this.#binLogs.set(logs);
    this.#binEnds.set(ends);
    this.#binCount = CHANGED_BINS;
    this.#bits.fill(0);
    this.#busy.fill(0);
    for (const log of logs) this.#average(Math.exp(log) * BIN_SECONDS, BIN_SECONDS);
    this.observedSeconds = CHANGED_BINS * BIN_SECONDS;
  }

  /** The reference rate; undefined before the first bits. */
  referenceBps(): number | undefined {
    const rate = this.#rate(REFERENCE);
    // NaN without observations.
    return rate >= LEAST_REFERENCE_BPS ? rate : undefined;
  }

  /**
   * Writes the present features into `into` (length `FEATURE_COUNT`); returns false without observations.
   * `handoverSeconds`: any handover on the session's clock, modulo 15 s; NaN = unknown.
   */
  features(nowSeconds: number, handoverSeconds: number, into: Float64Array): boolean {
    const reference = this.referenceBps();
    if (reference === undefined) return false;
    const logReference = Math.log(reference);
    // In the order of `FEATURES`.
    into.set([
      this.#logRatio(0, reference),
      this.#logRatio(1, reference),
      this.#logRatio(2, reference),
      this.#logRatio(4, reference),
      ...this.#binFeatures(nowSeconds, logReference),
      Math.min(6, this.#silence) / 3,
      Math.min(8, Math.max(0, nowSeconds - this.#lastSeenSeconds)) / 4,
      Math.log1p(Math.min(120, this.observedSeconds)) / 2,
    ]);
    const isKnown = Number.isFinite(handoverSeconds);
    into.set(isKnown ? this.#epochFeatures(nowSeconds, handoverSeconds, logReference) : UNKNOWN_HANDOVER, ALWAYS_KNOWN);
    return true;
  }

  #average(bits: number, duration: number): void {
    for (let i = 0; i < AVERAGE_SECONDS.length; i++) {
      const fade = -Math.expm1(-duration / AVERAGE_SECONDS[i]!);
      const weight = AVERAGE_SECONDS[i]! * fade;
      const keep = 1 - fade;
      this.#bits[i] = this.#bits[i]! * keep + (weight * bits) / duration;
      this.#busy[i] = this.#busy[i]! * keep + weight;
    }
  }

  #rate(average: number): number {
    return this.#bits[average]! / this.#busy[average]!;
  }

  #logRatio(average: number, reference: number): number {
    return Math.max(LEAST_LOG_RATIO, Math.log(this.#rate(average) / reference));
  }

  #binFeatures(nowSeconds: number, logReference: number): number[] {
    let low10 = 0;
    let low40 = 0;
    let high40 = 0;
    const last15 = new Moments();
    const last90 = new Moments();
    for (let back = 1; back <= Math.min(this.#binCount, BINS); back++) {
      const at = (this.#binCount - back) % BINS;
      const age = nowSeconds - this.#binEnds[at]!;
      if (age > MEMORY_SECONDS) break;
      const value = Math.max(LEAST_LOG_RATIO, this.#binLogs[at]! - logReference);
      if (age <= 10) low10 = Math.min(low10, value);
      if (age <= 15) last15.add(value);
      if (age <= 40) {
        low40 = Math.min(low40, value);
        high40 = Math.max(high40, value);
      }
      last90.add(value);
    }
    return [low10, low40, high40, last15.deviation(FIRST_SPREAD_15), last90.deviation(FIRST_SPREAD_90), last90.mean];
  }

  /** In the order of `FEATURES`. */
  #epochFeatures(nowSeconds: number, handoverSeconds: number, logReference: number): number[] {
    const epochs = (nowSeconds - handoverSeconds) / EPOCH_SECONDS;
    const epoch = Math.floor(epochs);
    const position = (epochs - epoch) * PHASE_HATS;
    const hat = Math.floor(position) % PHASE_HATS;
    const phases = new Array<number>(PHASE_HATS).fill(0);
    phases[hat] = 1 - (position - Math.floor(position));
    phases[(hat + 1) % PHASE_HATS]! += position - Math.floor(position);
    let level = 0;
    let observed = 0;

    // Newest bin first: this epoch's rate, then those of the previous epochs.
    let rates = Math.exp(Math.log(this.#openBits / this.#openBusy) - logReference) * this.#openBusy;
    let seconds = this.#openBusy;
    if (!(rates >= 0) || Math.floor((this.#lastSeenSeconds - handoverSeconds) / EPOCH_SECONDS) !== epoch) {
      rates = 0;
      seconds = 0;
    }
    let current = epoch;
    const previous = new Moments();
    for (let back = 1; ; back++) {
      const isBin = back <= Math.min(this.#binCount, BINS);
      const at = (this.#binCount - back + BINS) % BINS;
      // A bin belongs to the epoch of its middle.
      const middle = this.#binEnds[at]! - BIN_SECONDS / 2;
      const index = Math.floor((middle - handoverSeconds) / EPOCH_SECONDS);
      if (!isBin || index !== current) {
        const logRate = Math.max(LEAST_LOG_RATIO, Math.log(rates / seconds));
        if (current === epoch) {
          level = seconds > 0 ? logRate : 0;
          observed = Math.log1p(seconds) / 2;
        } else if (seconds >= LEAST_EPOCH_BINS) previous.add(logRate);
        if (!isBin || previous.count === EPOCHS) break;
        current = index;
        rates = 0;
        seconds = 0;
      }
      rates += Math.exp(this.#binLogs[at]! - logReference);
      seconds++;
    }
    const count = previous.count / EPOCHS;
    return [...phases, level, observed, previous.mean, previous.deviation(FIRST_EPOCH_SPREAD), count, 1];
  }
}

/** Mean and standard deviation of values. */
class Moments {
  count = 0;
  #sum = 0;
  #squares = 0;

  add(value: number): void {
    this.count++;
    this.#sum += value;
    this.#squares += value * value;
  }

  /** 0 without values. */
  get mean(): number {
    return this.count > 0 ? this.#sum / this.count : 0;
  }

  /** `first` for fewer than two values. */
  deviation(first: number): number {
    return this.count > 1 ? Math.sqrt(Math.max(0, this.#squares / this.count - this.mean ** 2)) : first;
  }
}
