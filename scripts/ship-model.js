/** `npm run ship-model`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandLine } from './command-line.js';

commandLine(`usage: npm run ship-model

Writes predictor/models/shipped.json, which the plugin contains, from the model of \`leo-abr train\` in
predictor/models/built-in.json (docs/own-model.md has the command).`);

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
// The rest says what kind of file this is.
const { name, stepEndsSeconds, levels, rankCorrelation, networks } = JSON.parse(
  readFileSync(path('predictor/models/built-in.json'), 'utf8'),
);
const shipped = { name, stepEndsSeconds, levels, rankCorrelation, networks };
writeFileSync(path('predictor/models/shipped.json'), `${JSON.stringify(shipped)}\n`);
