/**
 * Scores of models on recordings that they were not trained on: pinball loss of their forecasts per step, and MPC-L's
 * QoE with the model and with the shipped one. Losses are of natural logarithms of rates.
 */

import {
  createController,
  type Forecaster,
  type Observation,
  type PiecewisePath,
  type QuantileForecast,
  type SessionContext,
} from '../../abr/index.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import type { Model } from '../../predictor/forecast/model-file.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { type PlannedSession, planBenchmark } from '../../replay/evaluation/plan.ts';
import { summarise } from '../../replay/evaluation/summary.ts';
import type { ResolvedScenario, SessionResult, SummaryRow } from '../../replay/results.ts';
import { roundedSession } from '../../replay/simulator/session-result.ts';
import { linkOf } from '../../replay/simulator/session-setup.ts';
import { simulateSession } from '../../replay/simulator/simulate-session.ts';
import { meanRateBps, type Trace, wrapSeconds } from '../../replay/trace.ts';
import { type Watched, watched } from '../progress.ts';
import { datasetLabels, STEP_ENDS_SECONDS, stepRatesBps } from './training-rows.ts';

/** The scored forecasters. */
export const MODEL = 'model';
export const SHIPPED = 'shipped model';
export const SCORED = [MODEL, SHIPPED] as const;
type Scored = (typeof SCORED)[number];

const STARTS = { everySeconds: 61 };
const SEED = 1;
/** Time between two scored forecasts. */
const PERIOD_SECONDS = 1;
/** Least rate, as a share of the recording's mean, because 0 has no logarithm. */
const LEAST_SHARE = 0.003;

/** By forecaster; arrays by step. */
export interface StepScores {
  forecasts: number;
  /** Pinball loss, mean over the quantile levels. */
  pinball: Record<Scored, number[]>;
}

export interface ModelScores {
  scenario: string;
  starts: string;
  stepEndsSeconds: readonly number[];
  levels: readonly number[];
  /** By data set, and `pooled`. */
  forecasts: Record<string, StepScores>;
  /** MPC-L's sessions with `MODEL` and `SHIPPED` as algorithms; differences are from the shipped model. */
  summary: SummaryRow[];
}

/** One scored moment. Arrays by step; NaN after the end of the recording. */
interface Moment {
  dataset: string;
  actual: Float64Array;
  /** `[step * levels + level]` */
  quantiles: Record<Scored, Float64Array>;
}

export interface EvaluateModelsOptions extends Watched {
  traces: readonly Trace[];
  scenario: ResolvedScenario;
  /** The model for a recording group, trained without that group. */
  modelOf(group: string): Model;
}

export async function evaluateModels(options: EvaluateModelsOptions): Promise<ModelScores> {
  const { traces, scenario, modelOf } = options;
  const labels = datasetLabels(traces);
  const plan = planBenchmark({ traces, scenario, starts: STARTS, algorithms: ['mpc-l'], seed: SEED });
  const moments: Moment[] = [];
  const sessions: SessionResult[] = [];
  let levels: readonly number[] = [];
  for await (const planned of watched(plan.sessions, options)) {
    const { trace, startSeconds } = planned;
    const dataset = labels.get(trace)!;
    const model = modelOf(trace.metadata.recordingGroup);
    levels = model.levels;
    const probe = new Probe({
      link: linkOf(trace, scenario).from(startSeconds),
      leftSeconds: wrapSeconds(trace) - startSeconds,
      floor: Math.log(LEAST_SHARE * meanRateBps(trace)),
      dataset,
      played: createBuiltInForecaster({ model }),
      scored: [createBuiltInForecaster({ model }), createBuiltInForecaster()],
    });
    sessions.push({ ...play(planned, scenario, probe, MODEL), dataset });
    sessions.push({ ...play(planned, scenario, createBuiltInForecaster(), SHIPPED), dataset });
    moments.push(...probe.moments);
  }
  return {
    scenario: scenario.name,
    starts: `every:${STARTS.everySeconds}`,
    stepEndsSeconds: STEP_ENDS_SECONDS,
    levels,
    forecasts: scoresByDataset(moments, levels),
    summary: summarise(sessions, { scenario, baseline: SHIPPED, seed: SEED }),
  };
}

