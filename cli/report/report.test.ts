/** `leo-abr report` writes files for results of simulator and browser, and refuses wrong input. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';
import { newPart } from '../../replay/browser/bench-notes.ts';
import { assembleResults, resultsJson } from '../../replay/evaluation/documents/assemble-results.ts';
import { parseResults } from '../../replay/evaluation/documents/parse-results.ts';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import type { Results } from '../../replay/results.ts';
import { refused, run, TRACE } from '../shared/run.fixture.ts';

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

beforeAll(async () => {
  const flags = ['--traces', TRACE, '--algorithms', ALGORITHMS, '--scenario', 'uhd-8', '--starts', 'every:4'];
  expect((await run(['simulate', ...flags, '--out', at('simulated.json')])).status).toBe(0);
  simulated = parseResults(readFileSync(at('simulated.json'), 'utf8'), 'simulated.json');
  writeFileSync(at('browser.json'), resultsJson(browserResults(simulated)));
});

describe('the page', () => {
  let page: Page;
  let source: string;
  beforeAll(async () => {
    const { status, stderr, stdout } = await report('both', 'simulated.json', 'browser.json');
    expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: expect.stringContaining('report.md'), stdout: '' });
    source = readFileSync(at('both/index.html'), 'utf8');
    page = parseHTML(source).document;
  });

  test('has every section', () => {
    expect(headingsOf(page)).toEqual([
      ...['QoE by algorithm', 'uhd-8, simulator', ...OF_RUN, 'uhd-8, browser', ...OF_RUN],
      'How it was made',
    ]);
  });

  test('opens with a picture per run and data set, before contents, tables and numbers', () => {
    const main = page.querySelector('main')!;
    const [opening, contents] = [...main.children];
    expect(contents!.nodeName).toBe('NAV');
    expect(page.querySelector('header')!.textContent!.trim()).toBe('Benchmark: uhd-8');
    expect([...opening!.children].map(({ nodeName }) => nodeName).slice(0, 2)).toEqual(['H2', 'DIV']);
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
  test('has whole tables, forbids to load anything, and escapes what comes from outside', () => {
    for (const table of page.querySelectorAll('table')) {
      const columns = table.querySelectorAll('thead th').length;
      for (const row of table.querySelectorAll('tbody tr')) expect(row.children.length).toBe(columns);
    }
    expect(source).toContain("default-src 'none'");
    expect(source).not.toMatch(/NaN|undefined|Infinity/);
    expect(source).toContain('147.0 &lt;beta&gt;');
    expect(page.querySelector('main')!.textContent).toContain('1 run rejected and repeated');
  });

  test('splits the difference of QoE into parts that add up to it', () => {
    const rows = rowsOf(page, 'Pairs of');
    expect(rows.map(([algorithm]) => algorithm)).toEqual(ALGORITHMS.split(',').slice(1));
    for (const row of rows) {
      const [qoe, ...parts] = row.slice(1, 6).map((cell) => Number.parseFloat(cell!.replaceAll('−', '-')));
      expect(Math.abs(qoe! - parts.reduce((sum, part) => sum + part, 0))).toBeLessThan(0.03);
    }
    expect(rows.some((row) => Number.parseFloat(row[2]!.replaceAll('−', '-')) > 1)).toBe(true);
  });
});

test('the Markdown has the same tables', async () => {
  const text = readFileSync(at('both/report.md'), 'utf8');
  const tables = text.split('\n').filter((line) => /^\| -/.test(line));
  const page = readFileSync(at('both/index.html'), 'utf8');
  expect(tables.length).toBe(page.match(/<table>/g)!.length);
  for (const block of text.matchAll(/^\|.*\n(?:\|.*\n)+/gm)) {
    const widths = block[0]
      .trim()
      .split('\n')
      .map((line) => line.replaceAll('\\|', '').split('|').length);
    expect(new Set(widths).size).toBe(1);
  }
  expect(text).not.toMatch(/NaN|undefined/);
});

test('states the number of segments, also of short recordings', async () => {
  const overview = async (results: Results) => (await reported('lengths', results))('report.md');
  expect(await overview(simulated)).toContain('120 Mbit/s, 48 segments of 4 s,');
  const [first, ...others] = simulated.sessions;
  const short = { ...first!, segments: first!.segments.slice(0, 13) };
  const text = await overview({ ...simulated, sessions: [short, ...others] });
  expect(text).toContain('120 Mbit/s, 13 to 48 segments of 4 s,');
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

describe('live results', () => {
  const html = () => parseHTML(readFileSync(at('live/index.html'), 'utf8')).document;

  beforeAll(async () => {
    for (const target of [1, 3]) {
      const flags = ['--traces', TRACE, '--algorithms', 'mpc-d,throughput', '--scenario', `live-hd-${target}`];
      const out = at(`live-${target}.json`);
      expect((await run(['simulate', ...flags, '--starts', 'at:0,30', '--out', out])).status).toBe(0);
    }
    expect((await report('live', 'live-3.json', 'live-1.json')).status).toBe(0);
  });

  test('have the sections that mean something for them', () => {
    const page = html();
    expect(headingsOf(page)).toEqual([
      ...['QoE by algorithm', 'live-hd-3, simulator', ...OF_RUN, 'live-hd-1, simulator', ...OF_RUN],
      'How it was made',
    ]);
    expect(page.toString()).not.toMatch(/NaN|undefined|Infinity/);
    const text = page.querySelector('main')!.textContent!;
    expect(text).toContain('live with a target latency of 3 s: up to 180 s from the join');
    expect(text).toContain('scenario.live.playbackRates.max1.05');
    expect(text).toMatch(/throughput against mpc-d over 2 pairs: stalls per minute /);
  });

  test('have their own columns in the CSV; results on demand have none of them', () => {
    const [head, row] = readFileSync(at('live/sessions.csv'), 'utf8').split('\n');
    const columns = head!.split(',');
    expect(row!.split(',')[columns.indexOf('targetLatencySeconds')]).toBe('3');
    expect(columns).toEqual(expect.arrayContaining(['live.qoe', 'live.latencySecondsMean', 'live.jumps']));
    expect(readFileSync(at('both/sessions.csv'), 'utf8')).not.toMatch(/targetLatency|live/);
  });
});

test('several data sets share the tables; those with one recording have no figure', async () => {
  const of = (recordings: Readonly<Record<string, number>>): Results => {
    const sessions = Object.entries(recordings).flatMap(([dataset, n]) =>
      Array.from({ length: n }, (_, i) =>
        simulated.sessions.map((session) => ({ ...session, dataset, group: `${i}`, trace: `${dataset}-${i}` })),
      ).flat(),
    );
    return assembleResults({ tool: simulated.tool, scenario: simulated.scenario, sessions });
  };
  const titlesOf = async (results: Results) => {
    const { document } = parseHTML((await reported('spread', results))('index.html'));
    return [...document.querySelectorAll('figure > p')].map(({ textContent }) => textContent);
  };
  expect(await titlesOf(of({ a: 1, c: 1 }))).toEqual(['all data sets']);
  expect(await titlesOf(of({ a: 1, b: 3 }))).toEqual(['b']);
  const text = readFileSync(at('spread/report.md'), 'utf8');
  expect(text).toContain('95 % intervals resample 3 recordings of b, 4 recordings of all data sets.');
  expect(text).toContain('One recording, so no intervals: a.');
});

test('the same results give the same bytes', async () => {
  for (const out of ['one', 'two']) expect((await report(out, 'simulated.json')).status).toBe(0);
  for (const file of ['index.html', 'report.md', 'sessions.csv']) {
    expect(readFileSync(at(`two/${file}`), 'utf8')).toBe(readFileSync(at(`one/${file}`), 'utf8'));
  }
});

test('a single session gives a report', async () => {
  const few = { ...simulated, sessions: simulated.sessions.slice(1, 2), summary: simulated.summary.slice(1, 2) };
  writeFileSync(at('few.json'), JSON.stringify(few, null, 2));
  const { status, stderr } = await report('few', 'few.json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('report.md') });
  expect(readFileSync(at('few/index.html'), 'utf8')).not.toMatch(/NaN|undefined|Infinity/);
});

describe('wrong input ends with status 2 and writes nothing', () => {
  const json = () => readFileSync(at('simulated.json'), 'utf8');
  const refusedFiles = async (files: string[], message: RegExp) => {
    rmSync(at('refused'), { recursive: true, force: true });
    mkdirSync(at('refused'));
    writeFileSync(at('refused/index.html'), 'before');
    await refused(report('refused', ...files), message);
    expect(readdirSync(at('refused'))).toEqual(['index.html']);
    expect(readFileSync(at('refused/index.html'), 'utf8')).toBe('before');
  };

  test('a file without its end, one with a wrong field, and one without a session', async () => {
    const refusedText = (text: string, message: RegExp) => {
      writeFileSync(at('wrong.json'), text);
      return refusedFiles(['wrong.json'], message);
    };
    const unfinished = json().split('\n').slice(0, 6).join('\n');
    await refusedText(unfinished, /wrong\.json:6: expected a session or the end of the list, got the end of the file/);
    const negative = json().replace('"stallCount":', '"stallCount":-');
    await refusedText(negative, /wrong\.json:5: sessions\[0\]\.stallCount: expected a whole number >= 0, got -/);
    const empty = resultsJson({ ...simulated, sessions: [], summary: [] });
    await refusedText(empty, /wrong\.json: sessions: expected at least one session, got none/);
  });

  test('files that are missing, folders, given twice, or of another benchmark', async () => {
    await refusedFiles(['nowhere.json'], /results: expected a readable file, got .*nowhere\.json/);
    await refusedFiles(['.'], /expected a readable file/);
    await refusedFiles(['simulated.json', 'simulated.json'], /expected each file once/);
    writeFileSync(at('seed.json'), resultsJson({ ...simulated, tool: { ...simulated.tool, seed: 9 } }));
    await refusedFiles(['simulated.json', 'seed.json'], /seed\.json: tool\.seed: expected/);
  });

  test('an --out that is a file', async () => {
    const ending = run(['report', at('simulated.json'), '--out', TRACE]);
    await refused(ending, '--out: expected a folder that can be written');
    expect(existsSync(join(TRACE, 'index.html'))).toBe(false);
  });
});
