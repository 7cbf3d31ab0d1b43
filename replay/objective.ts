/** The weights and qualities that a controller plans on in a scenario. */

import { bitrateWeights, type QoeWeights } from '../abr/index.ts';
import { nearestLevel } from '../abr/statistics/distributions.ts';
import type { QualityOf } from '../session/segment-lists.ts';
import { type Pictures, weightsOfPictures } from '../session/state.ts';
import type { Plan } from './algorithms.ts';
import type { ResolvedScenario } from './results.ts';
import type { Scenario } from './scenarios.ts';
import { encodingsOf } from './segment-qualities.ts';

/**
 * Weights as in a page, but with the scenario's prices of Mbit/s, and its pictures' sizes: the pictures that are played
 * are stand-ins.
 */
export function scenarioWeights(
  scenario: Pick<Scenario, 'ladderBps' | 'lines' | 'mu' | 'lambda'>,
  { objective = 'linear', pricePerMbps = 0 }: Plan,
): (pictures: Pictures) => QoeWeights {
  const { ladderBps, mu, lambda } = scenario;
  const linear = { ...bitrateWeights('linear', ladderBps), mu, lambda };
  const encodings = encodingsOf(scenario);
  const weightsOf = weightsOfPictures(objective, pricePerMbps);
  // The variants of HLS declare mean bitrates, which differ a little from the ladder's.
  const encodingOf = (bitrateBps: number) => ({ ...encodings[nearestLevel(ladderBps, bitrateBps)], bitrateBps });
  return ({ ladder, live }) =>
    objective === 'linear'
      ? linear
      : weightsOf({ ladder: ladder.map(({ id, bitrateBps }) => ({ ...encodingOf(bitrateBps), id })), live });
}

/** The qualities of the scenario's segments, if any. `indexOf` returns a representation id's index in the ladder. */
export function scenarioQualities(
  scenario: Partial<Pick<ResolvedScenario, 'qualities'>> & Pick<Scenario, 'ladderBps'>,
  { objective }: Plan,
  indexOf: (id: string) => number,
): QualityOf | undefined {
  const { qualities: rows } = scenario;
  return objective === 'perceived' && rows ? (id, index) => rows[index]?.[indexOf(id)] : undefined;
}
