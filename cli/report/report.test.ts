import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';
import { newPart } from '../../replay/browser/bench-notes.ts';
import { assembleResults, resultsJson } from '../../replay/evaluation/documents/assemble-results.ts';
import { parseResults } from '../../replay/evaluation/documents/parse-results.ts';
import { testLiveMetrics, testResults, testSession } from '../../replay/evaluation/test-sessions.fixture.ts';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import type { Results, SessionResult } from '../../replay/results.ts';
import { refused, run, TRACE } from '../shared/run.fixture.ts';
import { shownRows, summaryFigures } from './figures.ts';
import { estimateCell, fixed, scaled, signed } from './format.ts';
import { seriesStyles } from './series-style.ts';
import { summaryTable } from './summary-table.ts';

const ALGORITHMS = 'mpc-d,mpc-o,bola,mpc-d:abandon';

const at = temporaryFolder('file');
let simulated: Results;

/** The simulated sessions as results of a browser. */
function browserResults({ sessions, tool, ...rest }: Results): Results {
  const rejection = { dataset: 'x', trace: 'golden', startSeconds: 0, algorithm: 'bola', attempt: 1, reason: 'late' };
  // The browser's version comes from outside, so the page must escape it.
  const part = { ...newPart({ version: '147.0 <beta>', source: 'system' }), rejections: [rejection] };
  const bench = { tier: 'origin', contexts: 4, rejectedRuns: 1, lateShare: 0.02, parts: [part] };
  return {
    ...rest,
    tool: { ...tool, command: 'bench', bench },
    sessions: sessions
      .filter(({ algorithm }) => algorithm !== 'mpc-d:abandon')
      .map((session) => ({ ...session, qoe: { ...session.qoe, linear: session.qoe.linear - 1 } })),
  };
}

const report = (out: string, ...files: string[]) => run(['report', ...files.map((file) => at(file)), '--out', at(out)]);

/** Reports results from a file. Returns a function that reads a file of the report. */
async function reported(name: string, results: Results): Promise<(file: string) => string> {
  writeFileSync(at(`${name}.json`), resultsJson(results));
  expect((await report(name, `${name}.json`)).status).toBe(0);
  return (file) => readFileSync(at(name, file), 'utf8');
}

type Page = ReturnType<typeof parseHTML>['document'];
const headingsOf = (page: Page) => [...page.querySelectorAll('h2, h3')].map(({ textContent }) => textContent);
const OF_RUN = ['Against mpc-d', 'What was rejected or left out'];

/** The cells of the first table whose caption includes this text. */
function rowsOf(page: Page, caption: string) {
  const table = [...page.querySelectorAll('table')].find((one) =>
    one.querySelector('caption')!.textContent!.includes(caption),
  );
  return [...table!.querySelectorAll('tbody tr')].map((row) => [...row.children].map((one) => one.textContent));
}

let page: Page;
let source: string;
beforeAll(async () => {
  const flags = ['--traces', TRACE, '--algorithms', ALGORITHMS, '--scenario', 'uhd-8', '--starts', 'every:4'];
  expect((await run(['simulate', ...flags, '--out', at('simulated.json')])).status).toBe(0);
  simulated = parseResults(readFileSync(at('simulated.json'), 'utf8'), 'simulated.json');
  writeFileSync(at('browser.json'), resultsJson(browserResults(simulated)));
  const { status, stderr, stdout } = await report('both', 'simulated.json', 'browser.json');
  expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: expect.stringContaining('report.md'), stdout: '' });
  source = readFileSync(at('both/index.html'), 'utf8');
  page = parseHTML(source).document;
});

