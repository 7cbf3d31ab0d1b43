import { expect, test } from '@jest/globals';
import { ratiosToDefault, type SweepRow, settingMedians } from './sweep.ts';

/** One download in each recording group, with these throughputs in Mbit/s and p95 RTTs in ms. */
function rowsOf(flows: string, figures: readonly (readonly [mbps: number, rttMs: number])[]): SweepRow[] {
  return figures.map(([mbps, rttMs], i) => ({
    ...{ dataset: 'd', trace: `t${i}`, group: `g${i}`, startSeconds: 0, seed: i, flows },
    result: { throughputBps: mbps * 1e6, rttSecondsP95: rttMs / 1000, lostShare: 0.01 },
  }));
}

const fast = 'bbr2:loss=0.16';
const slow = 'bbr2:loss=0.04';
const rows = [
  ...rowsOf('bbr2', [
    [10, 50],
    [10, 50],
    [10, 50],
  ]),
  ...rowsOf(fast, [
    [20, 80],
    [40, 80],
    [5, 80],
  ]),
  // Nothing arrived on the first link, the last one has no download of bbr2.
  ...rowsOf(slow, [
    [0, 50],
    [20, 50],
    [20, 50],
    [80, 50],
  ]),
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

test('settingMedians are over the links', () => {
  expect(settingMedians(rows, fast)).toEqual({ throughputBps: 20e6, rttSecondsP95: 0.08, lostShare: 0.01 });
});
