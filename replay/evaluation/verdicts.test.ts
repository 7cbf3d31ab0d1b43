import { describe, expect, test } from '@jest/globals';
import type { SessionResult } from '../results.ts';
import { summarise } from './summary.ts';
import { testSession } from './test-sessions.fixture.ts';
import { largeDatasets, shownGapClosed, tooFewSessions } from './verdicts.ts';

const summaryOf = (sessions: SessionResult[]) =>
  summarise(sessions, {
    scenario: { ladderBps: [3e6, 120e6], segmentSeconds: 4, segmentCount: 48, mu: 4.3, lambda: 1 },
    baseline: 'mpc-d',
    resamples: 500,
  });

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
    const summary = summaryOf(played({ 'mpc-d': () => 50, ...qoe }, { recordings }));
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
    expect(tooFewSessions(summaryOf(two(1)))).toBe('Fewer than 8 sessions per algorithm decide nothing: set.');
    expect(tooFewSessions(summaryOf(two(7)))).toBe('Fewer than 8 sessions per algorithm decide nothing: set.');
    expect(tooFewSessions(summaryOf(two(8)))).toBeUndefined();
    expect(tooFewSessions([])).toBeUndefined();
  });

  test('one sentence names all data sets', () => {
    const summary = summaryOf([...two(7, 'a'), ...two(9, 'b'), ...two(1, 'c')]);
    const sentence = 'Fewer than 8 sessions per algorithm decide nothing: a, c.';
    expect(tooFewSessions(summary)).toBe(sentence);
    const few = summaryOf([...two(1, 'a'), ...two(1, 'b')]);
    expect(tooFewSessions(few)).toBe('Fewer than 8 sessions per algorithm decide nothing: a, b, all together.');
  });
});

test('data sets with several recordings have figures of their own, else all together', () => {
  const one = (dataset: string) => played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { dataset, recordings: 1 });
  const large = played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { dataset: 'large' });
  expect(largeDatasets(summaryOf([...one('a'), ...large, ...one('b')]))).toEqual(['large']);
  expect(largeDatasets(summaryOf([...one('a'), ...one('b')]))).toEqual(['all']);
  expect(largeDatasets(summaryOf(one('a')))).toEqual(['a']);
  // Without a comparison, sessions count.
  expect(largeDatasets(summaryOf(['a', 'b'].map((dataset) => testSession({ dataset }))))).toEqual(['all']);
});