test('the page has every section, and opens with verdicts and a picture per run and data set', () => {
  const runs = ['uhd-8, simulator', ...OF_RUN, 'uhd-8, browser', ...OF_RUN];
  expect(headingsOf(page)).toEqual(['Outcome', ...runs, 'How it was made']);
  const main = page.querySelector('main')!;
  const [opening, contents] = [...main.children];
  expect(contents!.nodeName).toBe('NAV');
  expect(page.querySelector('header')!.textContent!.trim()).toBe('Benchmark: uhd-8');
  expect([...opening!.children].map(({ nodeName }) => nodeName).slice(0, 3)).toEqual(['H2', 'UL', 'DIV']);
  const verdicts = [...opening!.querySelectorAll('li')].map(({ textContent }) => textContent);
  expect(verdicts).toHaveLength(3 + 2);
  expect(verdicts[0]).toMatch(/^uhd-8, simulator: With mpc-o instead of mpc-d \(\d pairs\), .*perceived QoE/);
  const titles = [...opening!.querySelectorAll('figure > p')].map(({ textContent }) => textContent);
  const { dataset } = simulated.sessions[0]!;
  expect(titles).toEqual([`uhd-8, simulator: ${dataset}`, `uhd-8, browser: ${dataset}`]);
  const labels = [...opening!.querySelectorAll('[role=img]')].map((one) => one.getAttribute('aria-label')!);
  const means = simulated.summary.map(
    ({ algorithm, qoePerceivedMean }) => `${algorithm} ${qoePerceivedMean!.toFixed(1).replace('-', '−')}`,
  );
  expect(labels[0]).toBe(`Mean QoE by algorithm (perceived QoE), ${dataset}: ${means.join(', ')}.`);
  expect(main.textContent!.match(/Fewer than 8 sessions per algorithm decide nothing/g)).toHaveLength(2);
});

// e2e/report.spec.ts checks in a browser that the page loads nothing and has no problem for axe.
test('the page has whole tables, forbids to load anything, and escapes what comes from outside', () => {
  // The provenance is folded.
  expect(page.querySelectorAll('details > .table')).toHaveLength(2);
  for (const table of page.querySelectorAll('table')) {
    const columns = table.querySelectorAll('thead th').length;
    expect(columns).toBeLessThanOrEqual(14);
    for (const row of table.querySelectorAll('tbody tr')) expect(row.children.length).toBe(columns);
  }
  expect(source).toContain("default-src 'none'");
  expect(source).not.toMatch(/NaN|undefined|Infinity/);
  expect(source).toContain('147.0 &lt;beta&gt;');
  expect(page.querySelector('main')!.textContent).toContain('1 run rejected and repeated');
});

test('the page splits the difference of QoE into parts that add up to it', () => {
  const rows = rowsOf(page, 'Pairs of');
  expect(rows.map(([algorithm]) => algorithm)).toEqual(ALGORITHMS.split(',').slice(1));
  for (const row of rows) {
    const [qoe, ...parts] = row.slice(1, 6).map((cell) => Number.parseFloat(cell!.replaceAll('−', '-')));
    expect(Math.abs(qoe! - parts.reduce((sum, part) => sum + part, 0))).toBeLessThan(0.03);
  }
  expect(rows.some((row) => Number.parseFloat(row[2]!.replaceAll('−', '-')) > 1)).toBe(true);
});

test('the Markdown has the same tables, and the number of segments, also of short recordings', async () => {
  const text = readFileSync(at('both/report.md'), 'utf8');
  const tables = text.split('\n').filter((line) => /^\| -/.test(line));
  expect(tables.length).toBe(source.match(/<table>/g)!.length);
  for (const [block] of text.matchAll(/^\|.*\n(?:\|.*\n)+/gm)) {
    const rows = block.trim().split('\n');
    expect(new Set(rows.map((line) => line.replaceAll('\\|', '').split('|').length)).size).toBe(1);
  }
  expect(text).not.toMatch(/NaN|undefined/);
  expect(text).toContain('120 Mbit/s, 48 segments of 4 s,');
  const [first, ...others] = simulated.sessions;
  const short = { ...first!, segments: first!.segments.slice(0, 13) };
  const read = await reported('short', { ...simulated, sessions: [short, ...others] });
  expect(read('report.md')).toContain('120 Mbit/s, 13 to 48 segments of 4 s,');
});

test('the CSV has a row per session; QoE is the sum of its components', () => {
  const [head, ...rows] = readFileSync(at('both/sessions.csv'), 'utf8').trim().split('\n');
  const columns = head!.split(',');
  expect(rows).toHaveLength(simulated.sessions.length + (simulated.sessions.length * 3) / 4);
  for (const row of rows.slice(0, simulated.sessions.length)) {
    const cells = row.split(',');
    const of = Object.fromEntries(columns.map((name, i) => [name, cells[i]!]));
    const parts = ['quality', 'stalls', 'startup', 'switches'].map((part) => Number(of[`qoeParts.${part}`]));
    const sum = parts.reduce((left, cost) => left - cost);
    expect(sum).toBeCloseTo(Number(of['qoe.linear']), 4);
    expect(of).toMatchObject({ tier: 'simulator', segments: '48' });
  }
});

