/** `npm run ship-model`: writes the model that the plugin ships into its source. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, ROOT, read } from './command-line.js';

commandLine(`usage: npm run ship-model

Generates predictor/forecast/shipped-model.ts, which the plugin contains, from the model of \`leo-abr train\` in
predictor/models/built-in.json (docs/own-model.md has the command).`);

const { stepEndsSeconds, levels, rankCorrelation, layers } = JSON.parse(read('predictor/models/built-in.json'));
writeFileSync(
  join(ROOT, 'predictor/forecast/shipped-model.ts'),
  `/** The model that the plugin ships, from predictor/models/built-in.json; made by \`npm run ship-model\`. */

import { unpackModel } from './model-file.ts';
import type { Model } from './quantile-forecaster.ts';

// biome-ignore format: generated
const FILE = ${JSON.stringify({ stepEndsSeconds, levels, rankCorrelation, layers })};

let model: Model | undefined;

/** Unpacks the model at the first call. */
export function shippedModel(): Model {
  model ||= unpackModel(FILE);
  return model;
}
`,
);
