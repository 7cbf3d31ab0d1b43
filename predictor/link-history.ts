/**
 * What a session has seen of its link, kept in constant memory, and the features that the built-in forecaster works on.
 *
 * All features are scale-free: rates enter only as logarithms of ratios to a reference rate (the average of the last half
 * minute of downloading), so that a link twice as fast gives the same features. Those of the handover are optional:
 * where it is not known they say so (`FEATURES[..].unknown`), they do not say zero.
 */

import { EPOCH_SECONDS, type Observation } from '../abr/forecast.ts';

/** Time constants of the averages kept, in seconds of downloading. */
const AVERAGE_SECONDS = [0.4, 2, 8, 30, 120] as const;
/** Index of the average that everything is relative to. */
const REFERENCE = 3;
/** Bins of a second of downloading remembered for extremes, spread and epochs. */
const BINS = 64;
const BIN_SECONDS = 1;
/** Bins that ended longer ago than this say nothing of the link any more. */
const MEMORY_SECONDS = 90;
/** The reference counts no lower than this: a logarithm needs a floor. */
const LEAST_REFERENCE_BPS = 1;
/** Rates below this share of the reference count as this share. */
const LEAST_LOG_RATIO = Math.log(0.01);
/** A link that delivers less than this share of its last 8 s is silent. */
const SILENT_SHARE = 0.02;
/** Faster than any link: a broken measurement. */
const GREATEST_RATE_BPS = 1e15;
/** Later than any session: a clock gone wrong. */
const LATEST_SECONDS = 1e8;
/** Times may overlap by this much (timers round). */
const SLACK_SECONDS = 0.05;
/** Epochs looked back on for the spread of their levels. */
const EPOCHS = 8;
/** Less downloading than this tells nothing of an epoch's level. */
const LEAST_EPOCH_BINS = 1;
/** Hat functions that the position in the epoch is spread over. */
const PHASE_HATS = 8;

export interface Feature {
  name: string;
  /** Of the handover: what the feature is where that is not known. Absent: always known. */
  unknown?: number;
}

/** Features by name. */
type FeatureValues = Record<string, number>;

/** The features in the order of a model's inputs; a model names those it was trained on. */
export const FEATURES: readonly Feature[] = [
  // ln of averages of the rate over the last seconds of downloading, relative to the reference.
  { name: 'level-0.4s' },
  { name: 'level-2s' },
  { name: 'level-8s' },
  { name: 'level-120s' },
  // Of the one-second bins of the last 10, 40, 15 and 90 s (by the clock); ln of ratios again.
  { name: 'lowest-10s' },
  { name: 'lowest-40s' },
  { name: 'highest-40s' },
  { name: 'spread-15s' },
  { name: 'spread-90s' },
  { name: 'mean-90s' },
  // Seconds / 3 that a download has been (next to) dead, at most 2.
  { name: 'silence' },
  // Seconds / 4 since anything was seen, at most 2.
  { name: 'unseen' },
  // ln(1 + seconds seen in all, at most 120) / 2.
  { name: 'observed' },
  // Position in the epoch, as weights of 8 hats around it.
  ...Array.from({ length: PHASE_HATS }, (_, i) => ({ name: `epoch-phase-${i}`, unknown: 0 })),
  // ln level of this epoch so far, and ln(1 + seconds seen of it) / 2.
  { name: 'epoch-level', unknown: 0 },
  { name: 'epoch-observed', unknown: 0 },
  // Mean and spread of the ln levels of up to 8 epochs before, and their number / 8.
  { name: 'epochs-mean', unknown: 0 },
  { name: 'epochs-spread', unknown: 0.3 },
  { name: 'epochs-count', unknown: 0 },
  { name: 'handover-known', unknown: 0 },
];

/** What the spreads are before two bins were seen. */
const FIRST_SPREAD_15 = 0.2;
const FIRST_SPREAD_90 = 0.3;
const FIRST_EPOCH_SPREAD = 0.3;

