/**
 * `node scripts/simulator-sensitivity.js --traces <file|folder>... [--scenario uhd-8,pensieve-60] [--algorithms mpc-d,throughput]`:
 * how far two simulations agree that differ by a few milliseconds in what the browser adds. No comparison of a simulated
 * session with a real one can agree better than that. Prints Markdown; docs/simulator-vs-browser.md has the outcome.
 */
import { parseArgs } from 'node:util';
import { bundledSources } from './bundled-sources.js';

/** What is changed, in seconds. */
const CHANGES = [
  ['responses 3 ms later', { responseSeconds: 0.003 }],
  ['responses 2 ms earlier', { responseSeconds: -0.002 }],
  ['appends 5 ms later', { appendSeconds: 0.005 }],
  ['requests to a full buffer 30 ms earlier', { requestLatenessSeconds: -0.03 }],
  ['requests to a full buffer 30 ms later', { requestLatenessSeconds: 0.03 }],
];

const { values } = parseArgs({
  options: {
    traces: { type: 'string', multiple: true },
    scenario: { type: 'string', default: 'uhd-8,pensieve-60' },
    algorithms: { type: 'string', default: 'mpc-d,throughput' },
  },
});
if (!values.traces) {
  console.error(
    'usage: node scripts/simulator-sensitivity.js --traces <file|folder>... [--scenario ...] [--algorithms ...]',
  );
  process.exit(2);
}

const { simulatedAlgorithm, planBenchmark, parseStarts, readTraces, scenarioNamed, resolveScenario } =
  await bundledSources('scripts/simulator.entry.js');
const traces = readTraces(values.traces, { onNote: () => {} });
const algorithms = values.algorithms.split(',');

console.log('| scenario | changed | algorithm | same representation | QoE | stall seconds |');
console.log('| --- | --- | --- | --- | --- | --- |');
for (const name of values.scenario.split(',')) {
  const scenario = resolveScenario(scenarioNamed(name));
  const { sessions } = planBenchmark({ traces, scenario, starts: parseStarts('at:0'), algorithms, seed: 1 });
  for (const [change, seconds] of CHANGES) {
    const changed = { ...scenario, browser: { ...scenario.browser } };
    for (const [key, by] of Object.entries(seconds)) changed.browser[key] += by;
    for (const algorithm of algorithms) {
      const { simulate } = simulatedAlgorithm(algorithm);
      const own = sessions.filter((session) => session.algorithm === algorithm);
      const pairs = own.map((session) =>
        [scenario, changed].map((variant) => simulate({ ...session, scenario: variant, timings: false })),
      );
      const shares = pairs.map(
        ([a, b]) =>
          a.segments.filter((row, i) => row.bitrateBps === b.segments[i]?.bitrateBps).length / a.segments.length,
      );
      const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
      const signed = (number, digits) => `${number >= 0 ? '+' : ''}${number.toFixed(digits)}`;
      const qoe = mean(pairs.map(([a, b]) => b.qoe.linear - a.qoe.linear));
      const stall = mean(pairs.map(([a, b]) => b.stallSeconds - a.stallSeconds));
      console.log(
        `| ${name} | ${change} | ${algorithm} | ${(100 * mean(shares)).toFixed(1)} % | ${signed(qoe, 2)} | ${signed(stall, 2)} |`,
      );
    }
  }
}
