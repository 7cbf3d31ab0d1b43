import { expect, test } from '@jest/globals';
import { DEFAULT_FLOWS, groupsOf, ratiosToDefault, type SweepRow, settingMedians, sweepTable } from './sweep.ts';

/** One download in each recording group, with these throughputs in Mbit/s and p95 RTTs in ms. */
function rowsOf(flows: string, figures: readonly (readonly [mbps: number, rttMs: number])[]): SweepRow[] {
  return figures.map(([mbps, rttMs], i) => ({
    ...{ dataset: 'd', trace: `t${i}`, group: `g${i}`, startSeconds: 0, seed: i, flows },
    results: [{ throughputBps: mbps * 1e6, rttSecondsP95: rttMs / 1000, lostShare: 0.01 }],
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

test('groupsOf names the congestion control of each group', () => {
  const flows = '8*cubic+12*bbr2:probe-rtt=4000,loss=0.08';
  expect(groupsOf(flows)).toEqual(['cubic', 'bbr2:probe-rtt=4000,loss=0.08']);
  for (const setting of DEFAULT_FLOWS) expect(groupsOf(setting).length).toBeGreaterThan(0);
});

test.each(['', '0*bbr2', '8*', 'bbr2+', '8*vegas'])('"%s" names no flows', (text) => {
  expect(() => groupsOf(text)).toThrow('--flows: expected');
});

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

test('sweepTable has medians, ratios with intervals, and shares of groups side by side', () => {
  expect(settingMedians(rows, fast)).toEqual({ throughputBps: 20e6, rttSecondsP95: 0.08, lostShare: 0.01 });
  const pairs = [3, 5, 8].flatMap((mbps) => {
    const [row] = rowsOf('8*cubic+8*bbr2', [[mbps, 50]]) as [SweepRow];
    return [{ ...row, results: [row.results[0]!, { ...row.results[0]!, throughputBps: 10e6 }] }];
  });
  const tool = { name: 'leo-abr', version: '0', commit: null, command: 'transport sweep', seed: 1 } as const;
  const sweep = { tool, scenario: 'hd-16', impairment: 'none', seconds: 20, rows: [...rows, ...pairs] };
  const lines = sweepTable(sweep).split('\n');
  expect(lines[0]).toMatch(/^setting +Mbit\/s +p95 RTT, ms +lost, % +throughput \/ bbr2 +p95 RTT \/ bbr2$/);
  expect(lines[2]).toMatch(
    /^bbr2:loss=0.16 +20\.00 +80\.00 +1\.00 +1\.59 \([\d.]+ to [\d.]+\) +1\.60 \(1\.60 to 1\.60\)$/,
  );
  expect(lines.at(-2)).toMatch(/^8\*cubic\+8\*bbr2 +0\.34 +0\.50 +0\.74$/);
});
