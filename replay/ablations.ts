/** MPC-L without a part of it, for comparisons. */

import type { Controller, PlayerState } from '../abr/controller.ts';
import type { ValidForecast } from '../abr/forecast.ts';
import { robustThroughput } from '../abr/state/robust-throughput.ts';
import { validForecast } from '../abr/valid-forecast.ts';

/** `controller`: an MPC-L. The player sets the playback rate. */
export function withoutPace(controller: Controller): Controller {
  return {
    name: controller.name,
    decide: (state, forecast) => controller.decide(state, forecast),
    reconsider: (state, inFlight, forecast) => controller.reconsider!(state, inFlight, forecast),
    keepsForSeconds: (state, inFlight) => controller.keepsForSeconds!(state, inFlight),
  };
}

/** `controller`: an MPC-L. It gets no forecast but `harmonicSpread`. */
export function withoutForecast(controller: Controller): Controller {
  return {
    name: controller.name,
    decide: (state) => controller.decide(state, harmonicSpread(state)),
    reconsider: (state, inFlight) => controller.reconsider!(state, inFlight, harmonicSpread(state)),
    pace: (state, inFlight) => controller.pace!(state, inFlight, harmonicSpread(state)),
    keepsForSeconds: (state, inFlight) => controller.keepsForSeconds!(state, inFlight),
  };
}

/** A forecast from MPC-D's evidence alone: the harmonic mean with the largest of its last errors as spread. */
function harmonicSpread(state: PlayerState): ValidForecast | undefined {
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
