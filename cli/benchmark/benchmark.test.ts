/** `bench` and `transport sweep` before they play. e2e/benchmark.spec.ts and `npm run test:transport` play. */

import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import type { BenchNotes } from '../../replay/browser/bench-notes.ts';
import type { PlayedRecord } from '../../replay/browser/record/session-record.ts';
import {
  testLiveMetrics,
  testResults,
  testScenario,
  testSession,
  testTrace,
} from '../../replay/evaluation/test-sessions.fixture.ts';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import type { SweepRow } from '../../transport/sweep.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_REJECTED, ExitWith } from '../shared/exit-status.ts';
import { refused, run, TRACE } from '../shared/run.fixture.ts';
import type { Benchmark } from './benchmark.ts';
import { finishBenchmark } from './finish.ts';
import { resultRows, resultTable } from './result-rows.ts';
import { SessionSink } from './session-sink.ts';
import { requireSameTier } from './tiers.ts';

const at = temporaryFolder('test');

function bench(...flags: string[]) {
  const base = ['--traces', TRACE, '--algorithms', 'mpc-d', '--scenario', 'uhd-8', '--out', at('out.json')];
  return run(['bench', ...base, ...flags]);
}

const IMPAIRMENT = '--impairment: expected one of starlink, none, or such as starlink,loss=0.02, got "rain"';

test.each([
  [['--tier', 'moon'], 'Allowed choices are origin, kernel, quic'],
  [['--tier', 'kernel', '--congestion', 'reno'], '--congestion: expected one of cubic, bbr, got "reno"'],
  [['--tier', 'quic', '--congestion', 'bbr'], '--congestion: expected cubic, reno, bbr2 or bbr2:probe-rtt=<ms>'],
  [['--tier', 'quic', '--contexts', '4'], '--contexts: expected 1 with --tier quic: there is one link, got "4"'],
  [['--tier', 'kernel', '--impairment', 'rain'], IMPAIRMENT],
  [['--congestion', 'bbr'], '--tier: expected kernel or quic beside --congestion and --impairment, got "origin"'],
  [['--tier', 'kernel', '--contexts', '4'], '--contexts: expected 1 with --tier kernel: there is one link, got "4"'],
  [['--household', 'three'], '--household: expected one of two, four, mixed'],
  [['--household', 'mixed', '--algorithms', 'throughput,moon'], '--algorithms: expected one of'],
  // An algorithm in a household needs no --player.
  [['--household', 'mixed', '--player', 'hls', '--late-share', '2'], '--late-share: expected'],
  [['--player', 'vlc'], 'Allowed choices are dash, hls, shaka'],
  [['--contexts', 'many'], '--contexts: expected a whole number from 1 to 64, got "many"'],
  [['--segments', '49'], '--segments: expected a whole number from 1 to 48'],
  [['--algorithms', 'mpc-l@onnx:no-such.onnx'], 'no-such.onnx: expected a readable file, got ENOENT'],
  [['--algorithms', `mpc-l@onnx:${TRACE}`], 'golden.csv: model: expected an ONNX file, got "other bytes (at '],
  [['--tier', 'quic', '--algorithms', 'mpc-l@service'], '--algorithms: expected --tier origin for @service'],
])('bench: %s is wrong input', async (flags, message) => {
  await refused(bench(...flags), message);
  expect(readdirSync(at())).toEqual([]);
});

test('bench: files with an unknown player, or with media that cannot be made, are wrong input', async () => {
  writeFileSync(at('ours.json'), '{"players": [{}, {"algorithm": "unknown"}]}');
  await refused(bench('--household', at('ours.json')), '--household: expected one of');
  const tiny = { ladderBps: [8e3], segmentSeconds: 4, segmentCount: 3, bufferCapSeconds: 12, rttSeconds: 0.04 };
  writeFileSync(at('tiny.json'), JSON.stringify(tiny));
  const message = /segmentSizesBits\[0\]\[0\]: expected whole bytes, at least \d+ .*got \d+/;
  await refused(bench('--scenario', at('tiny.json')), message);
});

