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
"With \`mpc-l\` instead of \`mpc-d\` (9 pairs), perceived QoE is 2.5 higher (better: +2.5) and stalled time is 4.00 s lower (better: −6.08 to −1.92). No difference was found in bitrate (0.00 Mbit/s).

algorithm  sessions  perceived  Mbit/s  stalls, s  startup, s  perceived, difference
mpc-d             9       25.5    3.00       4.00        1.00                      –
mpc-l             9       28.0    3.00       0.00        1.00                   +2.5
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
  const [, titles, row, ...others] = summaryTable(testResults(sessions)).split('\n').slice(1);
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
  const [verdict, , titles, , row] = summaryTable(testResults(sessions), { wide: true }).split('\n');
  expect(verdict).toBe(
    'With `mpc-l` instead of `mpc-d` (9 pairs), bitrate is 0.50 Mbit/s higher (better: +0.50) and latency is 0.10 s ' +
      'higher (worse: +0.10). No difference was found in QoE (0.00) and stalled time (0.00 s/min).',
  );
  const [titleCells, cellsOf] = [titles, row].map((line) => line!.trim().split(/ {2,}/));
  const cells = Object.fromEntries(titleCells!.map((title, i) => [title, cellsOf![i]]));
  expect(Object.entries(cells)).toEqual(
    Object.entries({
      ...{ algorithm: 'mpc-l', sessions: '9', quality: '77.9', QoE: '20.00', 'Mbit/s': '3.50', 'stalls / min': '0.75' },
      ...{ 'stall s / min': '0.50', 'latency, s': '1.30', 'latency p95, s': '1.50', 'off rate 1, %': '25.0' },
      ...{ 'jumps / min': '0.50', 'QoE, difference': '0.00', 'Mbit/s, difference': '+0.50' },
      ...{ 'stalls / min, difference': '0.00', 'stall s / min, difference': '0.00', 'latency, s, difference': '+0.10' },
    }),
  );
});
