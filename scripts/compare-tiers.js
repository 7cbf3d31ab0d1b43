/** `npm run compare-tiers`: compares the simulator with a browser. */
import { writeFileSync } from 'node:fs';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

/** The simulator's controller must repeat at least this share of the browser's decisions. */
const LEAST_SAME = 0.99;
const { values, positionals, refuse } = commandLine(
  `usage: npm run compare-tiers -- [--out <file>] <browser.json> <simulator.json>...

Compares sessions of leo-abr bench, whose .raw.jsonl is beside its results, with the same ones of leo-abr simulate:
- each decision of the browser's log is made again by the simulator's controller, in the same state, on the same forecast;
- QoE, stalls and representations of the sessions, browser minus simulator, with 95 % intervals. Of simulations with
  several seeds (--seed) the mean counts: a millisecond can change a choice, and with it the rest of the session.
The status is 1 if fewer than ${100 * LEAST_SAME} % of an algorithm's decisions are the same, or if none was made again.

--out <file>  the figures as JSON`,
  { options: { out: { type: 'string' } }, positionals: 100 },
);
const [browser, ...simulators] = positionals;
if (simulators.length === 0) {
  refuse(`${browser ?? 'no file'}: expected results of leo-abr bench, then of leo-abr simulate`);
}
const { tierComparison } = await bundledSources('cli/benchmark/tier-comparison.ts');
const { resultRows, resultTable } = await bundledSources('cli/benchmark/result-rows.ts');
const comparison = tierComparison(browser, simulators);
console.log(resultTable(resultRows(comparison)));
if (values.out) writeFileSync(values.out, `${JSON.stringify(comparison)}\n`);
// A player's own ABR logs no decisions, and an oracle's path is not logged.
const isSame = ({ decisions, sameAgain }) => sameAgain >= LEAST_SAME * decisions;
const isMade = comparison.agreement.some(({ decisions }) => decisions > 0);
if (!isMade || !comparison.agreement.every(isSame)) process.exitCode = 1;
