/** `npm run moments`: finds the typical start of a scene of the demo. */
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const OPTIONS = { trace: 'stationary-crowded', scenario: 'live-hd-1', rival: 'throughput', by: 'stalls' };
const options = Object.entries(OPTIONS).map(([name, standard]) => [name, { type: 'string', default: standard }]);
const { values, refuse } = commandLine(
  `usage: npm run moments -- [--trace stationary-crowded] [--scenario live-hd-1] [--rival throughput] [--by stalls]
                          [--shared]

Simulates the first minute with a rival and with MPC-L from each 15th second of a shipped link. Prints all starts, the
least difference first (--by stalls: in seconds of stalls; perceived: in perceived QoE; data: in GB per hour), and the
median start, which the demo shows as typical. --shared: two players with each are on one link, then four rivals.`,
  { options: { ...Object.fromEntries(options), shared: { type: 'boolean', default: false } } },
);
const { trace: traceName, scenario, rival, by, shared } = values;
const { SCENARIOS, MEASURES, inOrder, playStarts, synthesizeShippedTraces, typicalStart } = await bundledSources(
  'replay/simulator/link-starts.ts',
);
const traces = Object.fromEntries(synthesizeShippedTraces().map((trace) => [trace.name, trace]));
for (const [option, known] of Object.entries({ trace: traces, scenario: SCENARIOS, by: MEASURES })) {
  if (Object.hasOwn(known, values[option])) continue;
  refuse(`--${option}: expected one of ${Object.keys(known).join(', ')}, got ${values[option]}`);
}

const pairs = playStarts(traces[traceName], SCENARIOS[scenario], rival, shared);
const rounded = (value) => Math.round(100 * value) / 100;
const figuresOf = (pair, who) => Object.entries(pair[who]).map(([key, value]) => [`${who} ${key}`, rounded(value)]);
const rowOf = (pair) => ({
  start: pair.startSeconds,
  ...Object.fromEntries(
    ['rival', 'own', 'rivalsAlone'].filter((who) => who in pair).flatMap((who) => figuresOf(pair, who)),
  ),
  difference: rounded(MEASURES[by](pair)),
});
const rows = inOrder(pairs, by).map(rowOf);
console.table(rows);
const mean = (key) => rounded(rows.reduce((sum, row) => sum + row[key], 0) / rows.length);
const [, ...keys] = Object.keys(rows[0]);
console.log('mean of all starts:', Object.fromEntries(keys.map((key) => [key, mean(key)])));
console.log('median start:', typicalStart(pairs, by).startSeconds);
