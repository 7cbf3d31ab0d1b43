/** The emulated link under the kernel's TCP; skipped with a reason on machines that cannot run it. */

import { spawn } from 'node:child_process';
import { rmdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { SCENARIOS } from '../replay/scenarios.ts';
import { traceOfRates } from '../replay/simulator/made-up.fixture.ts';
import { KernelLink } from './kernel-link.ts';
import {
  impairmentNamed,
  kernelSteps,
  linkCommands,
  NO_IMPAIRMENT,
  QUEUE_BYTES,
  STARLINK_IMPAIRMENT,
} from './kernel-steps.ts';
import { allowCongestionControl, kernelTierObstacle, linkEmulator } from './programs.ts';
import { ratiosToDefault, type SweepRow } from './sweep.ts';

const obstacle = kernelTierObstacle() ?? allowCongestionControl('bbr');
const [run, skipped] = obstacle === undefined ? [test, ''] : [test.skip, ` (skipped: ${obstacle})`];

/**
 * Runs in the client's namespace: downloads for 2 s and prints the bits, the time to the first byte and the duration.
 */
const DOWNLOAD = `
const begin = performance.now();
require('node:http').get(process.argv[1], (response) => {
  let bytes = 0, first;
  response.on('data', (data) => { first ??= performance.now(); bytes += data.length; });
  setTimeout(() => {
    const seconds = (performance.now() - begin) / 1000;
    console.log(JSON.stringify({ bits: 8 * bytes, firstSeconds: (first - begin) / 1000, seconds }));
    process.exit();
  }, 2000);
});`;

run(`the first byte takes two round trips; the rate is not exceeded${skipped}`, async () => {
  const bps = 20e6;
  const tier = { tier: 'kernel', congestionControl: 'bbr', impairment: NO_IMPAIRMENT } as const;
  const link = await KernelLink.start(tier, { rttSeconds: 0.04 });
  const piece = Buffer.alloc(1 << 18);
  const server = createServer((_, response) => {
    link.playSteps({ steps: [{ endSeconds: 60, bps, loss: 0, extraDelaySeconds: 0 }], wrapSeconds: 60 }, 5);
    const write = () => {
      while (response.write(piece));
    };
    response.on('drain', write);
    write();
  }).listen(await link.listen());
  const child = spawn(link.program('client', process.execPath), ['-e', DOWNLOAD, 'http://10.77.0.1:8080/']);
  let out = '';
  child.stdout.on('data', (data) => {
    out += data;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const { lost } = await link.statistics();
  server.closeAllConnections();
  server.close();
  await link.close();
  const { bits, firstSeconds, seconds } = JSON.parse(out) as { bits: number; firstSeconds: number; seconds: number };
  expect(firstSeconds).toBeGreaterThan(0.08);
  expect(bits).toBeLessThan(bps * seconds);
  expect(bits).toBeGreaterThan(1e6);
  expect(lost).toBe(0);
});

const scenario = SCENARIOS['uhd-8']!;
/** From second 57: handovers at 0 and 15 s of the trace. */
const trace = traceOfRates([10, 0, 30], 10, { epochPhaseSeconds: 57 });

const totalBits = ({ steps }: ReturnType<typeof kernelSteps>) => {
  let from = 0;
  let bits = 0;
  for (const { endSeconds, bps } of steps) {
    bits += (endSeconds - from) * bps;
    from = endSeconds;
  }
  return bits;
};

test.each([
  [0, [10, 20, 30], [10e6, 0, 30e6]],
  [55, [5, 15, 25, 30], [30e6, 10e6, 0, 30e6]],
])('kernelSteps equals the trace without impairment, from %d s on, and wraps', (startSeconds, ends, rates) => {
  const found = kernelSteps(trace, scenario, { startSeconds, impairment: NO_IMPAIRMENT });
  const steps = rates.map((bps, i) => ({ endSeconds: ends[i], bps, loss: 0, extraDelaySeconds: 0 }));
  expect(found).toEqual({ wrapSeconds: 30, queueBytes: QUEUE_BYTES, steps });
});

test('kernelSteps adds loss and delay at handovers, for any start; the rates stay', () => {
  for (const startSeconds of [0, 7, 14.98, 15.02]) {
    const found = kernelSteps(trace, scenario, { startSeconds, impairment: STARLINK_IMPAIRMENT });
    const ends = found.steps.map(({ endSeconds }) => endSeconds);
    expect(ends).toEqual([...ends].sort((a, b) => a - b));
    expect(ends.at(-1)).toBeCloseTo(30, 9);
    expect(totalBits(found)).toBeCloseTo(400e6, 3);
    let from = 0;
    let handover = 0;
    for (const { endSeconds, loss, extraDelaySeconds } of found.steps) {
      expect([0.01, 0.02]).toContain(loss);
      expect(extraDelaySeconds).toBe(loss === 0.02 ? 0.02 : 0);
      if (loss === 0.02) handover += endSeconds - from;
      from = endSeconds;
    }
    expect(handover).toBeCloseTo(2 * 0.045, 9);
  }
});

test("kernelSteps uses the trace's own loss; without a clock there are no handovers", () => {
  const lossy = { ...traceOfRates([10, 0, 30], 10), loss: Float64Array.of(0.05, Number.NaN, 0) };
  const { steps } = kernelSteps(lossy, scenario, { startSeconds: 0, impairment: STARLINK_IMPAIRMENT });
  expect(steps.map(({ loss }) => loss)).toEqual([0.05, 0.01, 0]);
  const replaced = kernelSteps(lossy, scenario, { startSeconds: 0, impairment: impairmentNamed('none,loss=0.03') });
  expect(replaced.steps.map(({ loss }) => loss)).toEqual([0.03, 0.03, 0.03]);
});

test('the jitter of kernelSteps is uniform, in both directions together up to its size, and changes every 20 ms', () => {
  const impairment = impairmentNamed('none,jitter-ms=30');
  const { steps } = kernelSteps(traceOfRates([10], 3000), scenario, { startSeconds: 0, impairment });
  expect(steps).toHaveLength(3000 / 0.02);
  const extra = steps.map(({ extraDelaySeconds }) => extraDelaySeconds);
  expect(extra.reduce((most, one) => Math.max(most, one), 0)).toBeLessThanOrEqual(0.015);
  expect(extra.reduce((sum, one) => sum + one, 0) / extra.length).toBeCloseTo(0.0075, 4);
});

test('impairmentNamed changes a named one', () => {
  expect(impairmentNamed('starlink')).toEqual(STARLINK_IMPAIRMENT);
  expect(impairmentNamed('starlink,queue-kb=200,loss=.05')).toEqual({
    ...STARLINK_IMPAIRMENT,
    ...{ queueBytes: 200_000, loss: 0.05, keepsRecordedLoss: false },
  });
});

test.each([
  ['starlink,hail=1', 'expected starlink and any of loss=, jitter-ms='],
  ['starlink,constructor=1', 'expected starlink and any of loss='],
  ['starlink,loss=1.5', 'expected a share below 1 for loss, got "1.5"'],
  ['none,loss', 'expected none and any of loss='],
])('impairmentNamed: %s is wrong', (text, message) => {
  expect(() => impairmentNamed(text)).toThrow(message);
});

test('linkCommands writes microseconds and millionths', () => {
  const steps = [{ endSeconds: 1.5, bps: 2e6, loss: 0.01, extraDelaySeconds: 0.02 }];
  const options = { rttSeconds: 0.04, seed: 7 };
  expect(linkCommands({ steps, wrapSeconds: 1.5, queueBytes: 1000 }, options)).toBe(
    'link 40000 1000\nsteps 1 1500000 7\n1500000 2000000 10000 20000',
  );
});

test('no program is run from a folder of another user', () => {
  const { getuid } = process;
  const user = 2 ** 31 - process.pid;
  const folder = join(tmpdir(), `leo-abr-${user}`);
  process.getuid = () => user;
  try {
    expect(linkEmulator).toThrow(`${folder} belongs to another user`);
  } finally {
    Object.assign(process, { getuid });
    rmdirSync(folder);
  }
});

/** One download in each recording group, with these throughputs in Mbit/s. */
function rowsOf(flows: string, rttMs: number, throughputs: number[]): SweepRow[] {
  return throughputs.map((mbps, i) => ({
    ...{ dataset: 'd', trace: `t${i}`, group: `g${i}`, startSeconds: 0, seed: i, flows },
    result: { throughputBps: mbps * 1e6, rttSecondsP95: rttMs / 1000, lostShare: 0.01 },
  }));
}

const fast = 'bbr2:loss=0.16';
const slow = 'bbr2:loss=0.04';
const rows = [
  ...rowsOf('bbr2', 50, [10, 10, 10]),
  ...rowsOf(fast, 80, [20, 40, 5]),
  // Nothing arrived on the first link, and the last link has no download with bbr2.
  ...rowsOf(slow, 50, [0, 20, 20, 80]),
];

test('ratiosToDefault gives geometric means over the places that have both', () => {
  const ratios = ratiosToDefault(rows, { seed: 1 });
  expect(ratios.get('bbr2')).toMatchObject({ throughput: { value: 1 }, rttP95: { value: 1 } });
  const { throughput, rttP95 } = ratios.get(fast)!;
  expect(throughput.value).toBeCloseTo((2 * 4 * 0.5) ** (1 / 3), 9);
  expect(rttP95.value).toBeCloseTo(1.6, 9);
  expect(throughput.ci95![0]).toBeLessThan(1);
  expect(throughput.ci95![1]).toBeGreaterThan(2);
  expect(ratios.get(slow)!.throughput.value).toBeCloseTo(2, 9);
});
