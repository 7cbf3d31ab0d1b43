import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { PERCEIVED_PRICES } from '../abr/qoe/perceived-qoe.ts';
import type { ModelFile } from '../predictor/forecast/model-file.ts';
import { SHIPPED_FILE } from '../predictor/forecast/shipped-file.fixture.ts';
import { parseResults } from '../replay/evaluation/documents/parse-results.ts';
import { put, temporaryFolder } from '../replay/folder.fixture.ts';
import { readTraces } from '../replay/formats/trace-files.ts';
import type { Results } from '../replay/results.ts';
import { SCENARIOS } from '../replay/scenarios.ts';
import type { CommandIo } from './shared/command-io.ts';
import { refused, run, TRACE } from './shared/run.fixture.ts';

const at = temporaryFolder('file');
let traces: string;

beforeAll(() => {
  traces = at('traces');
  mkdirSync(join(traces, 'deeper'), { recursive: true });
  cpSync(TRACE, join(traces, 'a.csv'));
  cpSync(TRACE, join(traces, 'deeper', 'b.csv'));
});

/** Runs `simulate` on the two small traces. Flags replace the defaults. */
function simulate(flags: Record<string, string | true> = {}, io?: Partial<CommandIo>) {
  const all: typeof flags = { traces, algorithms: 'mpc-d,mpc-o', scenario: 'uhd-8', out: '-', ...flags };
  const args = Object.entries(all).flatMap(([flag, value]) => (value === true ? [`--${flag}`] : [`--${flag}`, value]));
  return run(['simulate', ...args], io);
}

/** The results that `simulate` prints. */
async function played(flags: Record<string, string | true> = {}): Promise<Results> {
  const { status, stdout } = await simulate(flags);
  expect(status).toBe(0);
  return parseResults(stdout, 'stdout');
}

const read = (name: string) => readFileSync(at(name), 'utf8');

/** Reports results; returns the text of the report. */
async function reported(results: string): Promise<string> {
  expect((await run(['report', results, '--out', at('report')])).status).toBe(0);
  return read('report/report.md');
}

const write = (name: string, content: unknown) =>
  writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content));

test('simulate prints results in the schema on standard output, and nothing else there', async () => {
  const { status, stdout, stderr } = await simulate();
  expect(stderr).toContain('4 of 4 sessions');
  expect(status).toBe(0);
  const { schema, sessions, tool, summary } = parseResults(stdout, 'stdout');
  expect(schema).toBe(1);
  const names = sessions.map(({ trace, algorithm }) => `${trace} ${algorithm}`);
  expect(names).toEqual(['a mpc-d', 'a mpc-o', 'b mpc-d', 'b mpc-o']);
  expect(sessions[0]!.segments).toHaveLength(48);
  expect(sessions[0]!.decisionMicros).toBeUndefined();
  expect(tool).toMatchObject({ name: 'leo-abr', command: 'simulate', seed: 1, baseline: 'mpc-d' });
  expect(tool).not.toHaveProperty('complete');
  expect(summary.map((row) => row.algorithm)).toEqual(['mpc-d', 'mpc-o']);
});

test('--target-latency replaces the target of a live scenario, and says so in the scenario', async () => {
  const flags = { scenario: 'live-hd-5', segments: '40', algorithms: 'mpc-d,mpc-d:lolp-catch-up' };
  const { stdout, stderr } = await simulate({ ...flags, 'target-latency': '1.5' });
  expect(stderr).toMatch(/algorithm +sessions +perceived +QoE +Mbit\/s +GB \/ h +stall s \/ min +latency, s/);
  const { schema, scenario, sessions, summary } = parseResults(stdout, 'stdout');
  expect([schema, scenario.live!.targetLatencySeconds]).toEqual([2, 1.5]);
  // Stalls add to the latency of both targets, so only the difference shows the target.
  for (const [i, { live }] of (await played(flags)).sessions.entries()) {
    expect(sessions[i]!.live!.latencySecondsMean).toBeLessThan(live!.latencySecondsMean - 1.5);
  }
  expect(summary[1]!.live!.latencySecondsMean).not.toBe(summary[0]!.live!.latencySecondsMean);
  expect(summary[1]!.vsBaseline!.live!.latencySecondsDiff.value).toBeDefined();
});

