/**
 * Scores of point forecasts one second ahead, for throughput and latency, as in T3P's Table 1: mean absolute percentage
 * error, root mean squared error, and the share of forecasts within 5 % and 10 %.
 */

import { EPOCH_SECONDS, type QuantileForecast } from '../../abr/index.ts';
import {
  type BuiltInForecasterOptions,
  createBuiltInForecaster,
} from '../../predictor/built-in/built-in-forecaster.ts';
import { mean } from '../../replay/evaluation/quantiles.ts';
import { type Trace, traceStartUtcMs } from '../../replay/trace.ts';
import type { Table } from '../report/document.ts';
import { fixed, percent } from '../report/format.ts';

/** The values of one recording, one per second. */
export interface PointSeries {
  dataset: string;
  group: string;
  kind: PointKind;
  /** Mbit/s, or ms. */
  values: number[];
  /** Second within the 15 s epoch schedule of the first value; null where the recording has no clock. */
  epochSecond: number | null;
}

export type PointKind = 'throughput' | 'latency';

/** Seconds of a recording before its first forecast. */
export const HISTORY_SECONDS = 20;
/** Percentages need at least this value, in `UNIT`; seconds below it count only for the absolute error. */
const LEAST_OF_KIND: Readonly<Record<PointKind, number>> = { throughput: 1, latency: 1 };
const UNIT: Readonly<Record<PointKind, string>> = { throughput: 'Mbit/s', latency: 'ms' };

/** Forecasts of a series from `HISTORY_SECONDS` on, one per second. */
export type Predictions = number[];

export interface PointErrors {
  forecasts: number;
  mape: number;
  rmse: number;
  within5: number;
  within10: number;
}

/** `[kind][dataset or pooled][forecaster]` */
export type PointScores = Record<PointKind, Record<string, Record<string, PointErrors>>>;

/** The recordings' throughput as series; those shorter than twice the history are left out. */
export function throughputSeries(traces: readonly Trace[], labels: ReadonlyMap<Trace, string>): PointSeries[] {
  return traces.flatMap((trace) => {
    const values = secondly(trace, trace.ratesBps).map((rate) => rate / 1e6);
    return seriesOf(trace, { dataset: labels.get(trace)!, kind: 'throughput', values });
  });
}

/** The recordings' round-trip times as series, for recordings that have them. */
export function latencySeries(traces: readonly Trace[]): PointSeries[] {
  return traces.flatMap((trace) => {
    if (trace.rttSeconds === undefined) return [];
    const values = secondly(trace, trace.rttSeconds).map((seconds) => seconds * 1000);
    return seriesOf(trace, { dataset: trace.metadata.dataset, kind: 'latency', values });
  });
}

function seriesOf(trace: Trace, of: Pick<PointSeries, 'dataset' | 'kind' | 'values'>): PointSeries[] {
  const { metadata } = trace;
  // A hole ends a series; the part before it is kept.
  const hole = of.values.findIndex(Number.isNaN);
  const values = hole < 0 ? of.values : of.values.slice(0, hole);
  if (values.length < 2 * HISTORY_SECONDS) return [];
  const hasClock = metadata.startUtcMs !== undefined || metadata.epochPhaseSeconds !== undefined;
  const epochSecond = hasClock ? (traceStartUtcMs(metadata) / 1000) % EPOCH_SECONDS : null;
  return [{ ...of, values, group: metadata.recordingGroup, epochSecond }];
}

/** Means over each full second of values per step of the trace. */
function secondly({ stepEndsSeconds, durationSeconds }: Trace, values: Float64Array): number[] {
  const sums = new Float64Array(Math.floor(durationSeconds + 1e-6));
  let begin = 0;
  for (const [i, end] of stepEndsSeconds.entries()) {
    for (let second = Math.floor(begin); second < Math.min(end, sums.length); second++) {
      sums[second]! += values[i]! * (Math.min(end, second + 1) - Math.max(begin, second));
    }
    begin = end;
  }
  return [...sums];
}

/** Weight of the newest value in the moving average. */
const EWMA_WEIGHT = 0.3;
const HARMONIC_SECONDS = 5;

