/**
 * `node scripts/compare-simulator-browser.js --traces <file|folder>... <bench.json>...`: prints, as Markdown, how far the
 * simulator and a real browser agree on the sessions of `leo-abr bench` results (whose `.raw.jsonl` lies beside each):
 * the browser's states decided again, download times, and the same sessions played freely by the simulator; then what
 * the browser adds, as the simulator's parameters are to be set. docs/simulator-vs-browser.md has the outcome.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bundledSources } from './bundled-sources.js';

const { values, positionals } = parseArgs({
  options: { traces: { type: 'string', multiple: true }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});
if (positionals.length === 0 || !values.traces) {
  console.error('usage: node scripts/compare-simulator-browser.js --traces <file|folder>... <bench.json>...');
  process.exit(2);
}

const comparison = await bundledSources('replay/browser/comparison/index.ts');
const traces = comparison.readTraces(values.traces, { onNote: () => {} });
for (const file of positionals) print(file, traces, comparison);

function print(file, traces, { parseResults, parseRawSessions, compareWithSimulator, measureBrowser }) {
  const { scenario, tool } = parseResults(readFileSync(file, 'utf8'), file);
  const rawFile = `${file.replace(/\.json$/, '')}.raw.jsonl`;
  const sessions = parseRawSessions(readFileSync(rawFile, 'utf8'), rawFile);
  const rows = compareWithSimulator({ sessions, scenario, traces, seed: Number(values.seed) });
  const rejected = sessions.filter((session) => session.rejected !== undefined).length;
  console.log(`### ${scenario.name}\n`);
  console.log(
    `${sessions.length - rejected} sessions, ${tool.bench?.contexts} side by side; ${rejected} more runs were rejected because ` +
      `downloads came late. ${tool.bench?.userAgent}, dash.js ${tool.bench?.dashVersion}.\n`,
  );
  const line = (name, cell) => [name, ...rows.map(cell)];
  table([
    ['', ...rows.map(({ algorithm }) => algorithm)],
    line('sessions', ({ sessions }) => sessions),
    line('(i) states decided again: the same decision', ({ again }) =>
      again.decisions === 0 ? '-' : `${again.same} of ${again.decisions}`,
    ),
    line('(ii) download time, browser against simulator: median', ({ downloads }) => percent(downloads.median, 2)),
    line('  95th percentile of the absolute error', ({ downloads }) => percent(downloads.p95, 2)),
    line('  within 3 %', ({ downloads }) => `${percent(downloads.withinThreePercent, 1)} of ${downloads.count}`),
    line(
      '  against the trace alone: median, 95th percentile',
      ({ downloadsByTrace }) => `${percent(downloadsByTrace.median, 2)}, ${percent(downloadsByTrace.p95, 2)}`,
    ),
    line('(iii) free-running: the same representation', ({ sameRepresentation }) =>
      estimate(sameRepresentation, 100, 1, ' %'),
    ),
    line('  QoE, browser', ({ browser }) => browser.qoe.toFixed(3)),
    line('  QoE, simulator', ({ simulator }) => simulator.qoe.toFixed(3)),
    line('  QoE, browser - simulator', ({ qoeDiff }) => estimate(qoeDiff, 1, 3)),
    line(
      "  as a share of the simulator's mean, of the top bitrate",
      ({ qoeDiffOfMean, qoeDiffOfTop }) => `${percent(qoeDiffOfMean, 2)}, ${percent(qoeDiffOfTop, 2)}`,
    ),
    line('  stall seconds per session, browser', ({ browser }) => browser.stallSeconds.toFixed(3)),
    line('  stall seconds per session, simulator', ({ simulator }) => simulator.stallSeconds.toFixed(3)),
    line('  stall seconds, browser - simulator', ({ stallDiffSeconds }) => estimate(stallDiffSeconds, 1, 3)),
    line('  startup seconds, browser - simulator', ({ startupDiffSeconds }) => startupDiffSeconds.toFixed(3)),
    line('sessions whose witnesses disagree', ({ inconsistentSessions }) => inconsistentSessions),
  ]);
  const measured = measureBrowser(sessions, scenario);
  const spread = (name, { count, mean, p5, median, p95 }) => [name, count, ms(mean), ms(p5), ms(median), ms(p95)];
  console.log();
  table([
    ['what the browser adds', 'count', 'mean', '5 %', 'median', '95 %'],
    spread('a request that waited for room leaves late', measured.requestLatenessSeconds),
    spread('last byte to the next request, where there is room', measured.nextRequestSeconds),
    spread('last byte to the end of a stall', measured.resumeSeconds),
    spread('buffer left when playback stalls', measured.stallLevelSeconds),
    spread('download beyond trace and response time', measured.responseResidualSeconds),
  ]);
  console.log();
}

function table(rows) {
  const [head, ...body] = rows;
  const line = (cells) => `| ${cells.join(' | ')} |`;
  console.log([line(head), line(head.map(() => '---')), ...body.map(line)].join('\n'));
}

function percent(value, digits) {
  return `${(100 * value).toFixed(digits)} %`;
}

function ms(seconds) {
  return Number.isFinite(seconds) ? `${(1000 * seconds).toFixed(0)} ms` : '-';
}

function estimate({ value, ci95 }, scale, digits, unit = '') {
  const number = (x) => (scale * x).toFixed(digits);
  return `${number(value)}${unit}${ci95 ? ` [${number(ci95[0])}, ${number(ci95[1])}]` : ''}`;
}