test('plays a scenario of a file with a ladder of one: real sizes, and perceived QoE of real qualities', async () => {
  const representations = { only: { bitrateBps: 5e6, bytes: Array(20).fill(1e6), quality: Array(20).fill(50) } };
  write('quality.json', { schema: 'leo-abr-quality/1', metric: 'vmaf_v0.6.1', segmentSeconds: 4, representations });
  write('measured.json', { media: 'quality.json', bufferCapSeconds: 10, rttSeconds: 0.05 });
  const flags = { scenario: at('measured.json'), segments: '10' };
  const { scenario, sessions } = await played(flags);
  expect(scenario).toMatchObject({ segmentCount: 10, qualities: Array(10).fill([50]) });
  for (const { segments, qoe, startupSeconds, stallSeconds } of sessions) {
    expect(segments.map(({ sizeBits }) => sizeBits)).toEqual(Array(10).fill(8e6));
    expect(stallSeconds).toBe(0);
    expect(qoe.perceived).toBeCloseTo(50 - (PERCEIVED_PRICES.startupSecond * startupSeconds) / 10, 4);
  }
  write('measured.json', { media: 'none.json', bufferCapSeconds: 10, rttSeconds: 0.05 });
  await refused(simulate(flags), /measured.json: media: expected a readable file, got .*none.json/);
});

const csv = (rates: readonly (number | '')[]) =>
  `time_s,throughput_mbps\n${rates.map((rate, i) => `${i},${rate}\n`).join('')}`;
const flat = (seconds: number, rate: number | '') => Array<number | ''>(seconds).fill(rate);

test('a short piece between blanks is left out and named, in the results and the report too', async () => {
  write('blanks.csv', csv([...flat(14, 3), ...flat(2, ''), ...flat(300, 20)]));
  const out = at('blanks.json');
  const { status, stderr } = await simulate({ traces: at('blanks.csv'), starts: 'every:61', out });
  expect(status).toBe(0);
  expect(stderr).toContain(
    '1 starts left out; expected a trace of 48 s or more (232 s after the start for a whole session of uhd-8):\n' +
      '  blanks#1 at 0 s: no room for a session in 14 s\n',
  );
  const { sessions, tool, summary } = parseResults(read('blanks.json'), out);
  expect(new Set(sessions.map(({ trace }) => trace))).toEqual(new Set(['blanks#2']));
  const leftOut = { trace: 'blanks#1', startSeconds: 0, reason: 'no room for a session in 14 s' };
  expect(tool.leftOut).toEqual([{ dataset: basename(at()), ...leftOut }]);
  expect(summary.every(({ qoeMean }) => qoeMean > 0)).toBe(true);
  expect(await reported(out)).toContain('- 1 start left out: blanks#1 at 0 s (no room for a session in 14 s).');
});

test('a scenario by name scales data sets, not own traces; --scale and a scenario file decide for all', async () => {
  write('mine.csv', csv(flat(240, 20)));
  write('file.json', { ...SCENARIOS['hd-16'], traceScale: { factor: 0.25 } });
  const mine = { traces: at('mine.csv'), algorithms: 'throughput', scenario: 'hd-16', segments: '12' };
  for (const [flags, factor, said] of [
    [
      {},
      1,
      '1 trace is your own and plays as recorded (--scale scenario: the rates of all links are multiplied by 0.25)',
    ],
    [{ scale: 'scenario' }, 0.25, 'hd-16: the rates of all links are multiplied by 0.25 (--scale 1: as recorded)'],
    [{ scenario: at('file.json') }, 0.25, 'hd-16: the rates of all links are multiplied by 0.25'],
    [{ scale: 'mean:10' }, 0.5, 'hd-16: each link scaled to a mean of 10 Mbit/s'],
    [{ traces, scale: '1' }, undefined, ''],
    [{ traces: TRACE }, undefined, 'hd-16: the rates of all links are multiplied by 0.25'],
  ] as const) {
    const { stderr, stdout } = await simulate({ ...mine, ...flags });
    expect(stderr.split('playing')[0]).toContain(said);
    const { sizeBits, downloadSeconds } = parseResults(stdout, 'stdout').sessions[0]!.segments.at(-1)!;
    if (factor !== undefined) expect(sizeBits / downloadSeconds / (0.95 * 20e6 * factor)).toBeCloseTo(1, 1);
  }
  await refused(simulate({ ...mine, scale: 'half' }), '--scale: expected scenario, a factor above 0, or mean:<Mbit/s>');
});