/** Forecasts by estimators that need no training. */
export function simplePredictions({ values }: PointSeries): Record<string, Predictions> {
  const last: number[] = [];
  const harmonic: number[] = [];
  const ewma: number[] = [];
  let average = values[0]!;
  for (let i = 1; i < values.length; i++) {
    if (i >= HISTORY_SECONDS) {
      last.push(values[i - 1]!);
      const recent = values.slice(i - HARMONIC_SECONDS, i);
      harmonic.push(recent.length / recent.reduce((sum, value) => sum + 1 / value, 0));
      ewma.push(average);
    }
    average += EWMA_WEIGHT * (values[i]! - average);
  }
  return { 'last value': last, 'harmonic mean (5 s)': harmonic, EWMA: ewma };
}

/** Forecasts of the built-in forecaster from `HISTORY_SECONDS` on; it observes every second as one of a download. */
export function builtInForecasts(
  { values, epochSecond }: PointSeries,
  options: BuiltInForecasterOptions,
): (QuantileForecast | undefined)[] {
  const forecaster = createBuiltInForecaster(options);
  forecaster.start({
    seed: 1,
    ...(epochSecond !== null && { utcMsAtStart: epochSecond * 1000, utcUncertaintySeconds: 1 }),
  });
  const forecasts: (QuantileForecast | undefined)[] = [];
  for (const [i, value] of values.entries()) {
    if (i >= HISTORY_SECONDS) {
      const forecast = forecaster.latest(i);
      forecasts.push(forecast !== undefined && 'quantilesBps' in forecast ? forecast : undefined);
    }
    forecaster.observe({ kind: 'throughput', startSeconds: i, endSeconds: i + 1, bits: value * 1e6 });
  }
  return forecasts;
}

/** The medians of its first step, in Mbit/s. */
export function mediansOf(forecasts: readonly (QuantileForecast | undefined)[]): Predictions {
  return forecasts.map((forecast) =>
    forecast === undefined ? Number.NaN : forecast.quantilesBps[0]![forecast.levels.length >> 1]! / 1e6,
  );
}

/** `predictions`: by forecaster, one list per series. */
export function pointScores(
  series: readonly PointSeries[],
  predictions: Readonly<Record<string, readonly (Predictions | undefined)[]>>,
): PointScores {
  const scores: PointScores = { throughput: {}, latency: {} };
  for (const kind of ['throughput', 'latency'] as const) {
    const of = [...series.entries()].filter(([, one]) => one.kind === kind);
    const datasets = [...new Set(of.map(([, { dataset }]) => dataset))].sort();
    for (const dataset of [...datasets, 'pooled']) {
      const chosen = of.filter(([, one]) => dataset === 'pooled' || one.dataset === dataset);
      if (chosen.length === 0) continue;
      const byForecaster: Record<string, PointErrors> = {};
      for (const [name, lists] of Object.entries(predictions)) {
        const pairs = chosen.flatMap(([i, { values }]) =>
          (lists[i] ?? []).map((value, k) => [value, values[HISTORY_SECONDS + k]!] as const),
        );
        if (pairs.length > 0) byForecaster[name] = errorsOf(pairs, LEAST_OF_KIND[kind]);
      }
      scores[kind][dataset] = byForecaster;
    }
  }
  return scores;
}

function errorsOf(pairs: readonly (readonly [predicted: number, actual: number])[], least: number): PointErrors {
  const shares = pairs
    .filter(([, actual]) => actual >= least)
    .map(([predicted, actual]) => Math.abs(predicted / actual - 1));
  return {
    forecasts: pairs.length,
    mape: mean(shares),
    rmse: Math.sqrt(mean(pairs.map(([predicted, actual]) => (predicted - actual) ** 2))),
    within5: mean(shares.map((share) => (share <= 0.05 ? 1 : 0))),
    within10: mean(shares.map((share) => (share <= 0.1 ? 1 : 0))),
  };
}

/** A table per kind and data set. */
export function pointTables(scores: PointScores): Table[] {
  return (['throughput', 'latency'] as const).flatMap((kind) =>
    Object.entries(scores[kind]).map(([dataset, byForecaster]) => ({
      kind: 'table' as const,
      caption: `${kind}, ${dataset}: ${Object.values(byForecaster)[0]?.forecasts ?? 0} forecasts`,
      names: ['forecaster'],
      numbers: ['MAPE', 'RMSE', 'within 5 %', 'within 10 %'],
      rows: Object.entries(byForecaster).map(([name, { mape, rmse, within5, within10 }]) => [
        name,
        percent(mape, 1),
        `${fixed(rmse, 2)} ${UNIT[kind]}`,
        percent(within5, 1),
        percent(within10, 1),
      ]),
    })),
  );
}