test('--resume continues with the same tier and --late-share alone', () => {
  const bench = { tier: 'origin', lateShare: 0.02 };
  const resumed = { out: 'out.json', resumedTool: { bench } } as unknown as Benchmark;
  expect(() => requireSameTier(resumed, bench)).not.toThrow();
  expect(() => requireSameTier(resumed, { ...bench, lateShare: 0.05 })).toThrow(
    'out.json: tool.bench.lateShare: expected sessions of --late-share 0.05 to resume, got 0.02',
  );
  const kernel = { ...bench, tier: 'kernel' };
  expect(() => requireSameTier(resumed, kernel)).toThrow('of tier kernel to resume, got those of');
});

test.each([
  [['--flows', 'bbr3'], '--flows: expected cubic, reno, bbr2 or bbr2:'],
  [['--seconds', '1'], '--seconds: expected seconds above 1, got "1"'],
  [['--impairment', 'rain'], IMPAIRMENT],
  [['--out', tmpdir()], '--out: expected a file that can be written'],
])('transport sweep: %s is wrong input', async (flags, message) => {
  const base = ['--traces', TRACE, '--scenario', 'hd-16', '--out', at('sweep.json')];
  await refused(run(['transport', 'sweep', ...base, ...flags]), message);
});

describe('lost-sessions', () => {
  const at = temporaryFolder('file');
  const planned = (name: string, algorithm: string) => ({
    ...{ trace: testTrace(name, 60), startSeconds: 0, segmentCount: 1, algorithm, seed: 7 },
  });
  const setUp = (more: object) => {
    const benchmark = {
      ...{ out: at('out.json'), done: [], plan: { sessions: [], leftOut: [] }, perLine: 1, remains: [] },
      ...{ algorithms: ['mpc-d', 'dynamic'], scenario: testScenario() },
      tool: { name: 'leo-abr', version: '0', commit: null, command: 'bench', seed: 7, baseline: 'mpc-d' },
      ...more,
    } as unknown as Benchmark;
    const said: string[] = [];
    const io = {
      stdout: { write: () => true },
      stderr: { write: (text: string) => said.push(text) },
    } as unknown as CommandIo;
    return { benchmark, io, said };
  };

  test('a session that was rejected at every attempt is named, and the table has the other places', () => {
    const sessions = ['hard', 'easy', 'easier'].flatMap((name) => [planned(name, 'mpc-d'), planned(name, 'dynamic')]);
    const played = sessions
      .filter(({ trace, algorithm }) => trace.name !== 'hard' || algorithm !== 'dynamic')
      .map(({ trace, algorithm }) =>
        testSession({ trace: trace.name, algorithm, qoeLinear: trace.name === 'hard' ? 1 : 9 }),
      );
    const { benchmark, io, said } = setUp({ done: played.slice(0, 2), plan: { sessions, leftOut: [] } });
    const missing = { why: '1 sessions were rejected at every attempt', status: EXIT_REJECTED, lost: [sessions[1]!] };
    expect(() => finishBenchmark(benchmark, played.slice(2), io, missing)).toThrow(ExitWith);
    expect(said.join('')).toContain('the table lacks, for every algorithm, the places of dynamic on hard at 0 s\n');
    // Each algorithm has two sessions. The hard one, which would lower the mean of mpc-d alone, is left out.
    expect(said.join('')).toMatch(/^mpc-d +2 +4\.5/m);
    expect(said.join('')).toMatch(/^dynamic +2 +4\.5/m);
    expect(JSON.parse(readFileSync(at('out.json'), 'utf8')).sessions).toHaveLength(5);
  });

  (existsSync('/dev/full') ? test : test.skip)(
    'a full disk is named, and the sessions that were played are kept',
    () => {
      symlinkSync('/dev/full', at('out.raw.jsonl'));
      const { benchmark, io, said } = setUp({});
      const sink = new SessionSink(benchmark, { rejectedRuns: 0, parts: [] } as unknown as BenchNotes, io);
      const result = testSession({ trace: 'easy', algorithm: 'mpc-d', qoeLinear: 9 });
      const played = { planned: planned('easy', 'mpc-d'), result, record: {}, inconsistencies: [] };
      const full = expect.stringMatching(/out\.raw\.jsonl: expected a file that can be written, got ENOSPC/);
      expect(() => sink.add([played as unknown as PlayedRecord])).toThrow(
        expect.objectContaining({ name: 'InputError', message: full }),
      );
      expect(said).toEqual([`${at('out.json')} holds the finished sessions, --resume continues it\n`]);
      expect(JSON.parse(readFileSync(at('out.json'), 'utf8')).sessions).toMatchObject([{ trace: 'easy' }]);
    },
  );
});