test.each([
  ['a session', {}, 1],
  ['a household', { household: 'two' }, 2],
])('%s that runs into the beginning of the trace is counted', async (_, flags, sessionCount) => {
  // The sessions need the last minute, in which the link carries nothing.
  write('dry.csv', csv([...flat(180, 20), ...flat(60, 0)]));
  const out = at('past.json');
  const { stdout } = await simulate({ traces: at('dry.csv'), algorithms: 'mpc-d,throughput', out, ...flags });
  const { sessions, summary } = parseResults(read('past.json'), out);
  expect(sessions.every(({ pastTraceSeconds = 0 }) => pastTraceSeconds > 0)).toBe(true);
  expect(summary.map(({ pastTrace }) => pastTrace)).toEqual([sessionCount, sessionCount]);
  expect(stdout).toContain(`mpc-d: ${sessionCount} ran past the trace's end, into its beginning`);
  const note = /`mpc-d`: \d sessions? ran past the end of the recording, which then began again, by up to \d+\.\d s\./;
  expect(await reported(out)).toMatch(note);
});

test('the same seed gives the same bytes, in shards and merged too', async () => {
  const flags = { starts: 'every:32', seed: '7', segments: '12' };
  expect(await simulate({ ...flags, out: at('whole.json') })).toMatchObject({
    ...{ status: 0, stdout: expect.stringMatching(/^With `mpc-o` instead of `mpc-d` \(\d+ pairs\), .*\n\nalgorithm /) },
    stderr: expect.not.stringContaining('algorithm '),
  });
  const text = read('whole.json');
  expect((await simulate(flags)).stdout).toBe(text);
  for (const i of [1, 2, 3]) {
    expect((await simulate({ ...flags, shard: `${i}/3`, out: at(`shard-${i}.json`) })).status).toBe(0);
  }
  const shards = [3, 1, 2].map((i) => at(`shard-${i}.json`));
  expect((await run(['merge', ...shards, '--out', at('merged.json')])).status).toBe(0);
  expect(read('merged.json')).toBe(text);
  const twice = await run(['merge', ...shards, at('whole.json'), '--out', '-']);
  expect(twice.stdout).toBe(text);
  expect(twice.stderr).toMatch(/^24 sessions were played twice, with the same result\n/);
  const { stdout: other } = await run(['merge', ...shards, '--baseline', 'mpc-o', '--out', '-']);
  expect(parseResults(other, 'stdout').summary.map(({ vsBaseline }) => vsBaseline === null)).toEqual([false, true]);
  const unknown = await run(['merge', ...shards, '--baseline', 'bola']);
  expect(unknown.stderr).toContain('--baseline: expected an algorithm of the results, got "bola"');
});

