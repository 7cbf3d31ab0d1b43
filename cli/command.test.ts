import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { SHIPPED_FILE } from '../predictor/built-in/shipped-file.fixture.ts';
import { parseResults } from '../replay/evaluation/parse-results.ts';
import type { Results } from '../replay/results.ts';
import { SCENARIOS } from '../replay/scenarios.ts';
import type { CommandIo } from './command-io.ts';
import { run } from './run.fixture.ts';

const TRACE = fileURLToPath(new URL('../replay/simulator/fixtures/golden.csv', import.meta.url));

// Whole benchmarks run here, slowly on a busy machine.
jest.setTimeout(60_000);

let folder: string;
let traces: string;
const at = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-cli-'));
  traces = at('traces');
  mkdirSync(join(traces, 'deeper'), { recursive: true });
  cpSync(TRACE, join(traces, 'a.csv'));
  cpSync(TRACE, join(traces, 'deeper', 'b.csv'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const INTERRUPTED: Partial<CommandIo> = {
  onInterrupt(callback) {
    const timer = setTimeout(callback, 1);
    return () => clearTimeout(timer);
  },
};

/** `simulate` on the two small traces; flags given here replace the defaults. */
function simulateArgs(flags: Record<string, string | true> = {}): string[] {
  const all: Record<string, string | true> = { traces, algorithms: 'mpc-d,mpc-o', scenario: 'uhd-8', ...flags };
  return [
    'simulate',
    ...Object.entries(all).flatMap(([flag, value]) => (value === true ? [`--${flag}`] : [`--${flag}`, value])),
  ];
}

describe('simulate', () => {
  test('prints results in the schema on standard output, and nothing else there', async () => {
    const { status, stdout, stderr } = await run(simulateArgs());
    expect(stderr).toContain('4 of 4 sessions');
    expect(status).toBe(0);
    const results = parseResults(stdout, 'stdout');
    expect(results.sessions.map(({ trace, algorithm }) => `${trace} ${algorithm}`)).toEqual([
      'a mpc-d',
      'a mpc-o',
      'b mpc-d',
      'b mpc-o',
    ]);
    expect(results.sessions[0]!.segments).toHaveLength(48);
    expect(results.sessions[0]!.decisionMicros).toBeUndefined();
    expect(results.tool).toMatchObject({ name: 'leo-abr', command: 'simulate', seed: 1, baseline: 'mpc-d' });
    expect(results.tool).not.toHaveProperty('complete');
    expect(results.summary.map((row) => row.algorithm)).toEqual(['mpc-d', 'mpc-o']);
  });

  test.each(Object.keys(SCENARIOS))('plays scenario %s', async (scenario) => {
    const { status, stdout } = await run(simulateArgs({ scenario }));
    expect(status).toBe(0);
    const results = JSON.parse(stdout) as Results;
    expect(results.scenario).toMatchObject(JSON.parse(JSON.stringify(SCENARIOS[scenario])));
    expect(results.sessions.every((session) => session.endedBy === 'end')).toBe(true);
    const isLive = SCENARIOS[scenario]!.live !== undefined;
    expect(results.schema).toBe(isLive ? 2 : 1);
    expect(results.sessions.every(({ live }) => (live !== undefined) === isLive)).toBe(true);
  });

  test('--target-latency replaces the target of a live scenario, and says so in the scenario', async () => {
    const flags = { scenario: 'live-hd-5', segments: '40', algorithms: 'mpc-d,mpc-d:lolp-catch-up:fixed-slots' };
    const { status, stdout, stderr } = await run(
      simulateArgs({ ...flags, 'target-latency': '1.5', out: at('live.json') }),
    );
    expect([status, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/algorithm +n +QoE +Mbit\/s +stalls\/min/);
    const { scenario, sessions, summary } = parseResults(readFileSync(at('live.json'), 'utf8'), 'live.json');
    expect(scenario.live!.targetLatencySeconds).toBe(1.5);
    // The link stalls players, which adds to the latency of both targets: only the difference shows the target.
    const { stdout: ownTarget } = await run(simulateArgs(flags));
    for (const [i, { live }] of parseResults(ownTarget, 'stdout').sessions.entries()) {
      expect(sessions[i]!.live!.latencySecondsMean).toBeLessThan(live!.latencySecondsMean - 1.5);
    }
    expect(summary[1]!.live!.latencySecondsMean).not.toBe(summary[0]!.live!.latencySecondsMean);
    expect(summary[1]!.vsBaseline!.live!.latencySecondsDiff.value).toBeDefined();

    const shards = [at('live-1.json'), at('live-2.json')];
    for (const [i, out] of shards.entries()) {
      await run(simulateArgs({ ...flags, 'target-latency': '1.5', shard: `${i + 1}/2`, out }));
    }
    const merged = await run(['merge', ...shards]);
    expect(merged.stdout).toBe(readFileSync(at('live.json'), 'utf8'));
  });

  test.each([
    [{ scenario: 'uhd-8', 'target-latency': '2' }, '--target-latency: expected a live scenario (uhd-8 is on demand)'],
    [{ scenario: 'live-hd-1', 'target-latency': '0.55' }, '--target-latency: expected more than 0.55 s'],
    [{ scenario: 'live-hd-1', 'target-latency': '-1' }, '--target-latency: expected more than 0.55 s'],
    [{ scenario: 'live-hd-1', 'playback-rate': '2' }, '--playback-rate: expected 1 in a live scenario (live-hd-1)'],
    [{ scenario: 'live-hd-1', segments: '10' }, '--segments: expected a whole number from 11 to 100'],
    [
      { scenario: 'uhd-8', algorithms: 'mpc-d:fixed-slots' },
      '--algorithms: expected a catch-up only in a live scenario',
    ],
    [{ scenario: 'uhd-8', baseline: 'mpc-d:lolp-catch-up' }, '--baseline: expected a catch-up only in a live scenario'],
  ])('refuses %j', async (flags, message) => {
    const { status, stderr } = await run(simulateArgs(flags as Record<string, string>));
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });

  test('--segments plays the beginning of the scenario', async () => {
    const { status, stdout } = await run(simulateArgs({ segments: '5' }));
    expect(status).toBe(0);
    const { scenario, sessions } = parseResults(stdout, 'stdout');
    expect(scenario).toMatchObject({ name: 'uhd-8', segmentCount: 5 });
    expect(scenario.segmentSizesBits).toHaveLength(5);
    expect(sessions.map(({ segments }) => segments.length)).toEqual([5, 5, 5, 5]);
  });

  test('--playback-rate plays at another rate, and says so in the scenario', async () => {
    const { status, stdout } = await run(simulateArgs({ 'playback-rate': '2', segments: '5' }));
    expect(status).toBe(0);
    const { scenario, sessions } = parseResults(stdout, 'stdout');
    expect(scenario.playbackRate).toBe(2);
    const asUsual = await run(simulateArgs({ segments: '5' }));
    const stallOf = (of: Results['sessions']) => of.reduce((sum, { stallSeconds }) => sum + stallSeconds, 0);
    expect(stallOf(sessions)).toBeGreaterThanOrEqual(stallOf(parseResults(asUsual.stdout, 'stdout').sessions));
    const same = await run(simulateArgs({ 'playback-rate': '1', segments: '5' }));
    expect(same.stdout).toBe(asUsual.stdout);
  });

  test.each(['0', '-1', 'fast', '5'])('refuses --playback-rate %s', async (rate) => {
    const { status, stderr } = await run(simulateArgs({ 'playback-rate': rate }));
    expect(status).toBe(2);
    expect(stderr).toContain('--playback-rate: expected a number from 0.25 to 4');
  });

  test('plays a scenario from a file, also with a ladder of one', async () => {
    const scenario = {
      ladderBps: [5e6],
      segmentSeconds: 2,
      segmentCount: 20,
      bufferCapSeconds: 10,
      rttSeconds: 0.05,
      sizesFile: 'sizes.json',
    };
    writeFileSync(at('one.json'), JSON.stringify(scenario));
    writeFileSync(at('sizes.json'), JSON.stringify({ representations: { only: Array(20).fill(1.25e6) } }));
    const { status, stdout } = await run(simulateArgs({ scenario: at('one.json') }));
    expect(status).toBe(0);
    const results = JSON.parse(stdout) as Results;
    expect(results.scenario).toMatchObject({ name: 'one', mu: 5, segmentSizesBits: Array(20).fill([1e7]) });
    expect(results.sessions.every((session) => session.switches === 0)).toBe(true);
  });

  describe('traces too short for their sessions', () => {
    const csv = (rates: readonly (number | '')[]) =>
      `time_s,throughput_mbps\n${rates.map((rate, i) => `${i},${rate}\n`).join('')}`;
    const flat = (seconds: number, rate: number | '') => Array<number | ''>(seconds).fill(rate);

    test('a short piece between blanks is left out and named, in the results and the report too', async () => {
      writeFileSync(at('blanks.csv'), csv([...flat(14, 3), ...flat(2, ''), ...flat(300, 20)]));
      const out = at('blanks.json');
      const { status, stderr } = await run(simulateArgs({ traces: at('blanks.csv'), starts: 'every:61', out }));
      expect(status).toBe(0);
      expect(stderr).toContain(
        '1 starts left out; expected a trace of 48 s or more (232 s after the start for a whole session of uhd-8):\n' +
          '  blanks#1 at 0 s: no room for a session in 14 s\n',
      );
      const { sessions, tool, summary } = parseResults(readFileSync(out, 'utf8'), out);
      expect(new Set(sessions.map(({ trace }) => trace))).toEqual(new Set(['blanks#2']));
      expect(tool.leftOut).toEqual([
        { dataset: 'unknown', trace: 'blanks#1', startSeconds: 0, reason: 'no room for a session in 14 s' },
      ]);
      expect(summary.every(({ qoeMean }) => qoeMean > 0)).toBe(true);
      expect((await run(['report', out, '--out', at('blanks-report')])).status).toBe(0);
      expect(readFileSync(at('blanks-report/report.md'), 'utf8')).toContain(
        '- 1 start left out: blanks#1 at 0 s (no room for a session in 14 s).',
      );
    });

    test('without any other trace it is refused', async () => {
      writeFileSync(at('short.csv'), csv(flat(14, 3)));
      const { status, stderr } = await run(simulateArgs({ traces: at('short.csv') }));
      expect(status).toBe(2);
      expect(stderr).toContain('traces: expected a trace of 48 s or more');
    });

    test.each([
      ['a session', {}, 1],
      ['a household', { household: 'two' }, 2],
    ])('%s that runs into the beginning of the trace is counted', async (_, flags, sessionCount) => {
      // The sessions need the last minute, which has nothing.
      writeFileSync(at('dry.csv'), csv([...flat(180, 20), ...flat(60, 0)]));
      const out = at('past.json');
      const { stderr } = await run(
        simulateArgs({ traces: at('dry.csv'), algorithms: 'mpc-d,throughput', out, ...flags }),
      );
      const { sessions, summary } = parseResults(readFileSync(out, 'utf8'), out);
      expect(sessions.every(({ pastTraceSeconds = 0 }) => pastTraceSeconds > 0)).toBe(true);
      expect(summary.map(({ pastTrace }) => pastTrace)).toEqual([sessionCount, sessionCount]);
      expect(stderr).toContain(`mpc-d: ${sessionCount} ran past the trace's end, into its beginning`);
      expect((await run(['report', out, '--out', at('past-report')])).status).toBe(0);
      expect(readFileSync(at('past-report/report.md'), 'utf8')).toMatch(
        /`mpc-d`: \d sessions? ran past the end of the recording, which then began again, by up to \d+\.\d s\./,
      );
    });

    test('a live session ends with its encoder, so it never does', async () => {
      writeFileSync(at('even.csv'), csv(flat(250, 20)));
      const flags = { traces: at('even.csv'), scenario: 'live-uhd-1', starts: 'at:0,60,61' };
      const { stdout, stderr } = await run(simulateArgs({ ...flags, algorithms: 'mpc-d' }));
      // 250 s repeat after 240 s.
      expect(stderr).toContain('  even at 61 s: no room for a session in 250 s\n');
      const { sessions } = parseResults(stdout, 'stdout');
      expect(sessions.map(({ startSeconds, pastTraceSeconds }) => [startSeconds, pastTraceSeconds])).toEqual([
        [0, undefined],
        [60, undefined],
      ]);
    });
  });

  test('the same seed gives the same bytes, in shards and merged too', async () => {
    const flags = { starts: 'every:4', seed: '7' };
    const whole = await run(simulateArgs({ ...flags, out: at('whole.json') }));
    expect(whole).toMatchObject({ status: 0, stdout: '' });
    const text = readFileSync(at('whole.json'), 'utf8');
    expect((await run(simulateArgs(flags))).stdout).toBe(text);
    for (const i of [1, 2, 3]) {
      expect((await run(simulateArgs({ ...flags, shard: `${i}/3`, out: at(`shard-${i}.json`) }))).status).toBe(0);
    }
    const shards = [3, 1, 2].map((i) => at(`shard-${i}.json`));
    const merged = await run(['merge', ...shards, '--out', at('merged.json')]);
    expect(merged.status).toBe(0);
    expect(readFileSync(at('merged.json'), 'utf8')).toBe(text);

    const twice = await run(['merge', ...shards, at('whole.json')]);
    expect(twice.stdout).toBe(text);
    expect(twice.stderr).toMatch(/^24 sessions were played twice, with the same result\n/);
  });

  test('merge refuses an incomplete or mixed set of shards, and says all that is wrong', async () => {
    const shard = async (i: number, flags: Record<string, string> = {}) => {
      await run(simulateArgs({ starts: 'every:4', shard: `${i}/3`, out: at(`part-${i}.json`), ...flags }));
      return at(`part-${i}.json`);
    };
    const [first, second] = [await shard(1), await shard(2)];
    const lines = readFileSync(second, 'utf8').replace('"work"', '"complete":false,"work"').split('\n');
    writeFileSync(second, lines.slice(0, 6).join('\n'));
    const incomplete = await run(['merge', second, first, '--out', at('none.json')]);
    expect(incomplete.status).toBe(2);
    expect(incomplete.stderr).toContain(
      `expected all parts of one run, got ${second} is not complete (1 sessions); shard 3/3 is missing\n`,
    );
    expect(existsSync(at('none.json'))).toBe(false);

    await shard(2, { algorithms: 'mpc-d' });
    const third = await shard(3);
    writeFileSync(third, readFileSync(third, 'utf8').replace(/"commit":(null|"[^"]*")/, '"commit":"abc"'));
    const mixed = await run(['merge', first, second, third]);
    expect([mixed.status, mixed.stdout]).toEqual([2, '']);
    expect(mixed.stderr).toContain(
      `got ${second} has another set of recordings, starts, algorithms or models than ${first}; ${third} has another commit than ${first}\n`,
    );
    const other = join(folder, 'other');
    cpSync(traces, other, { recursive: true });
    writeFileSync(join(other, 'a.csv'), readFileSync(TRACE, 'utf8').replace(/\n(\d+(?:\.\d+)?),\d+/, '\n$1,1'));
    await shard(2, { traces: other });
    expect((await run(['merge', first, second, await shard(3)])).stderr).toContain(`${second} has another set of`);
  });

  test('a killed command keeps every finished session, which --resume does not play again', async () => {
    const flags = { starts: 'every:4', algorithms: 'mpc-d,throughput', household: 'two' };
    const whole = (await run(simulateArgs(flags))).stdout;
    const [schema, tool, scenario, begin, ...sessions] = whole.split('\n');
    const head = [schema, tool!.replace(/\},$/, ',"complete":false},'), scenario, begin];
    // Of three households, one twice and one in parts; the last line is torn.
    const [a, b, c, d, e, f] = sessions;
    const killed = [...head, c, d, a, b, c, d, e, f!.slice(0, 200)].join('\n');
    writeFileSync(at('killed.json'), killed);
    const resumed = await run(simulateArgs({ ...flags, out: at('killed.json'), resume: true }));
    expect(resumed.stderr).toMatch(/^4 of \d+ sessions were done before; those that were under way are played again\n/);
    expect(readFileSync(at('killed.json'), 'utf8')).toBe(whole);
  });

  test('compare finds the sessions with other choices, and those of one file alone', async () => {
    const played = await run(simulateArgs({ starts: 'every:4' }));
    const results = JSON.parse(played.stdout) as Results;
    writeFileSync(at('before.json'), played.stdout);
    const same = await run(['compare', at('before.json'), at('before.json')]);
    expect(same.status).toBe(0);
    expect(same.stdout).toMatch(/^mpc-d: \d+ sessions in both, 0 differ\n/);
    const [first, ...rest] = results.sessions;
    const [segment, ...segments] = first!.segments;
    const changed = { ...first!, segments: [{ ...segment!, abandonedBits: 8 }, ...segments] };
    writeFileSync(at('after.json'), JSON.stringify({ ...results, sessions: [changed, ...rest.slice(1)] }));
    const other = await run(['compare', at('before.json'), at('after.json')]);
    expect(other.status).toBe(1);
    expect(other.stdout).toMatch(/: segment 0: ([\d.]+ Mbit\/s), then \1 after 8 abandoned bits\n/);
    expect(other.stdout).toContain(': only in the first file\n');
  });

  test('compare prints how live sessions differ', async () => {
    const played = await run(simulateArgs({ scenario: 'live-hd-3', segments: '12' }));
    const results = JSON.parse(played.stdout) as Results;
    writeFileSync(at('before.json'), played.stdout);
    const sessions = results.sessions.map((session) => ({
      ...session,
      live: { ...session.live!, latencySecondsMean: session.live!.latencySecondsMean + 0.25 },
    }));
    writeFileSync(at('after.json'), JSON.stringify({ ...results, sessions }));
    const { stdout, status } = await run(['compare', at('before.json'), at('after.json')]);
    expect(status).toBe(0);
    expect(stdout).toContain('bitrate +0.0 %, stalls +0.00 s and +0.00 per minute, latency +0.250 s\n');
  });

  test('an interrupt leaves partial results that --resume completes to the same bytes', async () => {
    // Multiples of 0.7 are not exact in binary.
    const flags = { starts: 'every:0.7', algorithms: 'mpc-o,mpc-d' };
    await run(simulateArgs({ ...flags, out: at('undisturbed.json') }));

    const stopped = await run(simulateArgs({ ...flags, out: at('stopped.json') }), INTERRUPTED);
    expect(stopped.status).toBe(130);
    expect(stopped.stderr).toContain('--resume continues it');
    const partial = parseResults(readFileSync(at('stopped.json'), 'utf8'), 'stopped.json');
    expect(partial.tool).toHaveProperty('complete', false);
    expect(partial.sessions.length).toBeGreaterThan(0);

    const resumed = await run(simulateArgs({ ...flags, out: at('stopped.json'), resume: true }));
    expect(resumed.status).toBe(0);
    expect(resumed.stderr).toContain(`${partial.sessions.length} of `);
    expect(readFileSync(at('stopped.json'), 'utf8')).toBe(readFileSync(at('undisturbed.json'), 'utf8'));

    const other = await run(simulateArgs({ ...flags, out: at('stopped.json'), resume: true, scenario: 'hd-16' }));
    expect(other.status).toBe(2);
    expect(other.stderr).toContain('stopped.json: scenario: expected the scenario of this command (hd-16)');
  });

  test('an interrupt without a file writes nothing', async () => {
    const { status, stdout, stderr } = await run(simulateArgs({ starts: 'every:0.5' }), INTERRUPTED);
    expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
    expect(stderr).toContain('nothing was written');
  });

  test('households: shards merge, and an interrupt resumes, to the same bytes', async () => {
    const flags = { algorithms: 'mpc-d,throughput', household: 'mixed', segments: '12' };
    const whole = (await run(simulateArgs(flags))).stdout;
    const results = parseResults(whole, 'whole');
    expect(results.sessions.map(({ algorithm }) => algorithm).slice(0, 8)).toEqual([
      ...['mpc-d', 'mpc-d', 'bola', 'throughput'],
      ...['throughput', 'throughput', 'bola', 'throughput'],
    ]);
    expect(results.households!.map(({ algorithm, players }) => [algorithm, players])).toEqual([
      ...[
        ['mpc-d', 4],
        ['throughput', 4],
      ],
      ...[
        ['mpc-d', 4],
        ['throughput', 4],
      ],
    ]);
    expect(results.summary.map(({ algorithm, sessions }) => [algorithm, sessions])).toContainEqual(['mpc-d', 4]);
    for (const n of [1, 2]) await run(simulateArgs({ ...flags, shard: `${n}/2`, out: at(`house-${n}.json`) }));
    const merged = await run(['merge', at('house-1.json'), at('house-2.json')]);
    expect(merged.stdout).toBe(whole);

    const partial = parseResults(readFileSync(at('house-1.json'), 'utf8'), 'house-1.json');
    expect([partial.sessions.length, partial.households!.length]).toEqual([8, 2]);
    const { shard: _shard, work: _work, ...tool } = partial.tool;
    writeFileSync(at('house-part.json'), JSON.stringify({ ...partial, tool: { ...tool, complete: false } }));
    const resumed = await run(simulateArgs({ ...flags, out: at('house-part.json'), resume: true }));
    expect(resumed.stderr).toContain('8 of 16 sessions were done before');
    expect(readFileSync(at('house-part.json'), 'utf8')).toBe(whole);

    const other = await run(simulateArgs({ ...flags, household: 'two', out: at('house-part.json'), resume: true }));
    expect([other.status, other.stderr]).toEqual([2, expect.stringContaining('only sessions of this command')]);
    await run(simulateArgs({ ...flags, household: 'two', out: at('house-two.json') }));
    const mixed = await run(['merge', at('house-1.json'), at('house-2.json'), at('house-two.json')]);
    expect([mixed.status, mixed.stderr]).toEqual([2, expect.stringContaining('tool.household')]);
  });

  test('a household of a file plays, and the report has its table', async () => {
    writeFileSync(at('ours.json'), '{"players": [{}, {"algorithm": "bola", "joinSeconds": 4, "weight": 2}]}');
    const flags = { household: at('ours.json'), segments: '12', algorithms: 'mpc-d,throughput' };
    await run(simulateArgs({ ...flags, out: at('ours-results.json') }));
    const { status } = await run(['report', at('ours-results.json'), '--out', at('ours-report')]);
    expect(status).toBe(0);
    const text = readFileSync(at('ours-report/report.md'), 'utf8');
    expect(text).toMatch(/uhd-8, simulator, household ours/);
    expect(text).toMatch(/\| given +\| +n \| +QoE, sum/);
    expect(readFileSync(at('ours-report/sessions.csv'), 'utf8')).toMatch(/,ours,mpc-d,1,4\n/);
    const unknown = await run(simulateArgs({ household: 'three' }));
    expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining('--household: expected one of two')]);
  });

  test('--resume without earlier results plays everything', async () => {
    const { status, stderr } = await run(simulateArgs({ out: at('new.json'), resume: true }));
    expect(status).toBe(0);
    expect(stderr).toContain('nothing to resume');
  });

  test('status 1 if a session ended by a fault', async () => {
    await run(simulateArgs({ out: at('faulty.json') }));
    const results = JSON.parse(readFileSync(at('faulty.json'), 'utf8')) as Results;
    Object.assign(results.sessions[2]!, { endedBy: 'fault', fault: 'out of ideas' });
    writeFileSync(at('faulty.json'), JSON.stringify(results));
    const { status, stderr } = await run(simulateArgs({ out: at('faulty.json'), resume: true }));
    expect(status).toBe(1);
    expect(stderr).toContain('1 sessions ended by a fault, the first: mpc-d on b at 0 s: out of ideas');
  });

  test('--timings adds how long decisions took', async () => {
    const { stdout } = await run(simulateArgs({ timings: true }));
    const [session] = (JSON.parse(stdout) as Results).sessions;
    expect(session!.decisionMicros!.p50).toBeGreaterThan(0);
  });

  test('plays each recording group with the model of its fold', async () => {
    writeFileSync(at('model.json'), JSON.stringify(SHIPPED_FILE));
    writeFileSync(at('folds.json'), JSON.stringify({ a: 'model.json', b: 'model.json', golden: 'model.json' }));
    const { status, stdout } = await run(simulateArgs({ 'fold-models': at('folds.json'), algorithms: 'mpc-d,mpc-l' }));
    expect(status).toBe(0);
    const { sessions } = JSON.parse(stdout) as Results;
    expect(
      sessions
        .filter(({ algorithm }) => algorithm === 'mpc-l')
        .at(-1)!
        .segments.at(-1)!.reason,
    ).toContain('built-in');
  });

  test('refuses a recording group without a model, or with a file that is no model', async () => {
    writeFileSync(at('model.json'), '{}');
    writeFileSync(at('folds.json'), JSON.stringify({ golden: 'model.json' }));
    const broken = await run(simulateArgs({ 'fold-models': at('folds.json') }));
    expect(broken.status).toBe(2);
    expect(broken.stderr).toContain('model.json');
    writeFileSync(at('folds.json'), JSON.stringify({}));
    const missing = await run(simulateArgs({ 'fold-models': at('folds.json') }));
    expect(missing.status).toBe(2);
    expect(missing.stderr).toContain('a model for each recording group');
  });
});

describe('wrong usage and input: status 2; the message has place, expectation and received value', () => {
  test.each<[string, Record<string, string | true>, RegExp]>([
    ['an unknown algorithm', { algorithms: 'mpc-x' }, /--algorithms: expected one of mpc-d, .*mpc-o.*, got "mpc-x"/],
    ['an algorithm twice', { algorithms: 'mpc-d,mpc-d' }, /each once, got "mpc-d,mpc-d"/],
    ['an algorithm for browsers', { algorithms: 'dynamic' }, /got "dynamic", a rule of dash.js, .*leo-abr bench/],
    ['an unknown forecaster', { algorithms: 'mpc-d@tea' }, /expected one of mpc-d@oracle.*, got "mpc-d@tea"/],
    ['an unknown baseline', { baseline: 'mcp-d' }, /--baseline: expected one of .*, got "mcp-d"/],
    ['an unknown scenario', { scenario: 'uhd-9' }, /--scenario: expected one of uhd-8, .*, got "uhd-9"/],
    [
      'a scenario file that is missing',
      { scenario: './none.json' },
      /--scenario: expected a readable file, got .*none/,
    ],
    ['traces that are missing', { traces: './none' }, /\.\/none: expected a file or folder/],
    ['starts', { starts: 'often' }, /--starts: expected every:.*, got "often"/],
    ['a seed', { seed: '-1' }, /--seed: expected a whole number from 0 .*, got "-1"/],
    ['a shard', { shard: '4/3' }, /--shard: expected i\/n .*, got "4\/3"/],
    ['jobs', { jobs: '0' }, /--jobs: expected a whole number from 1 .*, got "0"/],
    ['resuming standard output', { resume: true }, /--resume: expected an --out file to continue/],
    ['an unknown flag', { flag: true }, /unknown option '--flag'/],
  ])('%s', async (_, flags, message) => {
    const { status, stdout, stderr } = await run(simulateArgs(flags));
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('sessions in');
  });

  test('an output that cannot be written, before the first session', async () => {
    const unwritable = [join(traces, 'a.csv', 'results.json'), traces];
    for (const out of unwritable) {
      const { status, stderr } = await run(simulateArgs({ out }));
      expect(status).toBe(2);
      expect(stderr).toContain('--out: expected a file that can be written');
      expect(stderr).not.toContain('sessions');
    }
    expect(readdirSync(traces)).toEqual(['a.csv', 'deeper']);
  });

  test('a scenario file with a wrong field', async () => {
    writeFileSync(at('wrong.json'), JSON.stringify({ ladderBps: [2e6, 1e6] }));
    const { status, stderr } = await run(simulateArgs({ scenario: at('wrong.json') }));
    expect(status).toBe(2);
    expect(stderr).toMatch(/wrong\.json: ladderBps: expected bitrates .*, got an array of 2/);
  });

  test('a wrong trace, by file and line', async () => {
    writeFileSync(at('bad.csv'), 'time_s,throughput_mbps,rtt_ms,loss\n0,5,,\n1,-3,,\n');
    const { status, stderr } = await run(simulateArgs({ traces: at('bad.csv'), out: at('never.json') }));
    expect(status).toBe(2);
    expect(stderr).toMatch(/bad\.csv:3: throughput_mbps: expected .*, got .*-3/);
    expect(existsSync(at('never.json'))).toBe(false);
  });

  test('a map of models with a wrong entry', async () => {
    writeFileSync(at('folds.json'), JSON.stringify({ golden: 5 }));
    const { status, stderr } = await run(simulateArgs({ 'fold-models': at('folds.json') }));
    expect(status).toBe(2);
    expect(stderr).toMatch(/folds\.json: golden: expected the name of a model file, got 5/);
  });

  test('truncated results', async () => {
    const whole = (await run(simulateArgs())).stdout;
    writeFileSync(at('short.json'), whole.slice(0, 5000));
    const { status, stderr } = await run(['merge', at('short.json')]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/short\.json:\d+: expected results JSON/);
  });

  test('unknown command or missing arguments: status 2; help and version: status 0', async () => {
    expect((await run(['simulat'])).status).toBe(2);
    expect((await run(['simulat'])).stderr).toContain('simulate');
    expect((await run(['simulate'])).status).toBe(2);
    expect((await run(['merge'])).status).toBe(2);
    expect(await run(['--help'])).toMatchObject({ status: 0, stderr: '' });
    expect((await run(['simulate', '--help'])).stdout).toContain('--starts');
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+/);
  });
});
