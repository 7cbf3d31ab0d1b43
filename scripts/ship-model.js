/** `npm run ship-model`: packs the model that the plugin ships. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, ROOT, read } from './command-line.js';

commandLine(`usage: npm run ship-model

Generates predictor/forecast/shipped-model.ts, which the plugin contains, from the model of \`leo-abr train\` in
predictor/models/built-in.json (docs/own-model.md has the command).`);

const file = JSON.parse(read('predictor/models/built-in.json'));
const { stepEndsSeconds, levels, rankCorrelation } = file;

/** predictor/forecast/model-file.ts describes the file's form, model-session.ts the plugin's. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const digitsOf = (text, zero) => [...text].map((digit) => DIGITS.indexOf(digit) - zero);
/** The text is ASCII, because a browser may guess the charset of a script. */
const textOf = (steps) => String.fromCharCode(...steps.map((step) => ((step + 32) & 63) + 48));

const layers = file.layers.map(({ weights, scales }, l) => {
  const steps = digitsOf(weights, 31);
  const outputs = steps.length / scales.length;
  // Differences are small, because adjacent steps have similar weights at the same level.
  const lag = l === file.layers.length - 1 ? levels.length : outputs;
  const differences = steps.map((step, i) => (i % outputs >= lag ? step - steps[i - lag] : step));
  return { weights: textOf(differences), scales: textOf(digitsOf(scales, 20)), ...(lag < outputs && { lag }) };
});
writeFileSync(
  join(ROOT, 'predictor/forecast/shipped-model.ts'),
  `/** The model that the plugin ships, from predictor/models/built-in.json; made by \`npm run ship-model\`. */

import { type Model, unpackLayer } from './model-session.ts';

// biome-ignore format: generated
const PACKED = ${JSON.stringify({ stepEndsSeconds, levels, rankCorrelation, layers })};

let model: Model | undefined;

/** Unpacks it at the first call. */
export function shippedModel(): Model {
  model ??= { ...PACKED, layers: PACKED.layers.map(unpackLayer) };
  return model;
}
`,
);
