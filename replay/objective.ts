/** What a controller plans on in a scenario. */

import { type Objective, type QoeWeights, qoeWeights } from '../abr/index.ts';
import { objectiveWeights, type Pictures } from '../session/decisions/qualities.ts';
import type { Scenario } from './scenarios.ts';

/** As in a page, but with the scenario's prices of Mbit/s. */
export function scenarioWeights({ ladderBps, mu, lambda }: Scenario, objective: Objective) {
  return (pictures: Pictures): QoeWeights =>
    objective === 'linear' ? { ...qoeWeights('linear', ladderBps), mu, lambda } : objectiveWeights(objective, pictures);
}
