/**
 * Scores of forecasts on sessions that their models were not trained on: pinball loss and coverage per step. For
 * comparison, simple estimators get quantiles that are also fitted to the other recording groups.
 *
 * MPC-L plays the sessions on the built-in forecaster. All values are natural logarithms of rates.
 */

import {
  createController,
  type Forecaster,
  type Observation,
  type PiecewisePath,
  type QuantileForecast,
  type SessionContext,
} from '../../abr/index.ts';
import { weightedQuantiles } from '../../abr/quantile.ts';
import {
  type BuiltInForecasterOptions,
  createBuiltInForecaster,
} from '../../predictor/built-in/built-in-forecaster.ts';
import type { Model } from '../../predictor/built-in/model-file.ts';
import { planBenchmark } from '../../replay/evaluation/plan.ts';
import type { ResolvedScenario } from '../../replay/results.ts';
import { linkOf } from '../../replay/simulator/session-setup.ts';
import { simulateSession } from '../../replay/simulator/simulate-session.ts';
import { meanRateBps, type Trace, wrapSeconds } from '../../replay/trace.ts';
import { type Watched, watched } from '../progress.ts';
import { normalScore } from './normal-score.ts';
import { datasetLabels, STEP_ENDS_SECONDS } from './training-rows.ts';

/** The scored variants of the built-in forecaster. */
export const VARIANTS: Readonly<Record<string, BuiltInForecasterOptions>> = {
  'built-in': {},
  'without recalibration': { recalibrate: false },
  'without handover': { handover: false },
};

/** Estimators of the rate; each gets the quantiles of its errors on the other recording groups. */
export const BASELINES = ['last value', 'harmonic mean', 'EWMA 2 s', 'EWMA 8 s', 'EWMA 30 s'] as const;

/** Normal scores at the ends of the central 50 % and of the central 90 %. */
const HALF_SCORE = 0.67449;
const NINE_TENTHS_SCORE = 1.64485;

const STARTS = { everySeconds: 61 };
/** Time between two scored forecasts. */
const PERIOD_SECONDS = 1;
/** Least rate, as a share of the recording's mean, because 0 has no logarithm. */
const LEAST_SHARE = 0.003;
/** Fewest outcomes for a share: forecasts a second apart cover nearly the same seconds. */
const LEAST_SETTLED = 30;
/** Coverage counts from this session second on: at least 30 s, and three times the end of the step. */
const coverageFrom = (stepEndSeconds: number): number => Math.max(30, 3 * stepEndSeconds);

/** By variant and by baseline; arrays by step. */
export interface StepScores {
  forecasts: number;
  /** Pinball loss, mean over the quantile levels. */
  pinball: Record<string, number[]>;
  /** Continuous ranked probability score: twice the integral of the pinball loss over the levels (midpoint rule). */
  crps: Record<string, number[]>;
  /** Shares of outcomes in the central 50 % and 90 % intervals, from `coverageFrom` on; null for too few outcomes. */
  coverage50: Record<string, (number | null)[]>;
  coverage90: Record<string, (number | null)[]>;
  /** Shares of those outcomes below each quantile, `[step][level]`; a calibrated forecast has the levels themselves. */
  below: Record<string, (number | null)[][]>;
}

export interface ForecastScores {
  scenario: string;
  starts: string;
  stepEndsSeconds: readonly number[];
  levels: readonly number[];
  /** By data set, and `pooled`. */
  scores: Record<string, StepScores>;
}

/** One scored moment. Arrays by step; NaN after the end of the recording. */
interface Moment {
  group: string;
  dataset: string;
  seconds: number;
  actual: Float64Array;
  floor: number;
  baselines: Float64Array;
  /** `[variant][step * levels + level]` */
  quantiles: Float64Array[];
}

export interface ScoreForecastsOptions extends Watched {
  traces: readonly Trace[];
  scenario: ResolvedScenario;
  /** The model for a recording group, trained without that group. */
  modelOf(group: string): Model;
}

export async function scoreForecasts(options: ScoreForecastsOptions): Promise<ForecastScores> {
  const { traces, scenario, modelOf } = options;
  const labels = datasetLabels(traces);
  const { sessions } = planBenchmark({ traces, scenario, starts: STARTS, algorithms: ['mpc-l'], seed: 1 });
  const moments: Moment[] = [];
  let levels: readonly number[] = [];
  for await (const { trace, startSeconds, segmentCount, seed } of watched(sessions, options)) {
    const { recordingGroup } = trace.metadata;
    const model = modelOf(recordingGroup);
    levels = model.levels;
    const probe = new Probe({
      link: linkOf(trace, scenario).from(startSeconds),
      leftSeconds: wrapSeconds(trace) - startSeconds,
      floor: Math.log(LEAST_SHARE * meanRateBps(trace)),
      model,
      group: recordingGroup,
      dataset: labels.get(trace)!,
    });
    const controller = createController('mpc-l', { seed });
    simulateSession({ trace, scenario, controller, startSeconds, segmentCount, seed, forecaster: probe });
    moments.push(...probe.moments);
  }
  return {
    scenario: scenario.name,
    starts: `every:${STARTS.everySeconds}`,
    stepEndsSeconds: STEP_ENDS_SECONDS,
    levels,
    scores: summarise(moments, levels),
  };
}

