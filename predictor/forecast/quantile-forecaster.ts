/**
 * Forecasts of a model: quantiles of the capacity from the session's history, with its handovers and recalibrated by its
 * errors (docs/how-it-works.md). Deterministic, constant memory, no clock and no I/O.
 */

import type {
  ExpectedHandover,
  Forecaster,
  Observation,
  QuantileForecast,
  SessionContext,
} from '../../abr/forecast.ts';
import { normalQuantile } from '../../abr/statistics/distributions.ts';
import { HandoverClock } from '../link/handover-clock/handover-clock.ts';
import { deliveredTimeline, FEATURE_COUNT, LinkHistory, PAGE_LOAD_SECONDS } from '../link/link-history.ts';
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

/** A model whose outputs become forecasts. */
export interface ForecastModel extends ModelOutline {
  /** The source of its forecasts. */
  source: string;
  /**
   * Its outputs for the features: values `[step * levels + level]` as ln(rate / reference), which `forecast` changes.
   * Absent if it is evaluated elsewhere.
   */
  evaluate?(features: Float64Array): Float64Array;
}

/** What a forecast needs beside the model's outputs. */
export interface ForecastMoment {
  nowSeconds: number;
  /** In the order of `FEATURES`, until the next moment. */
  features: Float64Array;
  referenceBps: number;
  handovers: readonly ExpectedHandover[];
}

/** A forecast is reused for this long. */
const LIFETIME_SECONDS = 0.2;
/** Limit of |ln(rate / reference)|. */
const GREATEST_LOG_RATIO = 7;

export class QuantileForecaster implements Forecaster {
  readonly isChecked = true;
  /** The newest forecast of this session and model. */
  newest: QuantileForecast | undefined;
  /** The session's handover clock, which accepts better times and hints; undefined until needed and with `handover: false`. */
  handoverClock: HandoverClock | undefined;
  private _isFollowing = false;
  private _history = new LinkHistory();
  private _subSecond: SubSecond | undefined;
  /** Second of any handover at the latest forecast; NaN if unknown. */
  private _phaseSeconds = Number.NaN;
  private readonly _features = new Float64Array(FEATURE_COUNT);
  private _model: ForecastModel | undefined;
  private _recalibration: Recalibration | undefined;
  private _time: Pick<SessionContext, 'utcMsAtStart' | 'utcUncertaintySeconds'> = {};

  constructor(
    public name: string,
    private readonly _options: ModelSessionOptions = {},
  ) {}

  /** Without a model there are no forecasts. May be called during a session, whose history stays. */
  useModel(model: ForecastModel): void {
    this.newest = undefined;
    this._model = model;
    this._recalibration = recalibration(model);
  }

  /** Begins a new session with the same model. */
  start(context: SessionContext): void {
    this._history = new LinkHistory();
    if (context.pageLoad) this._history.observe(beforeStart(context.pageLoad));
    this._time = context;
    if (this._model !== undefined) this.useModel(this._model);
    this._isFollowing = false;
    this.handoverClock = undefined;
    this._subSecond = undefined;
    this._phaseSeconds = Number.NaN;
    this._followIfNeeded();
  }

  latest(nowSeconds: number): QuantileForecast | undefined {
    if (this.isRecent(nowSeconds)) return this.newest;
    const { _model: model } = this;
    const moment = model?.evaluate && this.moment(nowSeconds);
    return moment && this.forecast(moment, model!.evaluate!(moment.features));
  }

  /** Whether the newest forecast is recent enough to be reused. */
  isRecent(nowSeconds: number): boolean {
    const ageSeconds = nowSeconds - (this.newest?.issuedAtMs ?? Number.NaN) / 1000;
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
      this._recalibration = this._model && recalibration(this._model);
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

  /** The present features; undefined without observations. */
  moment(nowSeconds: number): ForecastMoment | undefined {
    const { _features: features } = this;
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
    return { nowSeconds, features, referenceBps, handovers };
  }

  /**
   * The forecast from the model's outputs, `[step * levels + level]` as ln(rate / reference), finite and ascending per
   * step. Recalibrates them in place. Requires `useModel`.
   */
  forecast({ nowSeconds, referenceBps, handovers }: ForecastMoment, values: Float64Array): QuantileForecast {
    const { source, stepEndsSeconds, levels, rankCorrelation } = this._model!;
    if (this._recalibration) this._recalibration.apply(nowSeconds, referenceBps, values);
    this.newest = {
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
    return this.newest;
  }
}

/** The page's load as a download that ended at second 0. */
function beforeStart({ bits, seconds }: NonNullable<SessionContext['pageLoad']>): Observation {
  const startSeconds = -Math.min(PAGE_LOAD_SECONDS, seconds);
  return { kind: 'throughput', startSeconds, endSeconds: 0, bits: (bits * -startSeconds) / seconds };
}

/*
 * Keeps forecasts until their steps are over, and finds the rates that the link then delivered: the recalibration
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
 * spread fits this link. The median stays, because shifting it by past errors was worse on every data set. The scale
 * is the root of the mean squared score with a prior of 1: a shrunk variance, as in dynamic linear models (West and
 * Harrison 1997, section 4.5). Each step's variance is shrunk towards the variance of all steps, because a link may
 * vary less than expected from second to second, but more within a minute.
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
  /** As in a forecast, an odd number, at least 3: the recalibration needs a spread. */
  levels: readonly number[];
  /** Correlation of the ranks of adjacent steps, 0 to below 1. */
  rankCorrelation: number;
}

export interface Model extends ModelOutline {
  layers: readonly Layer[];
}

export function networkModel(model: Model, source: string): ForecastModel {
  const { layers, levels, stepEndsSeconds } = model;
  const values = new Float64Array(stepEndsSeconds.length * levels.length);
  const evaluate = (features: Float64Array) => {
    evaluateNetwork(layers, levels.length, features, values);
    return values;
  };
  return { ...model, source, evaluate };
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
