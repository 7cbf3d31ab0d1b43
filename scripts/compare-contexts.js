/**
 * `node scripts/compare-contexts.js --traces <file|folder>... <alone.json> <side-by-side.json>`: prints, as Markdown, how far
 * the same sessions agree when they are played one after the other (`leo-abr bench --contexts 1`) and side by side
 * (`--contexts 4`), or twice alike: (i) the states of each decided again, (ii) download times against the simulator's,
 * (iii) what differs between the two when both play freely. The `.raw.jsonl` of each lies beside it.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bundledSources } from './bundled-sources.js';

const { values, positionals } = parseArgs({
  options: { traces: { type: 'string', multiple: true }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});
if (positionals.length !== 2 || !values.traces) {
  console.error('usage: node scripts/compare-contexts.js --traces <file|folder>... <alone.json> <side-by-side.json>');
  process.exit(2);
}

print(await bundledSources('replay/browser/comparison/index.ts'));

function print({ parseResults, parseRawSessions, readTraces, compareWithSimulator, tierAgreement }) {
  const seed = Number(values.seed);
  const traces = readTraces(values.traces, { onNote: () => {} });
  const [alone, together] = positionals.map((file) => {
    const results = parseResults(readFileSync(file, 'utf8'), file);
    const rawFile = `${file.replace(/\.json$/, '')}.raw.jsonl`;
    const sessions = parseRawSessions(readFileSync(rawFile, 'utf8'), rawFile);
    const rejected = sessions.filter((session) => session.rejected !== undefined).length;
    const rows = compareWithSimulator({ sessions, scenario: results.scenario, traces, seed });
    return { results, rejected, contexts: results.tool.bench?.contexts, rows };
  });
  const agreement = tierAgreement(alone.results.sessions, together.results.sessions, seed);
  const column = (of) => agreement.map(({ algorithm }) => of.rows.find((row) => row.algorithm === algorithm));
  const [first, second] = [column(alone), column(together)];
  const again = (row) => (row.again.decisions === 0 ? '-' : `${row.again.same} of ${row.again.decisions}`);
  const late = ({ downloads }) => `${percent(downloads.median, 2)}, ${percent(downloads.p95, 2)}`;
  const one = `${alone.contexts} at a time`;
  const many = together.contexts === alone.contexts ? `${one}, again` : `${together.contexts} at a time`;
  const topMbps = Math.max(...alone.results.scenario.ladderBps) / 1e6;
  table([
    [`${alone.results.scenario.name}`, ...agreement.map(({ algorithm }) => algorithm)],
    ['sessions that both have', ...agreement.map(({ sessions }) => sessions)],
    [`(i) states decided again: the same, ${one}`, ...first.map(again)],
    [`  ${many}`, ...second.map(again)],
    [
      `(ii) download time against the simulator's: median, 95th percentile of the absolute error, ${one}`,
      ...first.map(late),
    ],
    [`  ${many}`, ...second.map(late)],
    ['(iii) the same representation', ...agreement.map((row) => estimate(row.sameRepresentation, 100, 1, ' %'))],
    [`  QoE, ${one}`, ...agreement.map(({ simulatorQoe }) => simulatorQoe.toFixed(3))],
    [`  QoE, ${many}`, ...agreement.map(({ browserQoe }) => browserQoe.toFixed(3))],
    ['  QoE, difference', ...agreement.map(({ qoeDiff }) => estimate(qoeDiff, 1, 3))],
    ['  as a share of the top bitrate', ...agreement.map(({ qoeDiff }) => percent(qoeDiff.value / topMbps, 2))],
    ['  stall seconds, difference', ...agreement.map((row) => estimate(row.stallSecondsDiff, 1, 3))],
    ['  startup seconds, difference', ...agreement.map((row) => estimate(row.startupSecondsDiff, 1, 3))],
  ]);
  console.log(`\nRuns rejected: ${alone.rejected} (${one}), ${together.rejected} (${many}).`);
}

function table(rows) {
  const [head, ...body] = rows;
  const line = (cells) => `| ${cells.join(' | ')} |`;
  console.log([line(head), line(head.map(() => '---')), ...body.map(line)].join('\n'));
}

function percent(value, digits) {
  return `${(100 * value).toFixed(digits)} %`;
}

function estimate({ value, ci95 }, scale, digits, unit = '') {
  const number = (x) => (scale * x).toFixed(digits);
  return `${number(value)}${unit}${ci95 ? ` [${number(ci95[0])}, ${number(ci95[1])}]` : ''}`;
}
