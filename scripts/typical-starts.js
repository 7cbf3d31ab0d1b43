/** `npm run moments`. */
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const TEXT = { type: 'string' };
const { values, refuse } = commandLine(
  `usage: npm run moments -- [--trace stationary-crowded] [--scenario live-hd-1] [--rival throughput] [--by stalls]

Simulates the first minute with a rival and with MPC-L from each 15th second of a shipped link. Prints all starts, the
least difference first (--by stalls: in seconds of stalls; --by perceived: in perceived QoE), and the median start, which
the demo shows as typical.`,
  { options: { trace: TEXT, scenario: TEXT, rival: TEXT, by: TEXT } },
);
const { trace: traceName = 'stationary-crowded', scenario = 'live-hd-1', rival = 'throughput', by = 'stalls' } = values;
const { SCENARIOS, MEASURES, inOrder, playStarts, synthesizeShippedTraces, typicalStart } = await bundledSources(
  'replay/simulator/link-starts.ts',
);
const traces = synthesizeShippedTraces();
const oneOf = (option, given, names) => {
  if (!names.includes(given)) refuse(`--${option}: expected one of ${names.join(', ')}, got ${given}`);
};
oneOf(
  'trace',
  traceName,
  traces.map(({ name }) => name),
);
oneOf('scenario', scenario, Object.keys(SCENARIOS));
oneOf('by', by, Object.keys(MEASURES));

const pairs = playStarts(
  traces.find(({ name }) => name === traceName),
  SCENARIOS[scenario],
  rival,
);
const rounded = (value) => Math.round(100 * value) / 100;
const rowOf = (pair) => ({
  start: pair.startSeconds,
  ...Object.fromEntries(
    ['rival', 'own'].flatMap((who) =>
      Object.entries(pair[who]).map(([key, value]) => [`${who} ${key}`, rounded(value)]),
    ),
  ),
  difference: rounded(MEASURES[by](pair)),
});
const rows = inOrder(pairs, by).map(rowOf);
console.table(rows);
const mean = (key) => rounded(rows.reduce((sum, row) => sum + row[key], 0) / rows.length);
console.log(
  'mean of all starts:',
  Object.fromEntries(
    Object.keys(rows[0])
      .slice(1)
      .map((key) => [key, mean(key)]),
  ),
);
console.log('median start:', typicalStart(pairs, by).startSeconds);