test('merge refuses an incomplete or mixed set of shards, and says all that is wrong', async () => {
  const shard = async (i: number, flags: Record<string, string> = {}) => {
    await simulate({ starts: 'every:4', shard: `${i}/3`, out: at(`part-${i}.json`), ...flags });
    return at(`part-${i}.json`);
  };
  const [first, second] = [await shard(1), await shard(2)];
  const lines = read('part-2.json').replace('"work"', '"complete":false,"work"').split('\n');
  write('part-2.json', lines.slice(0, 6).join('\n'));
  const missing = `expected all parts of one run, got ${second} is not complete (2 sessions); shard 3/3 is missing\n`;
  await refused(run(['merge', second, first, '--out', at('none.json')]), missing);
  expect(existsSync(at('none.json'))).toBe(false);

  write('part-9.json', read('part-1.json').replace('"shard":"1/3"', '"shard":"1/99999999999"'));
  await refused(
    run(['merge', at('part-9.json')]),
    `${at('part-9.json')}: tool.shard: expected i/n with 1 <= i <= n <=`,
  );
  await shard(2, { algorithms: 'mpc-d' });
  const third = await shard(3);
  write('part-3.json', read('part-3.json').replace(/"commit":(null|"[^"]*")/, '"commit":"abc"'));
  await refused(
    run(['merge', first, second, third]),
    `got ${second} has another set of recordings, starts, algorithms or models than ${first}; ${third} has another commit than ${first}\n`,
  );
  cpSync(traces, at('other'), { recursive: true });
  write('other/a.csv', readFileSync(TRACE, 'utf8').replace(/\n(\d+(?:\.\d+)?),\d+/, '\n$1,1'));
  await shard(2, { traces: at('other') });
  await refused(run(['merge', first, second, await shard(3)]), `${second} has another set of`);
});

test('a killed command keeps every finished session, which --resume does not play again', async () => {
  const flags = { starts: 'every:4', algorithms: 'mpc-d,throughput', household: 'two', segments: '12' };
  const whole = (await simulate(flags)).stdout;
  const [schema, tool, scenario, begin, ...sessions] = whole.split('\n');
  const head = [schema, tool!.replace(/\},$/, ',"complete":false},'), scenario, begin];
  // The file has one of three households twice and parts of another one. Its last line is torn.
  const [a, b, c, d, e, f] = sessions;
  write('killed.json', [...head, c, d, a, b, c, d, e, f!.slice(0, 200)].join('\n'));
  const resumed = await simulate({ ...flags, out: at('killed.json'), resume: true });
  expect(resumed.stderr).toMatch(/^4 of \d+ sessions were done before; those that were under way are played again\n/);
  expect(read('killed.json')).toBe(whole);
  write('two.json', '{ "players": [{}, { "joinSeconds": 5 }] }');
  const another = simulate({ ...flags, out: at('killed.json'), resume: true, household: at('two.json') });
  await refused(another, 'killed.json: tool.household: expected ');
});

test('compare finds the sessions with other choices, and those of one file alone', async () => {
  const { stdout } = await simulate({ segments: '12', starts: 'at:0,4' });
  const results = JSON.parse(stdout) as Results;
  const compare = (sessions: Results['sessions']) => {
    write('before.json', stdout);
    write('after.json', { ...results, sessions });
    return run(['compare', at('before.json'), at('after.json')]);
  };
  const same = await compare(results.sessions);
  expect(same.status).toBe(0);
  expect(same.stdout).toMatch(/^mpc-d: \d+ sessions in both, 0 differ\n/);
  const [first, ...rest] = results.sessions;
  const [segment, ...segments] = first!.segments;
  const changed = { ...first!, segments: [{ ...segment!, abandonedBits: 8 }, ...segments] };
  const other = await compare([changed, ...rest.slice(1)]);
  expect(other.status).toBe(1);
  expect(other.stdout).toMatch(/: segment 0: ([\d.]+ Mbit\/s), then \1 after 8 abandoned bits\n/);
  expect(other.stdout).toContain(': only in the first file\n');
  // Data sets may have recordings of the same name.
  const { stdout: more } = await compare([...results.sessions, { ...first!, dataset: 'other' }]);
  expect(more).toMatch(/ of other from .*: only in the second file\n/);
});

test('verdicts and a table of nine columns are printed, all with --wide; without --out with a note on the JSON', async () => {
  const { stdout: results, stderr: table } = await simulate({ segments: '12' });
  write('with-out.json', results);
  // `simulate()` above always has `--out`.
  const args = ['--traces', traces, '--algorithms', 'mpc-d,mpc-o', '--scenario', 'uhd-8', '--segments', '12'];
  for (const [command, given] of Object.entries({ simulate: args, merge: [at('with-out.json')] })) {
    const { status, stdout, stderr } = await run([command, ...given]);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^With `mpc-o` instead of `mpc-d` \(2 pairs\), .* stalled time .*\.\n\nalgorithm .*\nmpc-d +2 /,
    );
    expect(table.endsWith(stdout)).toBe(true);
    for (const line of stdout.split('\n').slice(2, 5)) expect(line.length).toBeLessThan(110);
    expect((await run([command, ...given, '--wide'])).stdout).toMatch(/^algorithm .* gap closed$/m);
    expect(stderr).toMatch(/For all sessions as JSON: --out <file>, or --out - for standard output\.\n$/);
  }
});