test('rows of sessions: per data set and algorithm, with differences from the baseline, and per transport', () => {
  const sessions = ['mob-tcp-dl-1', 'mob-udp-dl-1'].flatMap((trace, i) => [
    testSession({ trace, group: trace, qoeLinear: 10 + 20 * i }),
    testSession({ trace, group: trace, qoeLinear: 13 + 20 * i, algorithm: 'mpc-l', stallSeconds: 12 * i }),
  ]);
  const all = resultRows(testResults(sessions));
  const rows = all.filter((row) => row['chosen, Mbit/s'] === undefined);
  expect(rows.map(({ recordings, algorithm, QoE }) => `${recordings} ${algorithm} ${QoE}`)).toEqual([
    ...['set mpc-d 20', 'set mpc-l 23', 'set tcp mpc-d 10', 'set tcp mpc-l 13', 'set udp mpc-d 30', 'set udp mpc-l 33'],
  ]);
  const shares = all.flatMap((row) => (row['algorithm'] === 'mpc-l' ? (row['segments, %'] ?? []) : []));
  expect(shares.reduce<number>((sum, share) => sum + Number(share), 0)).toBeCloseTo(100);
  expect(rows[1]).toMatchObject({ scenario: 'uhd-8', sessions: 2, 'Mbit/s': 3, 'stalls, s': 6, 'worst 5 %, s': 12 });
  expect(rows[1]!['QoE, difference']).toEqual([3, 3, 3]);
  expect(rows[0]!['QoE, difference']).toBeNull();
  // One recording has no interval.
  expect(rows[3]!['QoE, difference']).toEqual([3]);
});

test("a transport has its data set's units: two recordings of one group have no interval", () => {
  const traces = ['a-udp-0', 'b-udp-0', ...Array.from({ length: 7 }, (_, i) => `c-tcp-${i + 1}`)];
  const sessions = traces.flatMap((trace, i) =>
    ['mpc-d', 'mpc-l'].map((algorithm) => testSession({ trace, group: trace.slice(6), algorithm, qoeLinear: i })),
  );
  const rows = resultRows(testResults(sessions)).filter(({ algorithm }) => algorithm === 'mpc-l');
  expect(rows.find(({ recordings }) => recordings === 'set udp')!['QoE, difference']).toEqual([0]);
  expect(rows.find(({ recordings }) => recordings === 'set tcp')!['QoE, difference']).toEqual([0, 0, 0]);
});

test('the gap closed is null above the oracle', () => {
  const qoes = { 'mpc-d': 50, 'mpc-o': 60, 'mpc-l': 61, bola: 55 };
  const sessions = Object.entries(qoes).flatMap(([algorithm, qoeLinear]) =>
    Array.from({ length: 12 }, (_, i) => testSession({ algorithm, qoeLinear, trace: `t${i}`, group: `g${i}` })),
  );
  const closed = resultRows(testResults(sessions)).flatMap(({ algorithm, 'gap closed': gap }) =>
    gap === undefined ? [] : [[algorithm, gap]],
  );
  expect(Object.fromEntries(closed)).toMatchObject({ 'mpc-l': null, bola: [0.5, 0.5, 0.5], 'mpc-o': [1, 1, 1] });
});

