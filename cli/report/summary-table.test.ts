import { expect, test } from '@jest/globals';
import { testLiveMetrics, testResults, testSession } from '../../replay/evaluation/test-sessions.fixture.ts';
import type { SessionResult } from '../../replay/results.ts';
import { summaryTable } from './summary-table.ts';

/** Sessions of `mpc-d` (algorithm 0) and `mpc-l` (algorithm 1) on nine recordings. */
const played = (of: (algorithm: number, i: number) => Partial<SessionResult> & { qoeLinear?: number }) =>
  ['mpc-d', 'mpc-l'].flatMap((algorithm, a) =>
    Array.from({ length: 9 }, (_, i) => testSession({ algorithm, trace: `t${i}`, group: `g${i}`, ...of(a, i) })),
  );

test('aligned columns, dashes for values that do not apply, notes below', () => {
  const sessions = played((a, i) => ({
    qoeLinear: 50 + (i % 3) + 5 * a,
    stallSeconds: (1 - a) * i,
    endedBy: i === 0 && a === 1 ? 'cutoff' : 'end',
  }));
  expect(summaryTable(testResults(sessions))).toMatchInlineSnapshot(`
"algorithm  sessions  perceived  quality  below 50, %  perceived, first 60 s    QoE  first 30 s  first 60 s  watch-weighted  by 30 s  by 600 s  ramp, s    p5  median   p95  Mbit/s  stalls  stalls, s  worst 5 %, s  over 10 s, %  startup, s  wasted, %  switches / min  15 s rhythm, %  QoE, difference  perceived, difference  perceived, first 60 s, difference    first 60 s, difference  worst 5 %, difference  over 10 s, difference  QoE ratio  gap closed
mpc-d             9       25.5     77.9          0.0                   74.3  51.00     −117.00     −117.00         −121.86  −126.62   −117.49      1.0  50.0    51.0  52.0    3.00    0.00       4.00           8.0           0.0        1.00        0.0             0.0             0.0                –                      –                                  –                         –                      –                      –          –           –
mpc-l             9       28.0     77.9          0.0                   66.6  56.00     −105.73     −104.87         −108.90  −113.34   −104.75      1.0  55.0    56.0  57.0    3.00    0.00       0.00           0.0           0.0        1.00        0.0             0.0             0.0            +5.00                   +2.5               −7.7 (−26.9 to +1.9)  +12.13 (−3.01 to +42.42)    −8.0 (−8.0 to −5.5)                    0.0       1.10           –
Differences are from mpc-d. 95 % intervals resample 9 groups of set.
set, mpc-l: 1 cut off.
"
`);
  expect(summaryTable(testResults([]))).toBe('');
  expect(summaryTable(testResults(sessions.slice(9)))).toContain('No session of mpc-d (--baseline), so');
});

test('several data sets have a column, and those with too few sessions are named', () => {
  const sessions = ['a', 'b'].flatMap((dataset) =>
    played(() => ({ dataset })).filter((_, i) => dataset === 'a' || i % 9 < 1),
  );
  const [titles, row, ...others] = summaryTable(testResults(sessions)).split('\n');
  const firstCells = [titles, row].map((line) => line!.split(/ {2,}/, 3).join());
  expect(firstCells).toEqual(['recordings,algorithm,sessions', 'a,mpc-d,9']);
  expect(others.slice(5)).toEqual([
    'Differences are from mpc-d. 95 % intervals resample 9 groups of a, 10 groups or recordings of all data sets. ' +
      'One recording, so no intervals: b.',
    'Fewer than 8 sessions per algorithm decide nothing: b.',
    '',
  ]);
});

test('live sessions have columns of their own', () => {
  const sessions = played((a) => ({
    meanBitrateBps: 3e6 + a * 5e5,
    live: testLiveMetrics({ latencySecondsMean: 1.2 + a / 10 }),
  }));
  const [titles, , row] = summaryTable(testResults(sessions))
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));
  const cells = Object.fromEntries(titles!.map((title, i) => [title, row![i]]));
  expect(Object.entries(cells)).toEqual(
    Object.entries({
      ...{ algorithm: 'mpc-l', sessions: '9', quality: '77.9', QoE: '20.00', 'Mbit/s': '3.50', 'stalls / min': '0.75' },
      ...{ 'stall s / min': '0.50', 'latency, s': '1.30', 'latency p95, s': '1.50', 'off rate 1, %': '25.0' },
      ...{ 'jumps / min': '0.50', 'QoE, difference': '0.00', 'Mbit/s, difference': '+0.50' },
      ...{ 'stalls / min, difference': '0.00', 'stall s / min, difference': '0.00', 'latency, s, difference': '+0.10' },
    }),
  );
});
