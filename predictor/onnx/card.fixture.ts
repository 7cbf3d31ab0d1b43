/** A card of an artificial model, for tests. */

import { FEATURES } from '../link/features.ts';
import { CARD_FORMAT, CARD_SCHEMA, type ModelCard, OUTPUT_UNIT } from './model-card.ts';

export const CARD: ModelCard = {
  format: CARD_FORMAT,
  schema: CARD_SCHEMA,
  name: 'made-up',
  tool: { name: 'test', version: '1' },
  input: {
    name: 'features',
    // In reverse order, to test that the card determines it.
    features: [...FEATURES].reverse().map(({ name }) => ({ name, meaning: 'as in the link history' })),
  },
  output: { name: 'quantiles', unit: OUTPUT_UNIT, stepEndsSeconds: [1, 4], levels: [0.1, 0.5, 0.9] },
  rankCorrelation: 0.5,
  data: [{ dataset: 'none', licences: ['CC0'] }],
  training: {},
  scores: {},
  check: { features: FEATURES.map(() => 0), quantiles: [-1, 0, 1, -1, 0, 1] },
};
