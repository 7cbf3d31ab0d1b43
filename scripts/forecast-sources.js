/** `npm run forecast-sources`: what each source of forecasts gains and costs; see the usage below. */
import { readFileSync } from 'node:fs';
import { commandLine } from './command-line.js';

const { positionals, refuse } = commandLine(
  `usage: npm run forecast-sources -- <results.raw.jsonl>

Prints, of the sessions of a leo-abr bench with algorithms such as mpc-l,mpc-l@onnx,mpc-l@service,mpc-l:no-forecast, a
row per session: QoE, stalls, the share of decisions on these forecasts, the time until they were loaded, and the main
thread's time for them per second. A session that was rejected at every attempt is marked: its last attempt counts.`,
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
const rows = [...last.values()].map(({ trace, algorithm, rejected, result, record }) => {
  const isOf =
    { service: /^service$/, onnx: /^model:/, 'no-forecast': /^harmonic/ }[algorithm.split(/[@:]/)[1]] ?? /^built-in$/;
  const sources = record.decisions.flatMap(({ decision }) => decision.forecastSource ?? []);
  const lastedSeconds = Math.max(...record.requests.map(({ endedAtSeconds }) => endedAtSeconds));
  const { loading, main } = record.forecasterMillis;
  return [
    trace,
    `\`${algorithm}\`${rejected ? ' (late)' : ''}`,
    result.qoe.linear.toFixed(2),
    result.stallSeconds.toFixed(1),
    `${Math.round((100 * sources.filter((source) => isOf.test(source)).length) / record.decisions.length)} %`,
    `${(loading / 1000).toFixed(1)} s`,
    `${(main / lastedSeconds).toFixed(1)} ms`,
  ];
});
rows.sort(([a, x], [b, y]) => a.localeCompare(b) || x.localeCompare(y));
const head = ['link', 'forecasts', 'QoE', 'stalls, s', 'decisions on them', 'loaded in', 'main thread per s'];
for (const cells of [head, head.map((_, i) => (i < 2 ? '-' : '-:')), ...rows]) console.log(`| ${cells.join(' | ')} |`);
