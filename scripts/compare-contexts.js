/**
 * `node scripts/compare-contexts.js --traces <file|folder>... <alone.json>,... <side-by-side.json>,...`: prints, as Markdown,
 * how far the sessions that both have agree when they are played one after the other (`leo-abr bench --contexts 1`) and side
 * by side (`--contexts 4`), or twice alike: (i) the states of each decided again, (ii) download times against the simulator's,
 * (iii) what differs between the two when both play freely. The `.raw.jsonl` of each lies beside it. Files of one kind,
 * separated by commas, are taken together; sessions are told apart by data set, trace, start, algorithm and length.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bundledSources } from './bundled-sources.js';

const { values, positionals } = parseArgs({
  options: { traces: { type: 'string', multiple: true }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});
if (positionals.length !== 2 || !values.traces) {
  console.error(
    'usage: node scripts/compare-contexts.js --traces <file|folder>... <alone.json>,... <side-by-side.json>,...',
  );
  process.exit(2);
}

print(await bundledSources('replay/browser/comparison/index.ts'));

function print({ parseResults, parseRawSessions, readTraces, compareWithSimulator, tierAgreement, sessionKey }) {
  const seed = Number(values.seed);
  const traces = readTraces(values.traces, { onNote: () => {} });
  const read = positionals.map((files) => {
    const parts = files.split(',').map((file) => parseResults(readFileSync(file, 'utf8'), file));
    const raw = files.split(',').flatMap((file) => {
      const rawFile = `${file.replace(/\.json$/, '')}.raw.jsonl`;
      return parseRawSessions(readFileSync(rawFile, 'utf8'), rawFile);
    });
    return { parts, raw, sessions: parts.flatMap(({ sessions }) => sessions) };
  });
  const lengths = read.map(
    ({ sessions }) => new Map(sessions.map((session) => [sessionKey(session), session.segments.length])),
  );
  const isInBoth = (session) => {
    const [one, other] = lengths.map((of) => of.get(sessionKey(session)));
    return one !== undefined && one === other;
  };
  const { scenario } = read[0].parts[0];
  const [alone, together] = read.map(({ parts, raw, sessions }) => {
    const played = raw.filter(isInBoth);
    const contexts = [...new Set(parts.map(({ tool }) => tool.bench?.contexts))].sort((a, b) => a - b).join(', ');
    return {
      sessions: sessions.filter(isInBoth),
      rejected: played.filter((session) => session.rejected !== undefined).length,
      label: `${contexts} at a time`,
      rows: compareWithSimulator({ sessions: played, scenario, traces, seed }),
    };
  });
  const agreement = tierAgreement(alone.sessions, together.sessions, seed);
  const column = (of) => agreement.map(({ algorithm }) => of.rows.find((row) => row.algorithm === algorithm));
  const [first, second] = [column(alone), column(together)];
  const again = (row) => (row.again.decisions === 0 ? '-' : `${row.again.same} of ${row.again.decisions}`);
  const late = ({ downloads }) => `${percent(downloads.median, 2)}, ${percent(downloads.p95, 2)}`;
  const one = alone.label;
  const many = together.label === one ? `${one}, again` : together.label;
  const topMbps = Math.max(...scenario.ladderBps) / 1e6;
  table([
    [`${scenario.name}`, ...agreement.map(({ algorithm }) => algorithm)],
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
    [
      `  as a share of the mean ${one}, of the top bitrate`,
      ...agreement.map(
        ({ qoeDiff, simulatorQoe }) =>
          `${percent(qoeDiff.value / simulatorQoe, 1)}, ${percent(qoeDiff.value / topMbps, 2)}`,
      ),
    ],
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
