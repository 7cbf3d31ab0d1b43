/** `npm run compare-tiers`: holds the simulator against a browser; see the usage below. */
import { writeFileSync } from 'node:fs';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

/** Least share of the browser's decisions that the simulator's controller has to make again. */
const LEAST_SAME = 0.99;
const { values, positionals, refuse } = commandLine(
  `usage: npm run compare-tiers -- [--out <file>] <simulator.json> <browser.json>

Compares sessions of leo-abr simulate with the same ones of leo-abr bench, whose .raw.jsonl is beside its results:
- each decision of the browser's log is made again by the simulator's controller, in the same state, on the same forecast;
- QoE, stalls and representations of the sessions, browser minus simulator, with 95 % intervals.
The status is 1 if fewer than ${100 * LEAST_SAME} % of the decisions are the same.

--out <file>  the figures as JSON`,
  { options: { out: { type: 'string' } }, positionals: 2 },
);
if (positionals.length < 2)
  refuse(`${positionals[0] ?? 'no files'}: expected the results of leo-abr simulate and of leo-abr bench`);
const { tierComparison } = await bundledSources('cli/benchmark/tier-comparison.ts');
const { resultRows, resultTable } = await bundledSources('cli/benchmark/result-rows.ts');
const comparison = tierComparison(...positionals);
console.log(resultTable(resultRows(comparison)));
if (values.out) writeFileSync(values.out, `${JSON.stringify(comparison)}\n`);
const isSame = ({ decisions, sameAgain }) => decisions > 0 && sameAgain >= LEAST_SAME * decisions;
if (!comparison.agreement.every(isSame)) process.exitCode = 1;
