/** Which forecast MPC-L plans on, if any. */

import type { PlayerState } from '../controller.ts';
import { EPOCH_SECONDS, type Forecast, type QuantileForecast } from '../forecast.ts';
import { robustThroughput } from '../robust-throughput.ts';
import { validateForecast } from '../validate-forecast.ts';
import type { ResolvedMpcLOptions } from './options.ts';

/** A forecast may be issued up to this much after now, because clocks are read at different moments. */
const EARLY_SECONDS = 1;
/** With `startup: false` MPC-D decides until there are this many downloads. */
const STARTUP_DOWNLOADS = 2;

/**
 * The forecast to plan on; undefined if MPC-D has to decide. A forecast that is an epoch old says nothing about the
 * present epoch. Whether it is plausible is checked in plausibility.ts.
 */
export function usableForecast(
  state: PlayerState,
  forecast: Forecast | undefined,
  options: Pick<ResolvedMpcLOptions, 'startup' | 'forecast'>,
): Forecast | undefined {
  if (!options.startup && state.downloads.length < STARTUP_DOWNLOADS) return undefined;
  if (!options.forecast) return harmonicSpread(state);
  if (forecast === undefined || validateForecast(forecast) !== undefined) return undefined;
  const age = ageSeconds(state, forecast);
  return age >= -EARLY_SECONDS && age < EPOCH_SECONDS ? forecast : undefined;
}

export function ageSeconds(state: PlayerState, forecast: Forecast): number {
  return state.nowSeconds - forecast.issuedAtMs / 1000;
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
