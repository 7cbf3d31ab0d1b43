/** `bench` and `transport sweep` before they play. e2e/benchmark.spec.ts and `npm run test:transport` play. */

import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import { refused, run, TRACE } from '../shared/run.fixture.ts';
import type { Benchmark } from './benchmark.ts';
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
