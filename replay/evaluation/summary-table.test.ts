import { expect, test } from '@jest/globals';
import { summarise } from './summary.ts';
import { summaryTable } from './summary-table.ts';
import { testSession } from './test-sessions.fixture.ts';

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
  algorithm  n    QoE    p5   p50   p95  Mbit/s  stall s  worst 5%  severe  wasted            dQoE [95%]  ratio    dWorst 5% [95%]  gap closed
  mpc-d      9  51.00  50.0  51.0  52.0    3.00     4.00       8.0    0.0%    0.0%                     -      -                  -           -
  mpc-l      9  56.00  55.0  56.0  57.0    3.00     0.00       0.0    0.0%    0.0%  +5.00 [+5.00, +5.00]   1.10  -8.0 [-8.0, -5.5]           -
`,
  );
  expect(summaryTable([])).toBe('');
});
