/** `npm run ship-model`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandLine } from './command-line.js';

commandLine(`usage: npm run ship-model

Generates predictor/forecast/shipped-model.ts, which the plugin contains, from the model of \`leo-abr train\` in
predictor/models/built-in.json (docs/own-model.md has the command).`);

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
// The rest says what kind of file this is.
const { name, stepEndsSeconds, levels, rankCorrelation, layers } = JSON.parse(
  readFileSync(path('predictor/models/built-in.json'), 'utf8'),
);
writeFileSync(
  path('predictor/forecast/shipped-model.ts'),
  `/** The model that the plugin ships, from predictor/models/built-in.json; made by \`npm run ship-model\`. */

import type { PackedModel } from './model-file.ts';

// biome-ignore format: generated
export const SHIPPED_MODEL: PackedModel = ${JSON.stringify({ name, stepEndsSeconds, levels, rankCorrelation, layers })};
`,
);
