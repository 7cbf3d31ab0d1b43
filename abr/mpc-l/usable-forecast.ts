/** Which forecast MPC-L plans on, if any. */

import type { PlayerState } from '../controller.ts';
import type { Forecast, PathForecast, QuantileForecast } from '../forecast.ts';
import { robustThroughput } from '../robust-throughput.ts';
import type { ResolvedMpcLOptions } from './options.ts';

/** A forecast that is one epoch old says nothing about the present epoch. */
const STALE_SECONDS = 15;
/** A forecast may seem to come from the future by this much, because clocks are read at different moments. */
const EARLY_SECONDS = 1;
/** Where a given path is probed for NaN and for running backwards. */
const PROBED_SECONDS = [20, 40] as const;
/** With fewer downloads a session is starting, for `startup: false`. */
const STARTUP_DOWNLOADS = 2;

/** The forecast to plan on; undefined if MPC-D has to decide. Whether it is plausible is another question. */
export function usableForecast(
  state: PlayerState,
  forecast: Forecast | undefined,
  options: Pick<ResolvedMpcLOptions, 'startup' | 'forecast'>,
): Forecast | undefined {
  if (!options.startup && state.downloads.length < STARTUP_DOWNLOADS) return undefined;
  if (!options.forecast) return harmonicSpread(state);
  if (forecast === undefined || !isWellFormed(forecast)) return undefined;
  const age = ageSeconds(state, forecast);
  return age >= -EARLY_SECONDS && age < STALE_SECONDS ? forecast : undefined;
}

export function ageSeconds(state: PlayerState, forecast: Forecast): number {
  return state.nowSeconds - forecast.issuedAtMs / 1000;
}

/** Whether a plan can be computed from a forecast. The chain of forecasters reports what is wrong with the others. */
function isWellFormed(forecast: Forecast): boolean {
  if (!Number.isFinite(forecast.issuedAtMs) || !Array.isArray(forecast.handovers)) return false;
  if (forecast.kind === 'paths') return forecast.paths.length > 0 && forecast.paths.every(isWellFormedPath);
  const { levels, quantilesBps, stepEndsSeconds, rankCorrelation } = forecast;
  if (levels.length === 0 || stepEndsSeconds.length === 0 || quantilesBps.length !== stepEndsSeconds.length)
    return false;
  if (!(rankCorrelation >= 0 && rankCorrelation <= 1)) return false;
  if (!isAscending(stepEndsSeconds) || !isAscending(levels) || !(levels[levels.length - 1]! < 1)) return false;
  return quantilesBps.every(
    (row) => row.length === levels.length && row.every((bps) => bps >= 0 && bps < Number.POSITIVE_INFINITY),
  );
}

function isAscending(values: readonly number[]): boolean {
  return values.every((value, i) => value > (values[i - 1] ?? 0));
}

function isWellFormedPath({ weight, path }: PathForecast['paths'][number]): boolean {
  const [soon, later] = [path.cumulativeBits(PROBED_SECONDS[0]), path.cumulativeBits(PROBED_SECONDS[1])];
  return (
    weight > 0 && weight < Number.POSITIVE_INFINITY && soon >= 0 && later >= soon && later < Number.POSITIVE_INFINITY
  );
}

/** A forecast from MPC-D's evidence alone: the harmonic mean, spread by the largest of its last errors. */
function harmonicSpread(state: PlayerState): QuantileForecast | undefined {
  const estimate = robustThroughput(state.downloads);
  if (estimate === undefined) return undefined;
  const { meanBps, maxError } = estimate;
  return {
    issuedAtMs: state.nowSeconds * 1000,
    source: 'harmonic mean',
    stepEndsSeconds: [4, 8, 16],
    levels: [0.1, 0.5, 0.9],
    quantilesBps: [1, 2, 3].map(() => [meanBps / (1 + maxError), meanBps, meanBps * (1 + maxError)]),
    rankCorrelation: 0.7,
    handovers: [],
  };
}