test('live results have sections and columns of their own', async () => {
  for (const target of [1, 3]) {
    const flags = ['--traces', TRACE, '--algorithms', 'mpc-d,throughput', '--scenario', `live-hd-${target}`];
    const out = at(`live-${target}.json`);
    expect((await run(['simulate', ...flags, '--starts', 'at:0,30', '--out', out])).status).toBe(0);
  }
  expect((await report('live', 'live-3.json', 'live-1.json')).status).toBe(0);
  const live = parseHTML(readFileSync(at('live/index.html'), 'utf8')).document;
  const runs = ['live-hd-3, simulator', ...OF_RUN, 'live-hd-1, simulator', ...OF_RUN];
  expect(headingsOf(live)).toEqual(['Outcome', ...runs, 'How it was made']);
  expect(live.toString()).not.toMatch(/NaN|undefined|Infinity/);
  const text = live.querySelector('main')!.textContent!;
  expect(text).toContain('live with a target latency of 3 s: up to 180 s from the join');
  expect(text).toContain('scenario.live.playbackRates.max1.05');
  expect(text).toMatch(/With throughput instead of mpc-d \(2 pairs\), .* stalled time .* data (is )?sent .* latency /);

  const [head, row] = readFileSync(at('live/sessions.csv'), 'utf8').split('\n');
  const columns = head!.split(',');
  expect(row!.split(',')[columns.indexOf('targetLatencySeconds')]).toBe('3');
  expect(columns).toEqual(expect.arrayContaining(['live.qoe', 'live.latencySecondsMean', 'live.jumps']));
  // Results on demand have none of them.
  expect(readFileSync(at('both/sessions.csv'), 'utf8')).not.toMatch(/targetLatency|live/);
});

test('data sets with several recordings have figures of their own, and those with one recording have none', async () => {
  const sessions = ['a1', 'b1', 'b2', 'b3'].flatMap((trace) =>
    simulated.sessions.map((session) => ({ ...session, dataset: trace[0]!, group: trace, trace })),
  );
  const { tool, scenario } = simulated;
  const read = await reported('spread', assembleResults({ tool, scenario, sessions }));
  const { document } = parseHTML(read('index.html'));
  expect([...document.querySelectorAll('figure > p')].map(({ textContent }) => textContent)).toEqual(['b']);
  expect(read('report.md')).toContain('One recording, so no intervals: a.');
});

test('the same results give the same bytes', async () => {
  expect((await report('again', 'simulated.json', 'browser.json')).status).toBe(0);
  for (const file of ['index.html', 'report.md', 'sessions.csv']) {
    expect(readFileSync(at('again', file), 'utf8')).toBe(readFileSync(at('both', file), 'utf8'));
  }
});