function play(
  { trace, startSeconds, segmentCount, seed }: PlannedSession,
  scenario: ResolvedScenario,
  forecaster: Forecaster,
  algorithm: string,
): SessionResult {
  const controller = createController('mpc-l', { seed });
  const session = { trace, scenario, startSeconds, segmentCount, seed, algorithm };
  return roundedSession(simulateSession({ ...session, controller, forecaster }));
}

interface ProbeOptions {
  link: PiecewisePath;
  leftSeconds: number;
  floor: number;
  dataset: string;
  /** The controller plans on this one. It is separate, because it is asked at other times than the scored ones. */
  played: Forecaster;
  /** In the order of `SCORED`. */
  scored: readonly Forecaster[];
}

class Probe implements Forecaster {
  readonly name = 'probe';
  readonly moments: Moment[] = [];
  readonly #all: readonly Forecaster[];
  #lastSeconds = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: ProbeOptions) {
    this.#all = [options.played, ...options.scored];
  }

  start(context: SessionContext): void {
    for (const forecaster of this.#all) forecaster.start(context);
  }

  observe(observation: Observation): void {
    for (const forecaster of this.#all) forecaster.observe(observation);
    // In a page forecasts are requested all the time; here only for decisions, so observations score one, too.
    if (observation.kind === 'throughput') this.#score(observation.endSeconds);
  }

  latest(nowSeconds: number): ReturnType<Forecaster['latest']> {
    this.#score(nowSeconds);
    return this.options.played.latest(nowSeconds);
  }

  #score(nowSeconds: number): void {
    const { link, leftSeconds, floor, dataset, scored } = this.options;
    if (nowSeconds - this.#lastSeconds < PERIOD_SECONDS) return;
    const forecasts = scored.map((forecaster) => forecaster.latest(nowSeconds) as QuantileForecast | undefined);
    if (forecasts.includes(undefined)) return;
    this.#lastSeconds = nowSeconds;
    const atLeastFloor = (rateBps: number) => Math.max(floor, Math.log(rateBps));
    const actual = Float64Array.from(stepRatesBps(link, nowSeconds, leftSeconds), atLeastFloor);
    const quantiles = byScored((_, i) => Float64Array.from(forecasts[i]!.quantilesBps.flat(), atLeastFloor));
    this.moments.push({ dataset, actual, quantiles });
  }
}

function byScored<T>(of: (name: Scored, index: number) => T): Record<Scored, T> {
  return Object.fromEntries(SCORED.map((name, i) => [name, of(name, i)])) as Record<Scored, T>;
}

function scoresByDataset(moments: readonly Moment[], levels: readonly number[]): Record<string, StepScores> {
  const byDataset = [...groupBy(moments, ({ dataset }) => dataset)].sort(([a], [b]) => (a < b ? -1 : 1));
  const scoresOf = (of: readonly Moment[]): StepScores => ({
    forecasts: of.length,
    pinball: byScored((name) => STEP_ENDS_SECONDS.map((_, step) => pinballLoss(of, levels, name, step))),
  });
  return Object.fromEntries([...byDataset, ['pooled', moments] as const].map(([name, of]) => [name, scoresOf(of)]));
}

function pinballLoss(moments: readonly Moment[], levels: readonly number[], name: Scored, step: number): number {
  const known = moments.filter(({ actual }) => !Number.isNaN(actual[step]));
  let loss = 0;
  for (const { actual, quantiles } of known) {
    for (const [i, level] of levels.entries()) {
      const error = actual[step]! - quantiles[name][step * levels.length + i]!;
      loss += Math.max(level * error, (level - 1) * error) / levels.length;
    }
  }
  return Math.round((loss / known.length) * 1e5) / 1e5;
}