test('the row of the baseline has its best rival, the lead over it, and the shortest tail of any', () => {
  const played = { 'mpc-l': [50, 3], 'mpc-l:no-rate': [60, 0], 'mpc-o': [70, 0], dynamic: [45, 2], bola: [44, 1] };
  const sessions = Object.entries(played).flatMap(([algorithm, [qoe, stallSeconds]]) =>
    Array.from({ length: 12 }, (_, i) =>
      testSession({ algorithm, qoeLinear: qoe! + i, stallSeconds: stallSeconds!, trace: `t${i}`, group: `g${i}` }),
    ),
  );
  const [own, ...others] = resultRows(testResults(sessions, { baseline: 'mpc-l' }));
  expect(own).toMatchObject({ algorithm: 'mpc-l', 'best rival': 'dynamic', 'difference to it': [2.5, 2.5, 2.5] });
  expect(own).toMatchObject({ 'its QoE': 50.5, 'its worst 5 %, s': 2, 'shortest worst 5 %, s': 1 });
  expect(others.every((row) => row['best rival'] === undefined)).toBe(true);
});

test('rows of live sessions have their QoE, latency and stalls', () => {
  const freezes = { stallCount: 9, freezeCount: 3, shortFreezeCount: 2 };
  const [row] = resultRows(testResults([testSession({ ...freezes, live: testLiveMetrics() })]));
  expect(row).toMatchObject({ QoE: 20, 'stalls / min': 1.5, 'below 0.1 s / min': 1, 'stall s / min': 0.5 });
  expect(row).toMatchObject({ 'latency, s': 1.25, 'latency p95, s': 1.5, 'off rate 1, %': 25 });
});

test('rows of households: means, sum and least over the players, and differences', () => {
  const of = (algorithm: string, qoes: number[]) =>
    qoes.map((qoeLinear, i) =>
      testSession({
        ...{ algorithm, qoeLinear, stallSeconds: i },
        household: { name: 'two', algorithm, player: i, joinSeconds: 0, linkUtilisation: 0.5 },
      }),
    );
  const sessions = [...of('mpc-d', [4, 6]), ...of('mpc-l', [7, 9])];
  const household = { name: 'two', players: [{ joinSeconds: 0 }, { joinSeconds: 0 }], traffic: [] };
  const rows = resultRows(testResults(sessions, { household }));
  expect(rows).toMatchObject([
    { household: 'two', players: 'all', algorithm: 'mpc-d', 'QoE, sum': 10, least: 4, 'sum, difference': null },
    { algorithm: 'mpc-l', perceived: 4, 'least perceived': 3.5, 'Mbit/s': 3, 'perceived, difference': [1.5] },
  ]);
});

test('rows of a sweep: medians over the links, and ratios to the default', () => {
  const row = (trace: string, flows: string, mbps: number): SweepRow =>
    ({
      ...{ dataset: 'set', trace, group: trace, startSeconds: 0, seed: 1, flows },
      result: { throughputBps: mbps * 1e6, rttSecondsP95: 0.05, lostShare: 0.01 },
    }) satisfies SweepRow;
  const rows = ['a', 'b', 'c'].flatMap((trace, i) => [
    row(trace, 'bbr2', 10 * (i + 1)),
    row(trace, 'cubic', 5 * (i + 1)),
  ]);
  const found = resultRows({ impairment: 'starlink', rows, tool: { seed: 1 } });
  const [, cubic] = found;
  expect(cubic).toMatchObject({ impairment: 'starlink', setting: 'cubic' });
  expect(cubic).toMatchObject({ 'throughput, Mbit/s': 10, 'p95 RTT, ms': 50 });
  expect(cubic!['throughput / bbr2']).toEqual(Array(3).fill(expect.closeTo(0.5, 9)));
  expect(resultTable(found).split('\n').slice(0, 3)).toEqual([
    'impairment  setting  throughput, Mbit/s  p95 RTT, ms    throughput / bbr2       p95 RTT / bbr2',
    'starlink    bbr2                  20.00        50.00  1.00 (1.00 to 1.00)  1.00 (1.00 to 1.00)',
    'starlink    cubic                 10.00        50.00  0.50 (0.50 to 0.50)  1.00 (1.00 to 1.00)',
  ]);
});