class Probe implements Forecaster {
  readonly name = 'probe';
  readonly moments: Moment[] = [];
  /** The controller plans on this one. It is separate, because it is asked at other times than the scored ones. */
  readonly #played: Forecaster;
  readonly #scored: readonly Forecaster[];
  readonly #estimators = new Estimators();
  #lastSeconds = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly options: {
      link: PiecewisePath;
      leftSeconds: number;
      floor: number;
      model: Model;
      group: string;
      dataset: string;
    },
  ) {
    this.#played = createBuiltInForecaster({ model: options.model });
    this.#scored = Object.values(VARIANTS).map((variant) =>
      createBuiltInForecaster({ ...variant, model: options.model }),
    );
  }

  start(context: SessionContext): void {
    for (const forecaster of [this.#played, ...this.#scored]) forecaster.start(context);
  }

  observe(observation: Observation): void {
    for (const forecaster of [this.#played, ...this.#scored]) forecaster.observe(observation);
    this.#estimators.observe(observation);
    // In a page forecasts are requested all the time; here only for decisions, so observations score one, too.
    if (observation.kind === 'throughput') this.#score(observation.endSeconds);
  }

  latest(nowSeconds: number): ReturnType<Forecaster['latest']> {
    this.#score(nowSeconds);
    return this.#played.latest(nowSeconds);
  }

  #score(nowSeconds: number): void {
    const { link, leftSeconds, floor, group, dataset } = this.options;
    if (nowSeconds - this.#lastSeconds < PERIOD_SECONDS) return;
    const forecasts = this.#scored.map((forecaster) => forecaster.latest(nowSeconds) as QuantileForecast | undefined);
    if (forecasts.includes(undefined)) return;
    this.#lastSeconds = nowSeconds;
    let begin = 0;
    const actual = Float64Array.from(STEP_ENDS_SECONDS, (end) => {
      const rate = (link.cumulativeBits(nowSeconds + end) - link.cumulativeBits(nowSeconds + begin)) / (end - begin);
      begin = end;
      return nowSeconds + end > leftSeconds ? Number.NaN : Math.max(floor, Math.log(rate));
    });
    this.moments.push({
      group,
      dataset,
      seconds: nowSeconds,
      actual,
      floor,
      baselines: this.#estimators.ratesBps().map((rate) => Math.max(floor, Math.log(rate))),
      quantiles: forecasts.map((forecast) =>
        Float64Array.from(forecast!.quantilesBps.flat(), (rate) => Math.max(floor, Math.log(rate))),
      ),
    });
  }
}

/** Seconds of downloading in a bin, bins of the harmonic mean, and time constants of the moving averages. */
const LAST_SECONDS = 1;
const HARMONIC_BINS = 5;
const EWMA_SECONDS = [2, 8, 30];

/** The simple estimators of throughput. */
class Estimators {
  readonly #bins: number[] = [];
  readonly #bits = new Float64Array(EWMA_SECONDS.length);
  readonly #busy = new Float64Array(EWMA_SECONDS.length);
  #openBits = 0;
  #openBusy = 0;

  observe(observation: Observation): void {
    if (observation.kind !== 'throughput') return;
    const { startSeconds, endSeconds, bits } = observation;
    const duration = endSeconds - startSeconds;
    EWMA_SECONDS.forEach((constant, i) => {
      const keep = Math.exp(-duration / constant);
      const weight = constant * (1 - keep);
      this.#bits[i] = this.#bits[i]! * keep + (weight * bits) / duration;
      this.#busy[i] = this.#busy[i]! * keep + weight;
    });
    this.#openBits += bits;
    this.#openBusy += duration;
    if (this.#openBusy < LAST_SECONDS - 1e-3) return;
    this.#bins.push(this.#openBits / this.#openBusy);
    if (this.#bins.length > HARMONIC_BINS) this.#bins.shift();
    this.#openBits = 0;
    this.#openBusy = 0;
  }

  /** In the order of `BASELINES`. */
  ratesBps(): Float64Array {
    const bins = this.#bins.length > 0 ? this.#bins : [this.#openBits / this.#openBusy];
    const harmonic = bins.length / bins.reduce((sum, rate) => sum + 1 / rate, 0);
    return Float64Array.of(bins[bins.length - 1]!, harmonic, ...this.#bits.map((bits, i) => bits / this.#busy[i]!));
  }
}

function summarise(moments: readonly Moment[], levels: readonly number[]): Record<string, StepScores> {
  const fitted = fittedErrors(moments, levels);
  const scores: Record<string, StepScores> = {};
  const datasets = [...new Set(moments.map(({ dataset }) => dataset))].sort();
  for (const dataset of datasets) {
    const of = moments.filter((moment) => moment.dataset === dataset);
    scores[dataset] = scoresOf(of, levels, fitted);
  }
  scores['pooled'] = scoresOf(moments, levels, fitted);
  return scores;
}

/** Quantiles of ln(actual / estimate) by held-out group: `[baseline][step][level]`, from the other groups. */
type Errors = Map<string, number[][][]>;

function fittedErrors(moments: readonly Moment[], levels: readonly number[]): Errors {
  const counts = new Map<string, number>();
  for (const { dataset } of moments) counts.set(dataset, (counts.get(dataset) ?? 0) + 1);
  // As in training: the weight of a data set is the root of its size.
  const weightOf = ({ dataset }: Moment) => 1 / Math.sqrt(counts.get(dataset)!);
  const groups = [...new Set(moments.map(({ group }) => group))];
  const errors: Errors = new Map(groups.map((group) => [group, BASELINES.map(() => [])]));
  for (const b of BASELINES.keys()) {
    for (const step of STEP_ENDS_SECONDS.keys()) {
      const known = moments
        .filter(({ actual }) => !Number.isNaN(actual[step]!))
        .map((moment) => ({ value: moment.actual[step]! - moment.baselines[b]!, weight: weightOf(moment), moment }))
        .sort((one, other) => one.value - other.value);
      for (const group of groups) {
        const others = known.filter(({ moment }) => moment.group !== group);
        errors.get(group)![b]!.push(weightedQuantiles(others, levels));
      }
    }
  }
  return errors;
}

/** Sums of one forecaster's scores over moments. */
class Tally {
  readonly #steps;

  constructor(private readonly levels: readonly number[]) {
    const zeros = () => levels.map(() => 0);
    this.#steps = STEP_ENDS_SECONDS.map((endSeconds) => ({
      ...{ endSeconds, losses: zeros(), below: zeros() },
      ...{ count: 0, settled: 0, within50: 0, within90: 0 },
    }));
  }

  add({ actual, seconds }: Moment, quantiles: Float64Array): void {
    const { levels } = this;
    for (const [s, step] of this.#steps.entries()) {
      const value = actual[s]!;
      if (Number.isNaN(value)) continue;
      const row = quantiles.subarray(s * levels.length, (s + 1) * levels.length);
      for (let i = 0; i < levels.length; i++) {
        const error = value - row[i]!;
        step.losses[i]! += Math.max(levels[i]! * error, (levels[i]! - 1) * error);
      }
      step.count++;
      if (seconds < coverageFrom(step.endSeconds)) continue;
      step.settled++;
      for (let i = 0; i < levels.length; i++) if (value <= row[i]!) step.below[i]!++;
      const score = Math.abs(normalScore(row, levels, value));
      if (score <= HALF_SCORE) step.within50++;
      if (score <= NINE_TENTHS_SCORE) step.within90++;
    }
  }

  /** Its part of `StepScores`. */
  scores() {
    const { levels } = this;
    const edges = [0, ...levels.slice(1).map((level, i) => (level + levels[i]!) / 2), 1];
    const share = (count: number, settled: number) => (settled >= LEAST_SETTLED ? rounded(count / settled) : null);
    const loss = (weight: (level: number) => number) =>
      this.#steps.map(({ losses, count }) => rounded(losses.reduce((sum, one, i) => sum + weight(i) * one, 0) / count));
    return {
      pinball: loss(() => 1 / levels.length),
      crps: loss((i) => 2 * (edges[i + 1]! - edges[i]!)),
      coverage50: this.#steps.map(({ within50, settled }) => share(within50, settled)),
      coverage90: this.#steps.map(({ within90, settled }) => share(within90, settled)),
      below: this.#steps.map(({ below, settled }) => below.map((count) => share(count, settled))),
    };
  }
}

function scoresOf(moments: readonly Moment[], levels: readonly number[], errors: Errors): StepScores {
  const scores: StepScores = {
    ...{ forecasts: moments.length, pinball: {}, crps: {} },
    ...{ coverage50: {}, coverage90: {}, below: {} },
  };
  const note = (name: string, quantilesOf: (moment: Moment) => Float64Array) => {
    const tally = new Tally(levels);
    for (const moment of moments) tally.add(moment, quantilesOf(moment));
    for (const [score, values] of Object.entries(tally.scores()))
      Object.assign(scores[score as Exclude<keyof StepScores, 'forecasts'>], { [name]: values });
  };
  for (const [v, name] of Object.keys(VARIANTS).entries()) note(name, ({ quantiles }) => quantiles[v]!);
  const size = levels.length;
  const buffer = new Float64Array(STEP_ENDS_SECONDS.length * size);
  for (const [b, name] of BASELINES.entries()) {
    note(name, ({ baselines, group, floor }) => {
      const table = errors.get(group)![b]!;
      for (let i = 0; i < buffer.length; i++) {
        buffer[i] = Math.max(floor, baselines[b]! + table[Math.floor(i / size)]![i % size]!);
      }
      return buffer;
    });
  }
  return scores;
}

function rounded(value: number): number {
  return Math.round(value * 1e5) / 1e5;
}