test('a scaled scenario and links below its lowest bitrate are named beside the figures, and links have rows', async () => {
  const out = at('slow.json');
  mkdirSync(at('links'), { recursive: true });
  cpSync(TRACE, at('links/fast.csv'));
  write('links/slow.csv', csv(flat(300, 2)));
  const { stdout: table } = await simulate({
    traces: at('links'),
    scenario: 'hd-16',
    segments: '12',
    scale: 'scenario',
    out,
  });
  expect(table).toContain(
    'In hd-16, the rates of all links are multiplied by 0.25. Slow links carry less than the lowest bitrate, 1 Mbit/s, in the mean ' +
      'over the session: 1 of 2 sessions per algorithm.\n',
  );
  expect(table).toMatch(/^links, slow links +mpc-d +1 /m);
  expect(table).toMatch(/^links, other links +mpc-d +1 /m);
  const { sessions, byLink, summary } = parseResults(read('slow.json'), out);
  expect(sessions.map(({ slowLinkBps }) => slowLinkBps)).toEqual([undefined, undefined, 475_000, 475_000]);
  expect(summary.map((row) => row.sessions)).toEqual([2, 2]);
  expect(byLink!.map(({ links, algorithm, sessions: count }) => `${links} ${algorithm} ${count}`)).toEqual([
    ...['slow mpc-d 1', 'slow mpc-o 1', 'other mpc-d 1', 'other mpc-o 1'],
  ]);
  expect(await reported(out)).toMatch(
    /rates of all links are multiplied by 0\.25[\s\S]*\| links, slow links \| mpc-d \|/,
  );
  const { stdout } = await run(['merge', out, '--out', '-']);
  expect(parseResults(stdout, 'merged').byLink).toEqual(byLink);
});

test('an interrupt without a file writes nothing', async () => {
  const onInterrupt: CommandIo['onInterrupt'] = (callback) => {
    const timer = setTimeout(callback, 1);
    return () => clearTimeout(timer);
  };
  const { status, stdout, stderr } = await simulate({ starts: 'every:0.5' }, { onInterrupt });
  expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
  expect(stderr).toContain('nothing was written');
});

test('a household of a file: shards merge to the same bytes, a report has its table, others are refused', async () => {
  write('ours.json', '\ufeff{"players": [{}, {"algorithm": "bola", "joinSeconds": 4}]}');
  const flags = { algorithms: 'mpc-d,throughput', household: at('ours.json'), segments: '12' };
  const whole = (await simulate(flags)).stdout;
  const { sessions, households, summary } = parseResults(whole, 'whole');
  const names = sessions.map(({ algorithm }) => algorithm);
  expect(names.slice(0, 4)).toEqual(['mpc-d', 'bola', 'throughput', 'bola']);
  const two = ['mpc-d', 'throughput', 'mpc-d', 'throughput'].map((algorithm) => ({ algorithm, players: 2 }));
  expect(households).toMatchObject(two);
  expect(summary.find(({ algorithm }) => algorithm === 'mpc-d')!.sessions).toBe(2);
  for (const n of [1, 2]) await simulate({ ...flags, shard: `${n}/2`, out: at(`house-${n}.json`) });
  expect((await run(['merge', at('house-1.json'), at('house-2.json'), '--out', '-'])).stdout).toBe(whole);
  write('house.json', whole);
  const title = /uhd-8, simulator, household ours[\s\S]*\| players \| algorithm \| perceived/;
  expect(await reported(at('house.json'))).toMatch(title);
  expect(read('report/sessions.csv')).toMatch(/,ours,mpc-d,1,4,/);

  await simulate({ ...flags, household: 'two', out: at('house-two.json') });
  await refused(run(['merge', ...['1', '2', 'two'].map((part) => at(`house-${part}.json`))]), 'tool.household');
});

test('--resume without earlier results plays everything; --timings adds how long decisions took', async () => {
  const { status, stderr } = await simulate({ out: at('new.json'), resume: true, timings: true });
  expect(status).toBe(0);
  expect(stderr).toContain('nothing to resume');
  expect(parseResults(read('new.json'), 'new.json').sessions[0]!.decisionMicros!.p50).toBeGreaterThan(0);
});

