/** MPC-L without one of its ingredients, for comparisons: a controller with other forecasts than the session's. */

import type { Controller, PlayerState } from '../abr/controller.ts';
import type { ValidForecast } from '../abr/forecast.ts';
import { robustThroughput } from '../abr/state/robust-throughput.ts';
import { validForecast } from '../abr/valid-forecast.ts';

type Instead = (state: PlayerState, forecast: ValidForecast | undefined) => ValidForecast | undefined;

/** `controller`: an MPC-L that paces. */
export function withForecast(controller: Controller, instead: Instead): Controller {
  return {
    name: controller.name,
    decide: (state, forecast) => controller.decide(state, instead(state, forecast)),
    reconsider: (state, inFlight, forecast) => controller.reconsider!(state, inFlight, instead(state, forecast)),
    pace: (state, inFlight, forecast) => controller.pace!(state, inFlight, instead(state, forecast)),
    keepsForSeconds: (state, inFlight) => controller.keepsForSeconds!(state, inFlight),
  };
}

/** The first two decisions are MPC-D's. */
export const noStartup: Instead = ({ downloads }, forecast) => (downloads.length < 2 ? undefined : forecast);

/** A forecast from MPC-D's evidence alone: the harmonic mean with the largest of its last errors as spread. */
export function harmonicSpread(state: PlayerState): ValidForecast | undefined {
  const estimate = robustThroughput(state.downloads);
  if (estimate === undefined) return undefined;
  const { meanBps, maxError } = estimate;
  return validForecast({
    issuedAtMs: state.nowSeconds * 1000,
    source: 'harmonic mean',
    stepEndsSeconds: [4, 8, 16],
    levels: [0.1, 0.5, 0.9],
    quantilesBps: [1, 2, 3].map(() => [meanBps / (1 + maxError), meanBps, meanBps * (1 + maxError)]),
    rankCorrelation: 0.7,
    handovers: [],
  });
}
