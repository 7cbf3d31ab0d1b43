/**
 * The built-in forecaster beside the other probabilistic models, a temporal convolution network and boosted trees, on
 * the same moments of series of one value a second. The models are predictor/training's.
 */

import type { QuantileForecast } from '../../abr/index.ts';
import type { Model } from '../../predictor/built-in/model-file.ts';
import { VARIANTS } from './forecast-scores.ts';
import { builtInForecasts, HISTORY_SECONDS, type PointSeries, type Table } from './point-scores.ts';

/** By forecaster and step; null where nothing can be said. */
type ByForecaster = Record<string, (number | null)[]>;

/** What `leo_abr_training.distributions` writes. */
export interface DistributionScores {
  stepEndsSeconds: number[];
  levels: number[];
  /** By data set, and `pooled`. */
  scores: Record<
    string,
    { forecasts: number; pinball: ByForecaster; crps: ByForecaster; coverage50: ByForecaster; coverage90: ByForecaster }
  >;
}

/** As predictor/training names it. */
const TEMPORAL = 'temporal network';
/** Digits that a loss of logarithms needs, and more. */
const SIGNIFICANT_DIGITS = 5;

/** What `leo_abr_training.distributions` reads: throughput with the built-in forecaster's quantiles in Mbit/s. */
export function distributionInput(series: readonly PointSeries[], modelOf: (group: string) => Model): object {
  const throughput = series.filter(({ kind }) => kind === 'throughput');
  const [first] = throughput;
  const { stepEndsSeconds, levels } = first === undefined ? { stepEndsSeconds: [], levels: [] } : modelOf(first.group);
  return {
    historySeconds: HISTORY_SECONDS,
    stepEndsSeconds,
    levels,
    series: throughput.map((one) => ({
      ...one,
      forecasts: Object.fromEntries(
        Object.entries(VARIANTS).map(([name, variant]) => [
          name,
          builtInForecasts(one, { ...variant, model: modelOf(one.group) }).map(megabits),
        ]),
      ),
    })),
  };
}

function megabits(forecast: QuantileForecast | undefined): number[] | null {
  if (forecast === undefined) return null;
  return forecast.quantilesBps.flatMap((rates) =>
    rates.map((rate) => Number((rate / 1e6).toPrecision(SIGNIFICANT_DIGITS))),
  );
}

/** The temporal network's, for the card of a model of all recordings: by data set. */
export function heldOutScores({ scores }: DistributionScores): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(scores).map(([dataset, { forecasts, pinball, crps, coverage50, coverage90 }]) => [
      dataset,
      {
        forecasts,
        pinball: pinball[TEMPORAL],
        crps: crps[TEMPORAL],
        coverage50: coverage50[TEMPORAL],
        coverage90: coverage90[TEMPORAL],
      },
    ]),
  );
}

/** Losses of every data set; coverage pooled and per data set. */
export function distributionTables({ stepEndsSeconds, scores }: DistributionScores): Table[] {
  const head = ['step to', ...stepEndsSeconds.map((end) => `${end} s`)];
  const loss = (value: number | null) => value?.toFixed(4) ?? '';
  const share = (value: number | null) => (value === null ? '' : `${(100 * value).toFixed(1)} %`);
  const kinds = [
    { of: 'pinball', title: 'pinball loss', cell: loss },
    { of: 'crps', title: 'CRPS', cell: loss },
    { of: 'coverage50', title: 'the 50 % interval covers', cell: share },
    { of: 'coverage90', title: 'the 90 % interval covers', cell: share },
  ] as const;
  return Object.entries(scores).flatMap(([dataset, of]) =>
    kinds.map(({ of: kind, title, cell }) => ({
      title: `models side by side, ${dataset} (${of.forecasts} forecasts): ${title}`,
      head,
      rows: Object.entries(of[kind]).map(([name, values]) => [name, ...values.map(cell)]),
    })),
  );
}
