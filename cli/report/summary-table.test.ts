import { expect, test } from '@jest/globals';
import { testLiveMetrics, testResults, testSession } from '../../replay/evaluation/test-sessions.fixture.ts';
import type { SessionResult } from '../../replay/results.ts';
import { shownRows, summaryFigures } from './figures.ts';
import { summaryTable } from './summary-table.ts';

/** Sessions of `mpc-d` (algorithm 0) and `mpc-l` (algorithm 1) on nine recordings. */
const played = (of: (algorithm: number, i: number) => Partial<SessionResult> & { qoeLinear?: number }) =>
  ['mpc-d', 'mpc-l'].flatMap((algorithm, a) =>
    Array.from({ length: 9 }, (_, i) => testSession({ algorithm, trace: `t${i}`, group: `g${i}`, ...of(a, i) })),
  );

/** A session with a segment of this many GB per hour, which discards others. */
function data(kept: number, wasted: number, segmentSeconds = 4): Partial<SessionResult> {
  const bits = (gigabytes: number) => (gigabytes * 8e9 * segmentSeconds) / 3600;
  const { segments } = testSession();
  return { segments: segments.map((one) => ({ ...one, sizeBits: bits(kept) })), wastedBits: bits(wasted) };
}

test('aligned columns, dashes for values that do not apply, notes below', () => {
  const sessions = played((a, i) => ({
    // MPC-L plays segments of half the size, and discards as much again as half a segment.
    ...data(1 - a / 2, (a / 2) * (i % 2)),
    qoeLinear: 50 + (i % 3) + 5 * a,
    stallSeconds: (1 - a) * i,
    endedBy: i === 0 && a === 1 ? 'cutoff' : 'end',
  }));
  expect(summaryTable(testResults(sessions))).toMatchInlineSnapshot(`
"With \`mpc-l\` instead of \`mpc-d\` (9 pairs), perceived QoE is 2.5 higher (better: +2.5), stalled time is 4.00 s lower (better: −6.08 to −1.92) and 27.8 % less data is sent (better: −48.6 to −7.0).

algorithm  sessions  perceived  Mbit/s  GB / h  stalls, s  startup, s  perceived, difference
mpc-d             9       25.5    3.00    1.00       4.00        1.00                      –
mpc-l             9       28.0    3.00    0.72       0.00        1.00                   +2.5
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
    ...data(2 - a, a / 4, 2),
    meanBitrateBps: 3e6 + a * 5e5,
    live: testLiveMetrics({ latencySecondsMean: 1.2 + a / 10 }),
  }));
  const [verdict, , titles, , row] = summaryTable(testResults(sessions), { wide: true }).split('\n');
  expect(verdict).toBe(
    'With `mpc-l` instead of `mpc-d` (9 pairs), 37.5 % less data is sent (better: −37.5) and latency is 0.10 s higher ' +
      '(worse: +0.10). No difference was found in QoE (0.00) and stalled time (0.00 s/min).',
  );
  const [titleCells, cellsOf] = [titles, row].map((line) => line!.trim().split(/ {2,}/));
  const cells = Object.fromEntries(titleCells!.map((title, i) => [title, cellsOf![i]]));
  expect(Object.entries(cells)).toEqual(
    Object.entries({
      ...{
        algorithm: 'mpc-l',
        sessions: '9',
        perceived: '5.0',
        quality: '60.9',
        QoE: '20.00',
        'Mbit/s': '3.50',
        'GB / h': '1.25',
        'stalls / min': '0.00',
        'below 0.1 s / min': '0.00',
      },
      ...{ 'stall s / min': '0.50', 'latency, s': '1.30', 'latency p95, s': '1.50', 'off rate 1, %': '25.0' },
      ...{
        'perceived, difference': '0.0',
        'QoE, difference': '0.00',
        'Mbit/s, difference': '+0.50',
      },
      'data, %, difference': '−37.5',
      ...{ 'stalls / min, difference': '0.00', 'stall s / min, difference': '0.00', 'latency, s, difference': '+0.10' },
    }),
  );
});

test('the data that are saved are those that the own algorithm of the same player sends more', () => {
  const gigabytes = { dynamic: 2, 'mpc-l': 1.5, 'shaka@shaka': 1, 'mpc-l@shaka': 1.25, 'mpc-l@hls': 3 };
  const sessions = Object.entries(gigabytes).map(([algorithm, kept]) => testSession({ algorithm, ...data(kept, 0) }));
  const saved = summaryFigures({ ladderBps: [1e6] }).means.find(({ title }) => title === 'data saved, %')!;
  const of = (all: SessionResult[]) => shownRows(testResults(all).summary).map((row) => saved.of(row));
  expect(of(sessions)).toEqual([undefined, expect.closeTo(25), undefined, expect.closeTo(-25), undefined]);
  const live = ['throughput', 'mpc-l'].map((algorithm, i) =>
    testSession({ algorithm, live: testLiveMetrics(), ...data(2 - i, 0) }),
  );
  expect(of(live)).toEqual([undefined, expect.closeTo(50)]);
});
