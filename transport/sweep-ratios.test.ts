import { describe, expect, test } from '@jest/globals';
import { chosenByLeavingOut, DEFAULT_FLOWS, parseFlows, ratiosToDefault, type SweepRow } from './sweep-ratios.ts';

/** One download in each recording group, with these throughputs in Mbit/s and p95 RTTs in ms. */
function rowsOf(flows: string, figures: readonly [number, number][]): SweepRow[] {
  return figures.map(([mbps, rttMs], i) => ({
    ...{ dataset: 'd', trace: `t${i}`, group: `g${i}`, startSeconds: 0, seed: i, flows },
    results: [{ throughputBps: mbps * 1e6, rttSecondsMedian: 0.04, rttSecondsP95: rttMs / 1000, lostShare: 0.01 }],
  }));
}

const fast = 'bbr2:loss=0.16';
const slow = 'bbr2:loss=0.04';
const bloated = 'bbr2:loss=0.08';
const rows = [
  ...rowsOf('bbr2', [
    [10, 50],
    [10, 50],
    [10, 50],
  ]),
  ...rowsOf(fast, [
    [20, 52],
    [40, 52],
    [5, 52],
  ]),
  ...rowsOf(slow, [
    [12, 50],
    [12, 50],
    [12, 50],
  ]),
  ...rowsOf(bloated, [
    [90, 80],
    [90, 80],
    [90, 80],
  ]),
];

describe('parseFlows', () => {
  test('reads groups of flows', () => {
    expect(parseFlows('bbr2')).toEqual([{ congestion: 'bbr2', flows: 1 }]);
    expect(parseFlows('8*cubic+12*bbr2:probe-rtt=4000,loss=0.08')).toEqual([
      { congestion: 'cubic', flows: 8 },
      { congestion: 'bbr2:probe-rtt=4000,loss=0.08', flows: 12 },
    ]);
    for (const flows of DEFAULT_FLOWS) expect(parseFlows(flows).length).toBeGreaterThan(0);
  });

  test.each(['', '0*bbr2', '8*', 'bbr2+', '8*vegas'])('rejects "%s"', (text) => {
    expect(() => parseFlows(text)).toThrow('--flows: expected');
  });
});

describe('ratiosToDefault', () => {
  test('gives geometric means over the same places', () => {
    const ratios = ratiosToDefault(rows, { seed: 1 });
    expect(ratios.get('bbr2')).toMatchObject({ places: 3, throughput: { value: 1 }, rttP95: { value: 1 } });
    expect(ratios.get(fast)!.throughput.value).toBeCloseTo((2 * 4 * 0.5) ** (1 / 3), 9);
    expect(ratios.get(bloated)!.rttP95.value).toBeCloseTo(1.6, 9);
    const [low, high] = ratios.get(fast)!.throughput.ci95!;
    expect(low).toBeLessThan(1);
    expect(high).toBeGreaterThan(2);
  });

  test('leaves out places without the default, and downloads of nothing', () => {
    const some = [
      ...rowsOf('bbr2', [[10, 50]]),
      ...rowsOf(fast, [
        [20, 50],
        [80, 50],
      ]),
      ...rowsOf(slow, [[0, 50]]),
    ];
    const ratios = ratiosToDefault(some, { seed: 1 });
    expect(ratios.get(fast)).toMatchObject({ places: 1, throughput: { value: expect.closeTo(2, 9), ci95: null } });
    expect(ratios.has(slow)).toBe(false);
  });
});

test('chosenByLeavingOut judges a choice on the group that it did not see, and heeds the round trip', () => {
  const { choices, ratios } = chosenByLeavingOut(rows, { seed: 1 });
  // `slow` has 1.2 everywhere; `fast` (4 x 0.5)^(1/2), (2 x 0.5)^(1/2) and (2 x 4)^(1/2) without g0, g1 and g2.
  expect(choices).toEqual([
    { group: 'g0', setting: fast },
    { group: 'g1', setting: slow },
    { group: 'g2', setting: fast },
  ]);
  expect(ratios!.throughput.value).toBeCloseTo((2 * 1.2 * 0.5) ** (1 / 3), 9);
});