export class LinkHistory {
  readonly #bits = new Float64Array(AVERAGE_SECONDS.length);
  readonly #busy = new Float64Array(AVERAGE_SECONDS.length);
  /** A ring: ln rate of each bin and when it ended. */
  readonly #binLogs = new Float64Array(BINS);
  readonly #binEnds = new Float64Array(BINS);
  #binCount = 0;
  #openBits = 0;
  #openBusy = 0;
  #silence = 0;
  #lastSeenSeconds = Number.NEGATIVE_INFINITY;
  #observedSeconds = 0;

  /** True where the observation was one of throughput that can be; others change nothing. */
  observe(observation: Observation): boolean {
    if (observation.kind !== 'throughput') return false;
    const { startSeconds, endSeconds, bits } = observation;
    const duration = endSeconds - startSeconds;
    if (!(duration > 0) || !(startSeconds >= -SLACK_SECONDS) || !(endSeconds <= LATEST_SECONDS)) return false;
    if (!(bits >= 0) || !(bits <= GREATEST_RATE_BPS * duration)) return false;
    if (startSeconds < this.#lastSeenSeconds - SLACK_SECONDS) return false;
    for (let i = 0; i < AVERAGE_SECONDS.length; i++) {
      const fade = -Math.expm1(-duration / AVERAGE_SECONDS[i]!);
      // A rate that lasts for `duration`, weighted as it fades.
      const weight = AVERAGE_SECONDS[i]! * fade;
      const keep = 1 - fade;
      this.#bits[i] = this.#bits[i]! * keep + (weight * bits) / duration;
      this.#busy[i] = this.#busy[i]! * keep + weight;
    }
    this.#silence = bits > SILENT_SHARE * duration * this.#rate(2) ? 0 : this.#silence + duration;
    this.#observedSeconds += duration;
    this.#lastSeenSeconds = endSeconds;
    this.#openBits += bits;
    this.#openBusy += duration;
    if (this.#openBusy >= BIN_SECONDS - 1e-3) {
      const at = this.#binCount++ % BINS;
      this.#binLogs[at] = Math.log(Math.max(this.#openBits / this.#openBusy, Number.MIN_VALUE));
      this.#binEnds[at] = endSeconds;
      this.#openBits = 0;
      this.#openBusy = 0;
    }
    return true;
  }

  /** Seconds of downloading seen in all. */
  get observedSeconds(): number {
    return this.#observedSeconds;
  }

  /** The rate that everything is relative to, bit/s; undefined before any bit came. */
  referenceBps(): number | undefined {
    const rate = this.#rate(REFERENCE);
    // NaN before anything was seen.
    return rate >= LEAST_REFERENCE_BPS ? rate : undefined;
  }

  /**
   * Writes the features of this moment into `into` (`FEATURES.length` long); false while there is nothing to go on.
   * `handoverSeconds`: any one handover on the session's clock; others are multiples of 15 s away. NaN = unknown.
   */
  features(nowSeconds: number, handoverSeconds: number, into: Float64Array): boolean {
    const reference = this.referenceBps();
    if (reference === undefined) return false;
    const logReference = Math.log(reference);
    const values: FeatureValues = {
      'level-0.4s': this.#logRatio(0, reference),
      'level-2s': this.#logRatio(1, reference),
      'level-8s': this.#logRatio(2, reference),
      'level-120s': this.#logRatio(4, reference),
      ...this.#binFeatures(nowSeconds, logReference),
      silence: Math.min(6, this.#silence) / 3,
      unseen: Math.min(8, Math.max(0, nowSeconds - this.#lastSeenSeconds)) / 4,
      observed: Math.log1p(Math.min(120, this.#observedSeconds)) / 2,
      ...(Number.isFinite(handoverSeconds) && this.#epochFeatures(nowSeconds, handoverSeconds, logReference)),
    };
    FEATURES.forEach(({ name, unknown }, i) => {
      into[i] = values[name] ?? unknown!;
    });
    return true;
  }

  #rate(average: number): number {
    return this.#bits[average]! / this.#busy[average]!;
  }

  #logRatio(average: number, reference: number): number {
    return Math.max(LEAST_LOG_RATIO, Math.log(this.#rate(average) / reference));
  }

  #binFeatures(nowSeconds: number, logReference: number): FeatureValues {
    let low10 = 0;
    let low40 = 0;
    let high40 = 0;
    let count15 = 0;
    let sum15 = 0;
    let square15 = 0;
    let count = 0;
    let sum = 0;
    let square = 0;
    for (let back = 1; back <= Math.min(this.#binCount, BINS); back++) {
      const at = (this.#binCount - back) % BINS;
      const age = nowSeconds - this.#binEnds[at]!;
      if (age > MEMORY_SECONDS) break;
      const value = Math.max(LEAST_LOG_RATIO, this.#binLogs[at]! - logReference);
      if (age <= 10) low10 = Math.min(low10, value);
      if (age <= 15) {
        count15++;
        sum15 += value;
        square15 += value * value;
      }
      if (age <= 40) {
        low40 = Math.min(low40, value);
        high40 = Math.max(high40, value);
      }
      count++;
      sum += value;
      square += value * value;
    }
    return {
      'lowest-10s': low10,
      'lowest-40s': low40,
      'highest-40s': high40,
      'spread-15s': count15 > 1 ? deviation(count15, sum15, square15) : FIRST_SPREAD_15,
      'spread-90s': count > 1 ? deviation(count, sum, square) : FIRST_SPREAD_90,
      'mean-90s': count > 0 ? sum / count : 0,
    };
  }

  #epochFeatures(nowSeconds: number, handoverSeconds: number, logReference: number): FeatureValues {
    const epochs = (nowSeconds - handoverSeconds) / EPOCH_SECONDS;
    const epoch = Math.floor(epochs);
    const position = (epochs - epoch) * PHASE_HATS;
    const hat = Math.floor(position) % PHASE_HATS;
    const values: FeatureValues = { 'epoch-level': 0, 'epoch-observed': 0, 'handover-known': 1 };
    for (let i = 0; i < PHASE_HATS; i++) values[`epoch-phase-${i}`] = 0;
    values[`epoch-phase-${hat}`] = 1 - (position - Math.floor(position));
    values[`epoch-phase-${(hat + 1) % PHASE_HATS}`]! += position - Math.floor(position);

    // Newest bin first: this epoch's level, then those of the epochs before.
    let rates = Math.exp(Math.log(this.#openBits / this.#openBusy) - logReference) * this.#openBusy;
    let seconds = this.#openBusy;
    if (!(rates >= 0) || Math.floor((this.#lastSeenSeconds - handoverSeconds) / EPOCH_SECONDS) !== epoch) {
      rates = 0;
      seconds = 0;
    }
    let current = epoch;
    let levels = 0;
    let sum = 0;
    let square = 0;
    for (let back = 1; ; back++) {
      const isBin = back <= Math.min(this.#binCount, BINS);
      const at = (this.#binCount - back + BINS) % BINS;
      // A bin belongs where its middle is.
      const middle = this.#binEnds[at]! - BIN_SECONDS / 2;
      const index = Math.floor((middle - handoverSeconds) / EPOCH_SECONDS);
      if (!isBin || index !== current) {
        const level = Math.max(LEAST_LOG_RATIO, Math.log(rates / seconds));
        if (current === epoch) {
          values['epoch-level'] = seconds > 0 ? level : 0;
          values['epoch-observed'] = Math.log1p(seconds) / 2;
        } else if (seconds >= LEAST_EPOCH_BINS) {
          levels++;
          sum += level;
          square += level * level;
        }
        if (!isBin || levels === EPOCHS) break;
        current = index;
        rates = 0;
        seconds = 0;
      }
      rates += Math.exp(this.#binLogs[at]! - logReference);
      seconds++;
    }
    return {
      ...values,
      'epochs-mean': levels > 0 ? sum / levels : 0,
      'epochs-spread': levels > 1 ? deviation(levels, sum, square) : FIRST_EPOCH_SPREAD,
      'epochs-count': levels / EPOCHS,
    };
  }
}

function deviation(count: number, sum: number, square: number): number {
  return Math.sqrt(Math.max(0, square / count - (sum / count) ** 2));
}
