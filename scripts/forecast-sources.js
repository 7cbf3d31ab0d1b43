/** `npm run forecast-sources`: what each source of forecasts gains and costs; see the usage below. */
import { readFileSync } from 'node:fs';
import { commandLine } from './command-line.js';

const { positionals, refuse } = commandLine(
  `usage: npm run forecast-sources -- <results.raw.jsonl>

Prints, of the sessions of a leo-abr bench with algorithms such as mpc-l,mpc-l@onnx,mpc-l@service,mpc-l:no-forecast, the
means over the starts on each link and over all links: QoE, stalls, the share of decisions on these forecasts, the time
until they were loaded, and the main thread's time for them per second (not for the plugin's own). Sessions that were
rejected at every attempt are counted as "late"; their last attempt is in the means.`,
  { positionals: 1 },
);
const [file] = positionals;
if (file === undefined) refuse('expected a file');
let text;
try {
  text = readFileSync(file, 'utf8');
} catch (error) {
  refuse(`expected a readable file, got ${error.message}`);
}
const last = new Map();
for (const [i, line] of text.trim().split('\n').entries()) {
  try {
    const session = JSON.parse(line);
    last.set(`${session.trace}\n${session.startSeconds}\n${session.algorithm}`, session);
  } catch (error) {
    refuse(`${file}:${i + 1}: expected a session of leo-abr bench, got ${error.message}`);
  }
}
const groups = new Map();
for (const { trace, algorithm, rejected, result, record } of last.values()) {
  const isOf =
    { service: /^service$/, onnx: /^model:/, 'no-forecast': /^harmonic/ }[algorithm.split(/[@:]/)[1]] ?? /^built-in$/;
  const sources = record.decisions.flatMap(({ decision }) => decision.forecastSource ?? []);
  const lastedSeconds = Math.max(...record.requests.map(({ endedAtSeconds }) => endedAtSeconds));
  const { loading = Number.NaN, main = Number.NaN } = record.forecasterMillis ?? {};
  const figures = [
    result.qoe.linear,
    result.stallSeconds,
    (100 * sources.filter((source) => isOf.test(source)).length) / record.decisions.length,
    loading / 1000,
    main / lastedSeconds,
    rejected ? 1 : 0,
  ];
  for (const link of [trace, 'all']) {
    const key = `${link} | \`${algorithm}\``;
    groups.set(key, [...(groups.get(key) ?? []), figures]);
  }
}
const DIGITS = [2, 1, 0, 1, 1];
const rows = [...groups].map(([key, sessions]) => {
  const sums = sessions.reduce((sum, one) => sum.map((value, i) => value + one[i]));
  return [
    key,
    sessions.length,
    ...DIGITS.map((count, i) => (sums[i] / sessions.length).toFixed(count).replace('NaN', '–')),
    sums[5],
  ];
});
const head = ['link | forecasts', 'sessions', 'QoE', 'stalls, s', 'decisions on them, %', 'loaded in, s'];
head.push('main thread per s, ms', 'late');
const rule = head.map((_, i) => (i === 0 ? '- | -' : '-:'));
for (const cells of [head, rule, ...rows.sort(([a], [b]) => a.localeCompare(b))])
  console.log(`| ${cells.join(' | ')} |`);
