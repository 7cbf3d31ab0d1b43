/** The weights and qualities that a controller plans on in a scenario. */

import { type Objective, type QoeWeights, qoeWeights } from '../abr/index.ts';
import { type Pictures, weightsOfPictures } from '../session/decisions/qualities.ts';
import type { QualityOf } from '../session/requests/segment-qualities.ts';
import type { ResolvedScenario } from './results.ts';
import type { Scenario } from './scenarios.ts';

/**
 * Weights as in a page, but with the scenario's prices of Mbit/s and without picture sizes: the pictures are stand-ins,
 * whose sizes say nothing about the scenario's bitrates.
 */
export function scenarioWeights(
  { ladderBps, mu, lambda }: Pick<Scenario, 'ladderBps' | 'mu' | 'lambda'>,
  objective: Objective,
  pricePerMbps = 0,
): (pictures: Pictures) => QoeWeights {
  const linear = { ...qoeWeights('linear', ladderBps), mu, lambda };
  const weightsOf = weightsOfPictures(objective, pricePerMbps);
  return ({ ladder, live }) =>
    objective === 'linear'
      ? linear
      : weightsOf({ ladder: ladder.map(({ id, bitrateBps }) => ({ id, bitrateBps })), live });
}

/** The qualities of the scenario's segments, if any. `indexOf` returns a representation id's index in the ladder. */
export function scenarioQualities(
  scenario: Partial<Pick<ResolvedScenario, 'qualities'>> & Pick<Scenario, 'ladderBps'>,
  objective: Objective,
  indexOf: (id: string) => number,
): QualityOf | undefined {
  const { qualities: rows } = scenario;
  return objective === 'perceived' && rows ? (id, index) => rows[index]?.[indexOf(id)] : undefined;
}
