import { expect, test } from '@jest/globals';
import { summarise } from './summary.ts';
import { summaryTable } from './summary-table.ts';
import { testLiveMetrics, testSession } from './test-sessions.fixture.ts';

test('a block per data set, aligned columns, dashes for values that do not apply', () => {
  const sessions = ['mpc-d', 'mpc-l'].flatMap((algorithm, a) =>
    Array.from({ length: 9 }, (_, i) =>
      testSession({
        algorithm,
        trace: `t${i}`,
        group: `g${i}`,
        qoeLinear: 50 + (i % 3) + 5 * a,
        stallSeconds: (1 - a) * i,
        endedBy: i === 0 && a === 1 ? 'cutoff' : 'end',
      }),
    ),
  );
  expect(summaryTable(summarise(sessions, { scenario: { ladderBps: [3e6, 120e6] }, baseline: 'mpc-d' }))).toBe(
    `set | against mpc-d | intervals resample 9 groups | mpc-l: 1 cut off
  algorithm  n    QoE    p5   p50   p95  Mbit/s  stall s  worst 5%  severe  wasted            dQoE [95%]  ratio    dWorst 5% [95%]    dSevere % [95%]  gap closed
  mpc-d      9  51.00  50.0  51.0  52.0    3.00     4.00       8.0    0.0%    0.0%                     -      -                  -                  -           -
  mpc-l      9  56.00  55.0  56.0  57.0    3.00     0.00       0.0    0.0%    0.0%  +5.00 [+5.00, +5.00]   1.10  -8.0 [-8.0, -5.5]  +0.0 [+0.0, +0.0]           -
`,
  );
  expect(summaryTable([])).toBe('');
});

test('live sessions have columns of their own', () => {
  const sessions = ['mpc-d', 'mpc-l'].flatMap((algorithm, a) =>
    Array.from({ length: 9 }, (_, i) =>
      testSession({
        algorithm,
        trace: `t${i}`,
        group: `g${i}`,
        live: testLiveMetrics({ latencySecondsMean: 1.2 + a / 10 }),
      }),
    ),
  );
  const table = summaryTable(summarise(sessions, { scenario: { ladderBps: [3e6, 120e6] }, baseline: 'mpc-d' }));
  const [, titles, , row] = table.split('\n').map((line) => line.trim().split(/ {2,}/));
  expect(titles).toEqual([
    ...['algorithm', 'n', 'QoE', 'Mbit/s', 'stalls/min', 'stall s/min', 'latency s', 'p95 s', 'not at 1x', 'startup s'],
    ...['wasted', 'dQoE [95%]', 'dStall s/min [95%]', 'dLatency s [95%]'],
  ]);
  expect(row).toEqual([
    ...['mpc-l', '9', '20.00', '3.00', '0.75', '0.50', '1.30', '1.50', '25%', '1.00', '0.0%'],
    ...['+0.00 [+0.00, +0.00]', '+0.00 [+0.00, +0.00]', '+0.10 [+0.10, +0.10]'],
  ]);
});
