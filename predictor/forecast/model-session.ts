/**
 * The common part of forecasters with a model: history, handovers, recalibration, and forecasts from the outputs of the
 * model, which the caller evaluates. No clock and no I/O.
 */

import type { ExpectedHandover, Observation, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { normalQuantile } from '../../abr/statistics/distributions.ts';
import { HandoverClock } from '../link/handover-clock/handover-clock.ts';
import { deliveredTimeline, LinkHistory, PAGE_LOAD_SECONDS } from '../link/link-history.ts';
import type { SubSecond } from '../link/sub-second.ts';

export interface ModelSessionOptions {
  /** Whether to expect handovers, once the link has shown them. Default true. */
  handover?: boolean | undefined;
  /**
   * Whether handovers and the model within a second are needed. Called at the start and at each observation until it
   * returns true; from then on the session follows them. Default: always true.
   */
  needsHandovers?: (() => boolean) | undefined;
  /** Makes the model of the link within a second, for plans at the live edge. Default: none. */
  newSubSecond?: (() => SubSecond) | undefined;
}

/** What a forecast needs beside the model's outputs. */
export interface ForecastMoment {
  nowSeconds: number;
  referenceBps: number;
  handovers: readonly ExpectedHandover[];
}

/** A forecast is reused for this long. */
const LIFETIME_SECONDS = 0.2;
/** Limit of |ln(rate / reference)|. */
const GREATEST_LOG_RATIO = 7;

export class ModelSession {
  /** The session's handover clock, which accepts better times and hints; undefined until needed and with `handover: false`. */
  handoverClock: HandoverClock | undefined;
  private _isFollowing = false;
  private _history = new LinkHistory();
  private _subSecond: SubSecond | undefined;
  /** Second of any handover at the latest forecast; NaN if unknown. */
  private _phaseSeconds = Number.NaN;
  protected _newest: QuantileForecast | undefined;
  private _outline: ModelOutline | undefined;
  private _recalibration: Recalibration | undefined;
  private _time: Pick<SessionContext, 'utcMsAtStart' | 'utcUncertaintySeconds'> = {};

  constructor(private readonly _options: ModelSessionOptions = {}) {}

  /** Sets the model whose outputs `forecast` will receive. */
  useModel(outline: ModelOutline): void {
    this._newest = undefined;
    this._outline = outline;
    this._recalibration = recalibration(outline);
  }

  /** Begins a new session with the same model. */
  start(context: SessionContext): void {
    this._history = new LinkHistory();
    if (context.pageLoad) this._history.observe(beforeStart(context.pageLoad));
    this._time = context;
    if (this._outline !== undefined) this.useModel(this._outline);
    this._isFollowing = false;
    this.handoverClock = undefined;
    this._subSecond = undefined;
    this._phaseSeconds = Number.NaN;
    this._followIfNeeded();
  }

  /** Whether `_newest` is recent enough to be reused. */
  protected _isRecent(nowSeconds: number): boolean {
    const ageSeconds = nowSeconds - (this._newest?.issuedAtMs ?? Number.NaN) / 1000;
    return ageSeconds >= 0 && ageSeconds < LIFETIME_SECONDS;
  }

  private _followIfNeeded(): void {
    const { handover = true, needsHandovers, newSubSecond } = this._options;
    if (this._isFollowing || needsHandovers?.() === false) return;
    this._isFollowing = true;
    this.handoverClock = handover ? new HandoverClock(this._time) : undefined;
    this._subSecond = newSubSecond?.();
  }

  /** Ignores impossible observations (not finite, negative, out of order). */
  observe(observation: Observation): void {
    this._followIfNeeded();
    if (this.handoverClock) this.handoverClock.observe(observation);
    const { downloadedSeconds } = this._history;
    if (!this._history.observe(observation)) return;
    // It falls after a change of link, to which the errors of earlier forecasts do not apply.
    if (this._history.downloadedSeconds < downloadedSeconds) {
      this._recalibration = this._outline && recalibration(this._outline);
    }
    const { startSeconds, endSeconds, bits } = observation;
    if (this._recalibration) this._recalibration.observe(startSeconds, endSeconds, bits);
    if (this._subSecond) this._subSecond.observe(startSeconds, endSeconds, bits, this._phaseSeconds);
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    if (!Number.isFinite(atSeconds + utcMs)) return;
    this._time = { utcMsAtStart: utcMs - atSeconds * 1000, utcUncertaintySeconds: uncertaintySeconds };
    if (this.handoverClock) this.handoverClock.tellTime(atSeconds, utcMs, uncertaintySeconds);
  }

  /** Writes the present features into `features` (length `FEATURE_COUNT`); undefined without observations. */
  moment(nowSeconds: number, features: Float64Array): ForecastMoment | undefined {
    if (!(nowSeconds >= 0 && nowSeconds < Number.POSITIVE_INFINITY)) return undefined;
    const clock = this.handoverClock;
    const estimate = clock?.isLeo ? clock.estimate(nowSeconds) : undefined;
    this._phaseSeconds = estimate ? estimate.phaseSeconds : Number.NaN;
    const referenceBps = this._history.referenceBps();
    if (referenceBps === undefined || !this._history.writeFeatures(nowSeconds, features)) return undefined;
    const { utcMsAtStart: utcMs } = this._time;
    const next = utcMs === undefined ? [] : estimate?.nextHandovers || [];
    const dip = estimate && this._subSecond?.dip(estimate.spreadSeconds);
    const handovers = next.map(({ atSeconds, confidence }) => ({
      atMs: utcMs! + atSeconds * 1000,
      confidence,
      ...(dip && { dip }),
    }));
    return { nowSeconds, referenceBps, handovers };
  }

  /**
   * The forecast from the model's outputs, `[step * levels + level]` as ln(rate / reference), which it recalibrates in
   * place. Requires `useModel`.
   */
  forecast(moment: ForecastMoment, source: string, values: Float64Array): QuantileForecast {
    const { nowSeconds, referenceBps, handovers } = moment;
    const { stepEndsSeconds, levels, rankCorrelation } = this._outline!;
    if (this._recalibration) this._recalibration.apply(nowSeconds, referenceBps, values);
    return {
      issuedAtMs: nowSeconds * 1000,
      source,
      stepEndsSeconds,
      levels,
      quantilesBps: stepEndsSeconds.map((_, step) =>
        levels.map((_, i) => {
          const value = Math.max(-GREATEST_LOG_RATIO, values[step * levels.length + i]!);
          return referenceBps * Math.exp(Math.min(GREATEST_LOG_RATIO, value));
        }),
      ),
      rankCorrelation,
      handovers,
      ...(this._subSecond && { fluctuation: this._subSecond.fluctuation() }),
    };
  }
}

/** The page's load as a download that ended at second 0. */
function beforeStart({ bits, seconds }: NonNullable<SessionContext['pageLoad']>): Observation {
  const startSeconds = -Math.min(PAGE_LOAD_SECONDS, seconds);
  return { kind: 'throughput', startSeconds, endSeconds: 0, bits: (bits * -startSeconds) / seconds };
}

/*
 * Keeps forecasts until their steps are over, and finds the rates that the link then delivered: recalibration.ts
 * derives the spread of forecasts from these rates, service-client/forecast-trust.ts the trust in a service.
 */

export interface PastForecast {
  issuedSeconds: number;
  stepEndsSeconds: readonly number[];
}

export interface PastForecastsOptions<F> {
  /** The link is remembered for this long, and this many forecasts, one a second. */
  memorySeconds: number;
  /** Later steps are not scored, except the first. Default: all are. */
  horizonSeconds?: number;
  /** A step is scored if the link was in use for this share of it. */
  leastUse: (stepSeconds: number) => number;
  /** Receives the rate of each scored step, in order of time within a forecast. */
  onStep: (forecast: F, step: number, rateBps: number) => void;
}

export type PastForecasts<F extends PastForecast> = ReturnType<typeof pastForecasts<F>>;

export function pastForecasts<F extends PastForecast>(options: PastForecastsOptions<F>) {
  const { horizonSeconds = Number.POSITIVE_INFINITY, memorySeconds, leastUse, onStep } = options;
  const delivered = deliveredTimeline(memorySeconds);
  let all: { forecast: F; steps: number; scored: number }[] = [];
  return {
    delivered,

    add(forecast: F): void {
      const { stepEndsSeconds } = forecast;
      const later = stepEndsSeconds.findIndex((end, step) => step > 0 && end > horizonSeconds);
      all.push({ forecast, steps: later < 0 ? stepEndsSeconds.length : later, scored: 0 });
      if (all.length > memorySeconds) all.shift();
    },

    /** Scores the steps that are over at `nowSeconds`. */
    score(nowSeconds: number): void {
      for (const pending of all) {
        const { issuedSeconds, stepEndsSeconds } = pending.forecast;
        for (; pending.scored < pending.steps; pending.scored++) {
          const to = issuedSeconds + stepEndsSeconds[pending.scored]!;
          if (to > nowSeconds) break;
          const from = issuedSeconds + (stepEndsSeconds[pending.scored - 1] || 0);
          const rateBps = delivered.rateBps(from, to, leastUse(to - from));
          if (!Number.isNaN(rateBps)) onStep(pending.forecast, pending.scored, rateBps);
        }
      }
      all = all.filter(({ steps, scored }) => scored < steps);
    },
  };
}

/*
 * Scales the spread of forecasts by the session's own errors: the normal scores of past forecasts show whether their
 * spread fits this link. The median stays, because shifting it by past errors is worse on every data set
 * (docs/findings.md). * The scale is the root of the mean squared score with a prior of 1: a shrunk variance, as in
 * dynamic linear models (West and Harrison 1997, section 4.5). Each step's variance is shrunk towards the variance
 * of all steps, because a link may vary less than expected from second to second, but more within a minute.
 */

/** Weight of the prior of 1, in forecasts. */
const PRIOR_FORECASTS = 20;
/** Weight of all steps' variance in the variance of one step, in forecasts. */
const PRIOR_OF_STEP = 80;
/** Period of the scored forecasts. */
const PERIOD_SECONDS = 1;
/** A step is scored if the link was in use for this share of it. */
const LEAST_USE = 0.4;
/** Limit of scores, because an outage is one event, however deep. */
const GREATEST_SCORE = 2.5;
/** Limits of the scale. */
const LEAST_SCALE = 0.6;
const GREATEST_SCALE = 1.5;
/** Floor of rates, as a share of the reference, as in training. */
const LEAST_LOG_RATIO = Math.log(0.003);

interface Unscaled extends PastForecast {
  logReference: number;
  /** Quantiles as ln(rate / reference), before their scaling. */
  values: Float64Array;
}

export type Recalibration = ReturnType<typeof recalibration>;

export function recalibration({ stepEndsSeconds, levels }: Pick<ModelOutline, 'stepEndsSeconds' | 'levels'>) {
  const steps = stepEndsSeconds.length;
  /** The normal score of each quantile level. */
  const scores = levels.map(normalQuantile);
  /** Per step: sum and number of squared scores. */
  const squares = new Float64Array(steps);
  const counts = new Float64Array(steps);
  let lastIssuedSeconds = Number.NEGATIVE_INFINITY;
  const past = pastForecasts<Unscaled>({
    memorySeconds: stepEndsSeconds[steps - 1]! + PERIOD_SECONDS + 1,
    leastUse: () => LEAST_USE,
    onStep({ logReference, values }, step, rateBps) {
      const value = Math.max(LEAST_LOG_RATIO, Math.log(rateBps) - logReference);
      squares[step]! += scoreOf(value, values, step * scores.length) ** 2;
      counts[step]!++;
    },
  });

  /** Normal score of a value in the quantiles from index `at` on, linear between and beyond the quantiles. */
  function scoreOf(value: number, quantiles: Float64Array, at: number): number {
    let i = 1;
    while (i < scores.length - 1 && value > quantiles[at + i]!) i++;
    const low = quantiles[at + i - 1]!;
    const width = Math.max(1e-4, quantiles[at + i]! - low);
    const score = scores[i - 1]! + ((scores[i]! - scores[i - 1]!) * (value - low)) / width;
    return Math.min(GREATEST_SCORE, Math.max(-GREATEST_SCORE, score));
  }

  /** Variance over all steps. The steps of a forecast together have the weight of one forecast. */
  function variance(): number {
    let sum = PRIOR_FORECASTS;
    let weight = PRIOR_FORECASTS;
    for (let step = 0; step < steps; step++) {
      sum += squares[step]! / steps;
      weight += counts[step]! / steps;
    }
    return sum / weight;
  }

  return {
    observe: past.delivered.add,

    /** Scores past forecasts, keeps the new forecast, `[step * levels + level]`, and scales its spread in place. */
    apply(nowSeconds: number, referenceBps: number, values: Float64Array): void {
      past.score(nowSeconds);
      if (nowSeconds - lastIssuedSeconds >= PERIOD_SECONDS) {
        lastIssuedSeconds = nowSeconds;
        const logReference = Math.log(referenceBps);
        past.add({ issuedSeconds: nowSeconds, stepEndsSeconds, logReference, values: values.slice() });
      }
      const ofAll = PRIOR_OF_STEP * variance();
      for (let step = 0; step < steps; step++) {
        const scale = Math.sqrt((squares[step]! + ofAll) / (counts[step]! + PRIOR_OF_STEP));
        const limited = Math.min(GREATEST_SCALE, Math.max(LEAST_SCALE, scale));
        const at = step * levels.length;
        const median = values[at + (levels.length >> 1)]!;
        for (let i = at; i < at + levels.length; i++) values[i] = median + limited * (values[i]! - median);
      }
    },
  };
}

/*
 * The small neural network from features to quantiles of the capacity per step, as ln(rate / reference), with layers
 * of leaky ReLU. Per step an output is the median. The softplus of the other outputs are the distances between
 * quantiles, so that quantiles never cross.
 */

/** Weights `[input][output]`. The last two inputs are always 1, so their weights add up to the biases. */
export type Layer = readonly Float32Array[];

/** The form of a model's outputs. */
export interface ModelOutline {
  /** As in a forecast. */
  stepEndsSeconds: readonly number[];
  /** As in a forecast, an odd number. */
  levels: readonly number[];
  /** Correlation of the ranks of adjacent steps, 0 to below 1. */
  rankCorrelation: number;
}

export interface Model extends ModelOutline {
  layers: readonly Layer[];
}

/** Slope of the leaky ReLU below 0. */
export const LEAK = 0.1;

/** Writes the quantiles `[step * levelCount + level]` into `into`. */
export function evaluateNetwork(
  layers: readonly Layer[],
  levelCount: number,
  features: Float64Array,
  into: Float64Array,
): void {
  let inputs = features;
  for (const layer of layers) {
    const outputs = new Float64Array(layer[0]!.length);
    for (let i = 0; i < layer.length; i++) {
      const weights = layer[i]!;
      const value = inputs[i] ?? 1;
      const input = inputs !== features && value < 0 ? LEAK * value : value;
      for (let j = 0; j < outputs.length; j++) outputs[j]! += input * weights[j]!;
    }
    inputs = outputs;
  }
  const middle = levelCount >> 1;
  for (let at = middle; at < into.length; at += levelCount) {
    into[at] = inputs[at]!;
    for (let i = 1; i <= middle; i++) {
      into[at + i] = into[at + i - 1]! + softplus(inputs[at + i]!);
      into[at - i] = into[at - i + 1]! - softplus(inputs[at - i]!);
    }
  }
}

function softplus(x: number): number {
  return x > 30 ? x : Math.log(1 + Math.exp(x));
}

/* The short form in which the plugin ships its model: a character per weight, or per difference of weights. */

export interface PackedLayer {
  /** A character per weight, `[input][output]`, in units of the scale of its input. */
  weights: string;
  /** A character per input: the scale is 2 ** (-5 - steps / 4). */
  scales: string;
  /** A weight is stored as its difference from the weight of the output this far before. Default: never. */
  lag?: number;
}

/** Wraps a step into -32 to 31. */
const wrapped = (step: number) => ((step + 32) & 63) - 32;
const stepsOf = (text: string) => Array.from(text, (character) => character.charCodeAt(0) - 80);

export function unpackLayer({ weights, scales, lag = Number.POSITIVE_INFINITY }: PackedLayer): Layer {
  const outputs = weights.length / scales.length;
  const steps = stepsOf(weights);
  for (let i = 0; i < steps.length; i++) if (i % outputs >= lag) steps[i] = wrapped(steps[i]! + steps[i - lag]!);
  return stepsOf(scales).map((scale, input) =>
    Float32Array.from(steps.slice(input * outputs, (input + 1) * outputs), (step) => step * 2 ** (-5 - scale / 4)),
  );
}