test('plays each recording group with the model of its fold', async () => {
  // Unlike the shipped model, this model ignores the second feature.
  const [{ weights, scales }, ...later] = SHIPPED_FILE.layers as [ModelFile['layers'][0], ...ModelFile['layers']];
  const outputs = weights.length / scales.length;
  const ignoring = weights.slice(0, outputs) + 'f'.repeat(outputs) + weights.slice(2 * outputs);
  write('model.json', { ...SHIPPED_FILE, layers: [{ weights: ignoring, scales }, ...later] });
  write('folds.json', { a: 'model.json', b: 'model.json', golden: 'model.json' });
  const algorithms = 'mpc-l,mpc-l@built-in,mpc-l@shipped';
  const flags = { algorithms, baseline: 'mpc-l@shipped', segments: '24' };
  const folded = { ...flags, 'fold-models': at('folds.json') };
  const { sessions } = await played(folded);
  const plain = (await played({ ...flags, algorithms: 'mpc-l', baseline: 'mpc-l' })).sessions;
  const qoe = (all: typeof sessions, name: string) =>
    all.flatMap(({ algorithm, qoe: { linear } }) => (algorithm === name ? [linear] : []));
  expect(qoe(sessions, 'mpc-l@shipped')).toEqual(qoe(plain, 'mpc-l'));
  expect(qoe(sessions, 'mpc-l@built-in')).toEqual(qoe(sessions, 'mpc-l'));
  expect(qoe(sessions, 'mpc-l')).not.toEqual(qoe(plain, 'mpc-l'));
  expect(sessions.every(({ segments }) => segments.at(-1)!.reason.includes('built-in'))).toBe(true);
  const out = at('folded.json');
  await simulate({ ...folded, out });
  write('model.json', SHIPPED_FILE);
  await refused(simulate({ ...folded, out, resume: true }), 'folded.json: tool.algorithmFiles: expected');
});

test.each([
  [{ golden: 'no-model.json' }, /no-model\.json/],
  [{}, /a model for each recording group/],
  [{ golden: 5 }, /folds\.json: golden: expected the name of a model file, got 5/],
])('refuses the map of models %j', async (folds, message) => {
  write('no-model.json', '{}');
  write('folds.json', folds);
  await refused(simulate({ 'fold-models': at('folds.json') }), message);
});

const live = { scenario: 'live-hd-1' };
test.each<[Record<string, string | true>, string | RegExp]>([
  [{ algorithms: 'mpc-x' }, /--algorithms: expected one of mpc-d, .*mpc-o.*, got "mpc-x"/],
  [{ algorithms: 'mpc-d,mpc-d' }, /each once, got "mpc-d,mpc-d"/],
  [{ algorithms: 'l2a' }, /got "l2a", which only a browser plays: leo-abr bench/],
  [{ algorithms: 'mpc-l@service' }, /a forecaster of the simulator, got "mpc-l@service"; .* leo-abr bench/],
  [{ algorithms: 'mpc-d@tea' }, /expected one of mpc-d@oracle.*, got "mpc-d@tea"/],
  [{ algorithms: 'mpc-d:lolp-catch-up' }, '--algorithms: expected a catch-up only in a live scenario'],
  [{ baseline: 'mcp-d' }, /--baseline: expected one of .*, got "mcp-d"; did you mean mpc-d\?/],
  [{ scenario: 'uhd8' }, /--scenario: expected one of .*, got "uhd8"; did you mean uhd-8\?/],
  [{ scenario: './none.json' }, /--scenario: expected a readable file, got .*none/],
  [{ traces: './none' }, /\.\/none: expected a file or folder/],
  [{ seed: '-1' }, /--seed: expected a whole number from 0 .*, got "-1"/],
  [{ jobs: '0' }, /--jobs: expected a whole number from 1 .*, got "0"/],
  [{ resume: true }, /--resume: expected an --out file to continue/],
  [{ flag: true }, /unknown option '--flag'/],
  [{ algoritms: 'mpc-l' }, /Did you mean --algorithms\?/],
  [{ 'target-latency': '2' }, '--target-latency: expected a live scenario (uhd-8 is on demand)'],
  [{ ...live, 'target-latency': '0.55' }, '--target-latency: expected more than 0.55 s'],
  [{ ...live, segments: '10' }, '--segments: expected a whole number from 11 to 100'],
])('simulate refuses %j', (flags, message) => refused(simulate(flags), message));

