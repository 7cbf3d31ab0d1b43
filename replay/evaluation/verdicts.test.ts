import { describe, expect, test } from '@jest/globals';
import type { SessionResult } from '../results.ts';
import { summarise } from './summary.ts';
import { summaryTable } from './summary-table.ts';
import { testSession } from './test-sessions.fixture.ts';
import { oneRecordingDatasets, shownGapClosed, tooFewSessions } from './verdicts.ts';

const summaryOf = (sessions: SessionResult[]) =>
  summarise(sessions, { scenario: { ladderBps: [3e6, 120e6] }, baseline: 'mpc-d', resamples: 500 });

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
    const cell = summaryTable(summary).split('\n')[3]!.split(/ {2,}/).at(-1);
    return [shownGapClosed(row, summary)?.value, cell];
  };

  test('is shown up to 1, also below 0', () => {
    expect(shown({ 'mpc-l': () => 55, 'mpc-o': () => 60 })).toEqual([0.5, '50%']);
    expect(shown({ 'mpc-l': () => 60, 'mpc-o': () => 60 })).toEqual([1, '100%']);
    expect(shown({ 'mpc-l': () => 49, 'mpc-o': () => 60 })).toEqual([-0.1, '-10%']);
  });

  test('is a dash above the oracle', () => {
    expect(shown({ 'mpc-l': () => 60.4, 'mpc-o': () => 60 })).toEqual([undefined, '-']);
    expect(shown({ 'mpc-l': () => 70, 'mpc-o': () => 60 })).toEqual([undefined, '-']);
  });

  test("is a dash if the oracle's lead is not clearly positive, or has no interval", () => {
    const uncertain = (i: number) => (i % 2 === 0 ? 90 : 30);
    expect(shown({ 'mpc-l': () => 55, 'mpc-o': uncertain })).toEqual([undefined, '-']);
    expect(shown({ 'mpc-l': () => 55, 'mpc-o': () => 60 }, 1)).toEqual([undefined, '-']);
  });
});

describe('too few sessions', () => {
  const two = (recordings: number, dataset?: string) =>
    played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { recordings, ...(dataset !== undefined && { dataset }) });

  test('one, or fewer than eight, decide nothing; eight are enough', () => {
    expect(tooFewSessions(summaryOf(two(1)))).toBe('One session per algorithm decides nothing: set.');
    expect(tooFewSessions(summaryOf(two(7)))).toBe('Fewer than 8 sessions per algorithm decide nothing: set.');
    expect(tooFewSessions(summaryOf(two(8)))).toBeUndefined();
    expect(tooFewSessions([])).toBeUndefined();
  });

  test('one sentence names all data sets', () => {
    const summary = summaryOf([...two(7, 'a'), ...two(9, 'b'), ...two(1, 'c')]);
    const sentence = 'Fewer than 8 sessions per algorithm decide nothing: a, c.';
    expect(tooFewSessions(summary)).toBe(sentence);
    const table = summaryTable(summary);
    expect(table.endsWith(`\n\n${sentence}\n`)).toBe(true);
    expect(table.match(/decide/g)).toHaveLength(1);
    const few = summaryOf([...two(1, 'a'), ...two(1, 'b')]);
    expect(tooFewSessions(few)).toBe('Fewer than 8 sessions per algorithm decide nothing: a, b, all together.');
  });
});

test('two or more data sets with one recording share a block of the table', () => {
  const sets = (names: readonly string[]) =>
    names.flatMap((dataset) => played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { dataset, recordings: 1 }));
  const large = played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { dataset: 'large' });
  expect(oneRecordingDatasets(summaryOf([...large, ...sets(['a'])]))).toEqual(new Set());
  const summary = summaryOf([...sets(['a']), ...large, ...sets(['b'])]);
  expect(oneRecordingDatasets(summary)).toEqual(new Set(['a', 'b']));
  const blocks = summaryTable(summary).split('\n\n');
  const cells = blocks[0]!.split('\n').map((line) => line.trim().split(/ {2,}/).slice(0, 3));
  expect(cells).toEqual([
    ['data sets with one recording each | against mpc-d | no intervals: one recording'],
    ['data set', 'algorithm', 'n'],
    ...['a', 'b'].flatMap((dataset) => ['mpc-d', 'mpc-l'].map((algorithm) => [dataset, algorithm, '1'])),
  ]);
  expect(blocks.map((block) => block.split(' | ')[0]).slice(1, 3)).toEqual(['large', 'all data sets together']);
  // Without a comparison, one session is one recording.
  const alone = ['a', 'b'].map((dataset) => testSession({ dataset }));
  expect(oneRecordingDatasets(summaryOf(alone))).toEqual(new Set(['a', 'b']));
});
