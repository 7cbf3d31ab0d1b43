/**
 * `npm run ship-model`: generates predictor/built-in/shipped-model.ts, which the plugin contains, from the model of
 * `leo-abr train` in predictor/models/built-in.json (docs/predictors.md has the command), without its card.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
const { card: _, ...model } = JSON.parse(readFileSync(path('predictor/models/built-in.json'), 'utf8'));
const target = path('predictor/built-in/shipped-model.ts');
writeFileSync(
  target,
  `/** The model that the plugin ships: predictor/models/built-in.json without its card; made by \`npm run ship-model\`. */

import type { ModelFile } from './model-file.ts';

export const SHIPPED_MODEL: ModelFile = ${JSON.stringify(model)};
`,
);
execFileSync(process.execPath, [path('node_modules/@biomejs/biome/bin/biome'), 'check', '--write', target], {
  stdio: 'inherit',
});
