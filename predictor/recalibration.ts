/**
 * Recalibration from the session's own errors: how far past forecasts lay from what came, in normal scores, tells whether
 * their spread was right for this link, one that no training may have seen. The spread of new forecasts is scaled to that;
 * the median is left alone (shifting it by past errors made every data set's forecasts worse, docs/predictors.md).
 *
 * The scale is the root of the mean squared score, with a prior of 1 that weighs like some seconds of forecasts: a
 * shrunk variance, as in dynamic linear models (West and Harrison 1997, section 4.5). Each step has a scale of its own, shrunk
 * towards that of all: a link may be steadier from second to second than expected, and drift further in a minute.
 */

import { normalQuantile } from '../abr/mpc-l/normal-distribution.ts';
import { DeliveredTimeline } from './delivered-timeline.ts';

export interface RecalibrationOptions {
  stepEndsSeconds: readonly number[];
  levels: readonly number[];
}

/** Forecasts that the prior of 1 weighs like; one is kept per second. */
const PRIOR_FORECASTS = 20;
/** Forecasts that the variance of all steps weighs like in that of one. */
const PRIOR_OF_STEP = 80;
/** One forecast in so many seconds is remembered and judged. */
const PERIOD_SECONDS = 1;
/** A step is judged where the link was in use for this share of it. */
const LEAST_USE = 0.4;
/** Scores count up to this: an outage is one event, however deep. */
const GREATEST_SCORE = 2.5;
/** Limits of the scale. */
const LEAST_SCALE = 0.6;
const GREATEST_SCALE = 1.5;
/** A rate of nothing counts as this share of the reference, as in training. */
const LEAST_LOG_RATIO = Math.log(0.003);

export class Recalibration {
  readonly #ends: readonly number[];
  readonly #scores: readonly number[];
  readonly #delivered: DeliveredTimeline;
  /** A ring of remembered forecasts, each of `size` values. */
  readonly #values: Float64Array;
  readonly #issuedSeconds: Float64Array;
  readonly #logReferences: Float64Array;
  /** Per remembered forecast: steps that were judged. */
  readonly #judged: Uint8Array;
  readonly #size: number;
  #first = 0;
  #count = 0;
  #lastIssuedSeconds = Number.NEGATIVE_INFINITY;
  /** Per step: sum and number of squared scores. */
  readonly #squares: Float64Array;
  readonly #counts: Float64Array;

  constructor(options: RecalibrationOptions) {
    const { stepEndsSeconds, levels } = options;
    this.#ends = stepEndsSeconds;
    this.#scores = levels.map(normalQuantile);
    const horizon = stepEndsSeconds[stepEndsSeconds.length - 1]!;
    this.#delivered = new DeliveredTimeline(horizon + PERIOD_SECONDS + 1);
    const kept = Math.ceil(horizon / PERIOD_SECONDS) + 1;
    this.#size = stepEndsSeconds.length * levels.length;
    this.#values = new Float64Array(kept * this.#size);
    this.#issuedSeconds = new Float64Array(kept);
    this.#logReferences = new Float64Array(kept);
    this.#judged = new Uint8Array(kept);
    this.#squares = new Float64Array(stepEndsSeconds.length);
    this.#counts = new Float64Array(stepEndsSeconds.length);
  }

  /** What the spread of forecasts is multiplied by, over all steps: 1 until the session has shown another one to be right. */
  get scale(): number {
    return limited(this.#variance);
  }

  /** Of all steps; those of a forecast weigh one forecast together. */
  get #variance(): number {
    const steps = this.#ends.length;
    let squares = PRIOR_FORECASTS;
    let weight = PRIOR_FORECASTS;
    for (let step = 0; step < steps; step++) {
      squares += this.#squares[step]! / steps;
      weight += this.#counts[step]! / steps;
    }
    return squares / weight;
  }

  /** `bits` came from one second of the session to another, in order of time. */
  observe(startSeconds: number, endSeconds: number, bits: number): void {
    this.#delivered.add(startSeconds, endSeconds, bits);
  }

  /**
   * Judges what has come true by now, remembers a forecast (`[step * levels + level]`, logarithms of ratios to a reference
   * rate, before any scaling), and scales its spread in place.
   */
  apply(nowSeconds: number, referenceBps: number, values: Float64Array): void {
    this.#judge(nowSeconds);
    if (nowSeconds - this.#lastIssuedSeconds >= PERIOD_SECONDS) this.#remember(nowSeconds, referenceBps, values);
    const variance = this.#variance;
    const levels = this.#scores.length;
    const middle = levels >> 1;
    for (let step = 0; step < this.#ends.length; step++) {
      const squares = this.#squares[step]! + PRIOR_OF_STEP * variance;
      const scale = limited(squares / (this.#counts[step]! + PRIOR_OF_STEP));
      const at = step * levels;
      const median = values[at + middle]!;
      for (let i = 0; i < levels; i++) values[at + i] = median + scale * (values[at + i]! - median);
    }
  }

  #remember(nowSeconds: number, referenceBps: number, values: Float64Array): void {
    const kept = this.#judged.length;
    if (this.#count === kept) {
      this.#first = (this.#first + 1) % kept;
      this.#count--;
    }
    const slot = (this.#first + this.#count++) % kept;
    this.#values.set(values, slot * this.#size);
    this.#issuedSeconds[slot] = nowSeconds;
    this.#logReferences[slot] = Math.log(referenceBps);
    this.#judged[slot] = 0;
    this.#lastIssuedSeconds = nowSeconds;
  }

  #judge(nowSeconds: number): void {
    const ends = this.#ends;
    for (let i = 0; i < this.#count; i++) {
      const slot = (this.#first + i) % this.#judged.length;
      const issued = this.#issuedSeconds[slot]!;
      let step = this.#judged[slot]!;
      for (; step < ends.length && issued + ends[step]! <= nowSeconds; step++) this.#judgeStep(slot, step);
      this.#judged[slot] = step;
    }
    while (this.#count > 0 && this.#judged[this.#first] === ends.length) {
      this.#first = (this.#first + 1) % this.#judged.length;
      this.#count--;
    }
  }

  #judgeStep(slot: number, step: number): void {
    const issued = this.#issuedSeconds[slot]!;
    const from = issued + (step === 0 ? 0 : this.#ends[step - 1]!);
    const rate = this.#delivered.rateBps(from, issued + this.#ends[step]!, LEAST_USE);
    if (Number.isNaN(rate)) return;
    const value = Math.max(LEAST_LOG_RATIO, Math.log(rate) - this.#logReferences[slot]!);
    const score = this.#scoreOf(value, slot * this.#size + step * this.#scores.length);
    this.#squares[step]! += score ** 2;
    this.#counts[step]!++;
  }

  /** Normal score of a value in the remembered quantiles from `at` on: linear between them and beyond them. */
  #scoreOf(value: number, at: number): number {
    const scores = this.#scores;
    const quantiles = this.#values;
    let i = 1;
    while (i < scores.length - 1 && value > quantiles[at + i]!) i++;
    const low = quantiles[at + i - 1]!;
    const width = Math.max(1e-4, quantiles[at + i]! - low);
    const score = scores[i - 1]! + ((scores[i]! - scores[i - 1]!) * (value - low)) / width;
    return Math.min(GREATEST_SCORE, Math.max(-GREATEST_SCORE, score));
  }
}

function limited(variance: number): number {
  return Math.min(GREATEST_SCALE, Math.max(LEAST_SCALE, Math.sqrt(variance)));
}