test('a single session gives a report', async () => {
  // Written by hand, so that the summary has rows of sessions that are not there.
  const few = { ...simulated, sessions: simulated.sessions.slice(1, 2) };
  writeFileSync(at('few.json'), `\ufeff${JSON.stringify(few, null, 2)}`);
  const { status, stderr } = await report('few', 'few.json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('report.md') });
  expect(readFileSync(at('few/index.html'), 'utf8')).not.toMatch(/NaN|undefined|Infinity/);
});

test('wrong input ends with status 2 and writes nothing', async () => {
  put(at('refused/index.html'), 'before');
  const refusedFiles = async (files: string[], message: RegExp) => {
    await refused(report('refused', ...files), message);
    expect(readdirSync(at('refused'))).toEqual(['index.html']);
    expect(readFileSync(at('refused/index.html'), 'utf8')).toBe('before');
  };
  const text = readFileSync(at('simulated.json'), 'utf8');
  for (const [wrong, message] of [
    [text.split('\n').slice(0, 6).join('\n'), /wrong\.json:6: expected a session or the end of the list, got the end/],
    [text.replace('"stallCount":', '"stallCount":-'), /wrong\.json:5: sessions\[0\]\.stallCount: expected a whole/],
    [resultsJson({ ...simulated, sessions: [], summary: [] }), /wrong\.json: sessions: expected at least one session/],
    [resultsJson({ ...simulated, tool: { ...simulated.tool, seed: 9 } }), /wrong\.json: tool\.seed: expected/],
  ] as const) {
    writeFileSync(at('wrong.json'), wrong);
    await refusedFiles(['simulated.json', 'wrong.json'], message);
  }
  await refused(report('new/report', 'nowhere.json'), /results: expected a readable file/);
  expect(existsSync(at('new'))).toBe(false);
  await refusedFiles(['nowhere.json'], /results: expected a readable file, got .*nowhere\.json/);
  await refusedFiles(['.'], /expected a readable file/);
  await refusedFiles(['simulated.json', 'simulated.json'], /expected each file once/);
  await refused(run(['report', at('simulated.json'), '--out', TRACE]), '--out: expected a folder that can be written');
  expect(existsSync(join(TRACE, 'index.html'))).toBe(false);
});

test('numbers have a typographic minus, and zero has none', () => {
  expect([-1.234, -0.001, undefined, Number.NaN].map((value) => fixed(value, 2))).toEqual(['−1.23', '0.00', '–', '–']);
  expect([signed(1.2, 1), signed(0.01, 1), signed(-2, 0)]).toEqual(['+1.2', '0.0', '−2']);
});

test('an estimate is strong if its interval lies on one side', () => {
  const cell = (low: number, high: number, isDifference = true) =>
    estimateCell({ value: 1, ci95: [low, high] }, { digits: 1, isDifference });
  expect(cell(0.5, 2)).toEqual({ text: '+1.0 (+0.5 to +2.0)', strong: true });
  expect(cell(-2, -1)).toMatchObject({ strong: true });
  expect(cell(-0.5, 2)).toMatchObject({ strong: false });
  expect(cell(0.5, 2, false)).toEqual({ text: '1.0 (0.5 to 2.0)', strong: false });
  expect(cell(0.96, 1.04)).toEqual({ text: '+1.0', strong: true });
  expect(estimateCell({ value: 1, ci95: null }, { digits: 1 })).toBe('+1.0');
  expect(estimateCell(null, { digits: 1 })).toBe('–');
  expect(scaled({ value: 1, ci95: [-2, 3] }, -10)).toEqual({ value: -10, ci95: [-30, 20] });
});

test('algorithms of a report differ by colour or symbol', () => {
  const parts = ['mpc-l:no-abandon', 'mpc-l:no-handover'];
  const names = ['mpc-d', 'mpc-l', 'mpc-o', 'bola', 'throughput', 'dynamic', 'own', ...parts];
  const styles = seriesStyles(names);
  const looks = names.map((name) => styles.get(name)!);
  expect(new Set(looks.map(({ color, symbol }) => `${color} ${symbol}`)).size).toBe(names.length);
  expect(styles.get('mpc-l:no-abandon')!.color).toBe(styles.get('mpc-l')!.color);
  // Other algorithms do not change the look of a known algorithm.
  expect(seriesStyles(['bola', 'mpc-d']).get('mpc-d')).toEqual(styles.get('mpc-d'));
});

/** Sessions of `mpc-d` (algorithm 0) and `mpc-l` (algorithm 1) on nine recordings. */
const played = (of: (algorithm: number, i: number) => Partial<SessionResult> & { qoeLinear?: number }) =>
  ['mpc-d', 'mpc-l'].flatMap((algorithm, a) =>
    Array.from({ length: 9 }, (_, i) => testSession({ algorithm, trace: `t${i}`, group: `g${i}`, ...of(a, i) })),
  );

/** A session with a segment of this many GB per hour, which discards others. */
function data(kept: number, wasted: number, segmentSeconds = 4): Partial<SessionResult> {
  const bits = (gigabytes: number) => (gigabytes * 8e9 * segmentSeconds) / 3600;
  const { segments } = testSession();
  return { segments: segments.map((one) => ({ ...one, sizeBits: bits(kept) })), wastedBits: bits(wasted) };
}

test('aligned columns, dashes for values that do not apply, notes below', () => {
  const sessions = played((a, i) => ({
    // MPC-L plays segments of half the size, and discards as much again as half a segment.
    ...data(1 - a / 2, (a / 2) * (i % 2)),
    qoeLinear: 50 + (i % 3) + 5 * a,
    stallSeconds: (1 - a) * i,
    endedBy: i === 0 && a === 1 ? 'cutoff' : 'end',
  }));
  expect(summaryTable(testResults(sessions))).toMatchInlineSnapshot(`
"With \`mpc-l\` instead of \`mpc-d\` (9 pairs), perceived QoE is 2.5 higher (better: +2.5), stalled time is 4.00 s lower (better: −6.08 to −1.92) and 27.8 % less data is sent (better: −48.6 to −7.0).

algorithm  sessions  perceived  Mbit/s  GB / h  stalls, s  startup, s  perceived, difference
mpc-d             9       25.5    3.00    1.00       4.00        1.00                      –
mpc-l             9       28.0    3.00    0.72       0.00        1.00                   +2.5
Differences are from mpc-d. 95 % intervals resample 9 groups of set.
set, mpc-l: 1 cut off.
"
`);
  expect(summaryTable(testResults([]))).toBe('');
  expect(summaryTable(testResults(sessions.slice(9)))).toContain('No session of mpc-d (--baseline), so');
});

test('several data sets have a column, and those with too few sessions are named', () => {
  const sessions = ['a', 'b'].flatMap((dataset) =>
    played(() => ({ dataset })).filter((_, i) => dataset === 'a' || i % 9 < 1),
  );
  const [, titles, row, ...others] = summaryTable(testResults(sessions)).split('\n').slice(1);
  const firstCells = [titles, row].map((line) => line!.split(/ {2,}/, 3).join());
  expect(firstCells).toEqual(['recordings,algorithm,sessions', 'a,mpc-d,9']);
  expect(others.slice(5)).toEqual([
    'Differences are from mpc-d. 95 % intervals resample 9 groups of a, 10 groups or recordings of all data sets. ' +
      'One recording, so no intervals: b.',
    'Fewer than 8 sessions per algorithm decide nothing: b.',
    '',
  ]);
});

test('live sessions have columns of their own', () => {
  const sessions = played((a) => ({
    ...data(2 - a, a / 4, 2),
    meanBitrateBps: 3e6 + a * 5e5,
    live: testLiveMetrics({ latencySecondsMean: 1.2 + a / 10 }),
  }));
  const [verdict, , titles, , row] = summaryTable(testResults(sessions), { wide: true }).split('\n');
  expect(verdict).toBe(
    'With `mpc-l` instead of `mpc-d` (9 pairs), 37.5 % less data is sent (better: −37.5) and latency is 0.10 s higher ' +
      '(worse: +0.10). No difference was found in QoE (0.00) and stalled time (0.00 s/min).',
  );
  const [titleCells, cellsOf] = [titles, row].map((line) => line!.trim().split(/ {2,}/));
  const cells = Object.fromEntries(titleCells!.map((title, i) => [title, cellsOf![i]]));
  expect(Object.entries(cells)).toEqual(
    Object.entries({
      ...{
        algorithm: 'mpc-l',
        sessions: '9',
        perceived: '5.0',
        quality: '60.9',
        QoE: '20.00',
        'Mbit/s': '3.50',
        'GB / h': '1.25',
        'stalls / min': '0.00',
        'below 0.1 s / min': '0.00',
      },
      ...{ 'stall s / min': '0.50', 'latency, s': '1.30', 'latency p95, s': '1.50', 'off rate 1, %': '25.0' },
      ...{ 'perceived, difference': '0.0', 'QoE, difference': '0.00', 'Mbit/s, difference': '+0.50' },
      'data, %, difference': '−37.5',
      ...{ 'stalls / min, difference': '0.00', 'stall s / min, difference': '0.00', 'latency, s, difference': '+0.10' },
    }),
  );
});

test('the data that are saved are those that the own algorithm of the same player sends more', () => {
  const gigabytes = { dynamic: 2, 'mpc-l': 1.5, 'shaka@shaka': 1, 'mpc-l@shaka': 1.25, 'mpc-l@hls': 3 };
  const sessions = Object.entries(gigabytes).map(([algorithm, kept]) => testSession({ algorithm, ...data(kept, 0) }));
  const saved = summaryFigures({ ladderBps: [1e6] }).means.find(({ title }) => title === 'data saved, %')!;
  const of = (all: SessionResult[]) => shownRows(testResults(all).summary).map((row) => saved.of(row));
  expect(of(sessions)).toEqual([undefined, expect.closeTo(25), undefined, expect.closeTo(-25), undefined]);
  const live = ['throughput', 'mpc-l'].map((algorithm, i) =>
    testSession({ algorithm, live: testLiveMetrics(), ...data(2 - i, 0) }),
  );
  expect(of(live)).toEqual([undefined, expect.closeTo(50)]);
});