test('an output that cannot be written is refused before the first session', async () => {
  for (const out of [join(traces, 'a.csv', 'results.json'), traces, `${traces}/new/`, '/dev/null', '/proc/x/y']) {
    await refused(simulate({ out }), /--out: expected a file that can be written/);
  }
  const trace = join(traces, 'a.csv');
  await refused(simulate({ out: trace }), 'a.csv: it exists and holds no results; remove it, or name another file');
  expect(readFileSync(trace, 'utf8')).toBe(readFileSync(TRACE, 'utf8'));
  expect(readdirSync(traces)).toEqual(['a.csv', 'deeper']);
});

test('unknown command or missing arguments: status 2; help and version: status 0', async () => {
  await refused(run(['simulat']), /simulate/);
  for (const command of ['simulate', 'merge']) expect((await run([command])).status).toBe(2);
  await refused(run(['serve', '--host', '']), '--host: expected a value, got ""');
  await refused(run(['trace', 'synthesize', '--out=']), '--out=: expected a value, got ""');
  expect(await run(['--help'])).toMatchObject({ status: 0, stderr: '' });
  expect((await run(['simulate', '--help'])).stdout).toMatch(/--starts.*bola-e, dynamic;/s);
  expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+/);
});

describe('trace', () => {
  const at = temporaryFolder('test');

  const trace = (...args: string[]) => run(['trace', ...args]);

  const CSV = 'time_s,throughput_mbps,rtt_ms,loss\n';

  test('synthesize writes traces with sidecars, the same bytes again, and reads them back', async () => {
    const flags = ['--preset', 'stationary-live', '--step', '0.1', '--seed', '7', '--count', '2', '--duration', '30'];
    for (const out of ['a', 'b']) {
      expect(await trace('synthesize', ...flags, '--out', at(out))).toMatchObject({ status: 0, stdout: '' });
    }
    const files = readdirSync(at('a')).sort();
    expect(files).toEqual([7, 8].flatMap((seed) => [`stationary-live-${seed}.csv`, `stationary-live-${seed}.json`]));
    for (const file of files) expect(readFileSync(at('b', file), 'utf8')).toBe(readFileSync(at('a', file), 'utf8'));
    const [read] = readTraces([at('a')]);
    const other = { synthetic: true, seed: 7 };
    const metadata = { dataset: 'synthetic-stationary-live', recordingGroup: 'stationary-live-7', other };
    expect(read).toMatchObject({ name: 'stationary-live-7', durationSeconds: 30, metadata });
    expect(read!.stepEndsSeconds).toHaveLength(300);
    const { epochPhaseSeconds, handoverPhaseSeconds } = read!.metadata;
    expect((epochPhaseSeconds! + handoverPhaseSeconds!) % 15).toBeCloseTo(12, 9);
  });

  test.each([
    [['--preset', 'mars'], "argument 'mars' is invalid"],
    [['--seed', 'x'], '--seed: expected a whole number'],
    [['--count', '0'], '--count: expected a whole number'],
    [['--duration', 'x'], '--duration: expected a number'],
    [['--mbps', '5'], 'mbps: expected none with stationary'],
  ])('synthesize rejects %j with status 2 and writes nothing', async (flags, message) => {
    await refused(trace('synthesize', ...flags, '--out', at('out')), message);
    expect(existsSync(at('out'))).toBe(false);
  });

  test('info prints a row per trace, also of a constant one without a clock', async () => {
    await trace('synthesize', '--preset', 'driving-udp', '--seed', '3', '--count', '2', '--out', at('in'));
    put(at('in/flat.csv'), `${CSV}${Array.from({ length: 900 }, (_, i) => `${i / 10},8,,`).join('\n')}\n`);
    const { status, stdout } = await trace('info', at('in'));
    expect(status).toBe(0);
    expect(stdout.split('\n').slice(1, 4)).toEqual([
      expect.stringMatching(/^driving-udp-3 +synthetic-driving +600 +1 /),
      expect.stringMatching(/^driving-udp-4 +synthetic-driving +600 +1 /),
      expect.stringMatching(/^flat +in +90 +0\.1 +(8\.00 +){6}0\.0 +0 +0 +0 +- +-$/),
    ]);
  });
});
