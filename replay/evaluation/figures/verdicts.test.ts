import { describe, expect, test } from '@jest/globals';
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

describe('the gap closed', () => {
  const shown = (qoe: Parameters<typeof played>[0], recordings = 12) => {
    const summary = testSummary(played({ 'mpc-d': () => 50, ...qoe }, { recordings }));
    const row = summary.find(({ algorithm }) => algorithm === 'mpc-l')!;
    return shownGapClosed(row, summary)?.value;
  };

  test('is shown up to 1, also below 0, and is a dash above the oracle', () => {
    const shownFor = (qoe: number) => shown({ 'mpc-l': () => qoe, 'mpc-o': () => 60 });
    expect([49, 55, 60, 60.4, 70].map(shownFor)).toEqual([-0.1, 0.5, 1, undefined, undefined]);
  });

  test("is a dash if the oracle's lead is not clearly positive, or has no interval", () => {
    const uncertain = (i: number) => (i % 2 === 0 ? 90 : 30);
    expect(shown({ 'mpc-l': () => 55, 'mpc-o': uncertain })).toBe(undefined);
    expect(shown({ 'mpc-l': () => 55, 'mpc-o': () => 60 }, 1)).toBe(undefined);
  });
});

describe('too few sessions', () => {
  const two = (recordings: number, dataset?: string) =>
    played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { recordings, ...(dataset !== undefined && { dataset }) });

  test('one, or fewer than eight, decide nothing; eight are enough', () => {
    expect(tooFewSessions(testSummary(two(1)))).toBe('Fewer than 8 sessions per algorithm decide nothing: set.');
    expect(tooFewSessions(testSummary(two(7)))).toBe('Fewer than 8 sessions per algorithm decide nothing: set.');
    expect(tooFewSessions(testSummary(two(8)))).toBeUndefined();
    expect(tooFewSessions([])).toBeUndefined();
  });

  test('one sentence names all data sets', () => {
    const summary = testSummary([...two(7, 'a'), ...two(9, 'b'), ...two(1, 'c')]);
    const sentence = 'Fewer than 8 sessions per algorithm decide nothing: a, c.';
    expect(tooFewSessions(summary)).toBe(sentence);
    const few = testSummary([...two(1, 'a'), ...two(1, 'b')]);
    expect(tooFewSessions(few)).toBe('Fewer than 8 sessions per algorithm decide nothing: a, b, all together.');
  });
});

test('data sets with several recordings have figures of their own, else all together', () => {
  const one = (dataset: string) => played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { dataset, recordings: 1 });
  const large = played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { dataset: 'large' });
  expect(largeDatasets(testSummary([...one('a'), ...large, ...one('b')]))).toEqual(['large']);
  expect(largeDatasets(testSummary([...one('a'), ...one('b')]))).toEqual(['all']);
  expect(largeDatasets(testSummary(one('a')))).toEqual(['a']);
  // Without a comparison, sessions count.
  expect(largeDatasets(testSummary(['a', 'b'].map((dataset) => testSession({ dataset }))))).toEqual(['all']);
});
