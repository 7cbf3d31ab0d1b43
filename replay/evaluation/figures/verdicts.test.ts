import { expect, test } from '@jest/globals';
import { testSession, testSummary } from '../test-sessions.fixture.ts';
import { largeDatasets, shownGapClosed, tooFewSessions } from './verdicts.ts';

/** `qoe` of each algorithm in session i of `recordings` with one session each. */
function played(qoe: Readonly<Record<string, (i: number) => number>>, { recordings = 12, dataset = 'set' } = {}) {
  return Object.entries(qoe).flatMap(([algorithm, of]) =>
    Array.from({ length: recordings }, (_, i) =>
      testSession({ dataset, algorithm, trace: `t${i}`, group: `g${i}`, qoeLinear: of(i) }),
    ),
  );
}

const shown = (qoe: Parameters<typeof played>[0], recordings = 12) => {
  const summary = testSummary(played({ 'mpc-d': () => 50, ...qoe }, { recordings }));
  const row = summary.find(({ algorithm }) => algorithm === 'mpc-l')!;
  return shownGapClosed(row, summary)?.value;
};

test('the gap closed is shown up to 1, also below 0, and is a dash above the oracle', () => {
  const shownFor = (qoe: number) => shown({ 'mpc-l': () => qoe, 'mpc-o': () => 60 });
  expect([49, 55, 60, 60.4, 70].map(shownFor)).toEqual([-0.1, 0.5, 1, undefined, undefined]);
});

test("the gap closed is a dash if the oracle's lead is not clearly positive, or has no interval", () => {
  const uncertain = (i: number) => (i % 2 === 0 ? 90 : 30);
  expect(shown({ 'mpc-l': () => 55, 'mpc-o': uncertain })).toBe(undefined);
  expect(shown({ 'mpc-l': () => 55, 'mpc-o': () => 60 }, 1)).toBe(undefined);
});

/** Two algorithms in data sets with these numbers of recordings. */
const summaryOf = (recordings: Readonly<Record<string, number>>) =>
  testSummary(
    Object.entries(recordings).flatMap(([dataset, count]) =>
      played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { dataset, recordings: count }),
    ),
  );

test.each<[Record<string, number>, string | undefined]>([
  [{ a: 1 }, 'a.'],
  [{ a: 7 }, 'a.'],
  [{ a: 8 }, undefined],
  [{}, undefined],
  [{ a: 7, b: 9, c: 1 }, 'a, c.'],
  [{ a: 1, b: 1 }, 'a, b, all together.'],
])('recordings %j: data sets with fewer than eight sessions decide nothing', (recordings, names) => {
  const sentence = names && `Fewer than 8 sessions per algorithm decide nothing: ${names}`;
  expect(tooFewSessions(summaryOf(recordings))).toBe(sentence);
});

test('data sets with several recordings have figures of their own, else all together', () => {
  expect(largeDatasets(summaryOf({ a: 1, large: 12, b: 1 }))).toEqual(['large']);
  expect(largeDatasets(summaryOf({ a: 1, b: 1 }))).toEqual(['all']);
  expect(largeDatasets(summaryOf({ a: 1 }))).toEqual(['a']);
  // Without a comparison, sessions count.
  expect(largeDatasets(testSummary(['a', 'b'].map((dataset) => testSession({ dataset }))))).toEqual(['all']);
});
