import { rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { linkEmulator } from './programs.ts';
import { ratiosToDefault, type SweepRow } from './sweep.ts';

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
