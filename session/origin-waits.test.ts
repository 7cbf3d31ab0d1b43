import { expect, test } from '@jest/globals';
import { FakePort } from './fake-port.fixture.ts';
import type { Outcome } from './player-port.ts';
import { OriginWaits } from './session.ts';

const port = new FakePort();
const SITUATION = port.now!;

/** Downloads of 4 Mbit/s on a link of 8: index, representation, seconds to the first byte, and outcome. */
function waitsAfter(
  ...rows: (readonly [index: number, representation: number, seconds?: number, outcome?: Outcome])[]
) {
  const origin = new OriginWaits();
  let now = 0;
  const setUps = rows.map(([index, representation, seconds, outcome = 'whole']) => {
    const requestedAtSeconds = now;
    const isAnswered = seconds !== undefined && outcome === 'whole';
    now += (seconds ?? 0) + (outcome === 'whole' ? 0.5 : 0);
    const firstByteAtSeconds = isAnswered ? requestedAtSeconds + seconds : undefined;
    const segment = port.segment(index, representation);
    const times = { requestedAtSeconds, firstByteAtSeconds, dueSeconds: requestedAtSeconds };
    const download = { segment, segmentIndex: index, receivedBits: isAnswered ? 4e6 : 0, ...times };
    return origin.ended(download, outcome, now, 8e6);
  });
  const of = (representation: number) => origin.expectedSeconds(now, SITUATION.ladder[representation]!.id);
  const applied = (atSeconds = now) => origin.withSetUps(SITUATION, atSeconds);
  return { setUps, expected: [of(0), of(1), of(2)], applied };
}

const setUps = ({ ladder, playback: { setupSeconds } }: typeof SITUATION) => setupSeconds ?? ladder.map(() => 0);

test('before the first byte nothing is expected; a usual latency changes nothing', () => {
  expect(waitsAfter().expected).toEqual([Infinity, Infinity, Infinity]);
  const { setUps, expected, applied } = waitsAfter([0, 0, 0.05], [1, 1, 0.1], [2, 1, 0.05]);
  expect([...setUps, ...expected]).toEqual(Array(6).fill(0));
  expect(applied()).toBe(SITUATION);
});

test('a slow first byte after a switch is expected at the next switch alone, also to a new representation', () => {
  const { setUps, expected, applied } = waitsAfter([0, 0, 3], [1, 0, 0.05]);
  expect({ setUps, expected }).toEqual({ setUps: [3, 0], expected: [0, 3, 3] });
  expect(applied().playback.setupSeconds).toEqual([0, 3, 3]);
  expect(waitsAfter([0, 0, 3], [1, 0, 0.05], [2, 1, 0.05]).expected).toEqual([3, 0, 0]);
});

test('a slow switch counts for 20 s, and after another slow one until a fast one', () => {
  const onwards = (from: number) => Array.from({ length: 40 }, (_, i) => [from + i, 0, 0.05] as const);
  expect(waitsAfter([0, 0, 0.05], [1, 1, 3], ...onwards(2)).expected).toEqual([0, 0, 0]);
  const twice = [
    [0, 0, 0.05],
    [1, 1, 3],
    [2, 2, 3],
  ] as const;
  expect(waitsAfter(...twice, ...onwards(3)).expected).toEqual([0, 0, 3]);
  expect(waitsAfter(...twice, [3, 0, 0.05], [4, 2, 0.05], ...onwards(5)).expected).toEqual([0, 0, 0]);
});

test('two slow requests in a row make a usual wait, one does not', () => {
  expect(waitsAfter([0, 0, 0.05], [1, 0, 3]).expected[0]).toBe(0);
  expect(waitsAfter([0, 0, 0.05], [1, 0, 3], [2, 0, 2]).expected[0]).toBe(2);
});

test('a representation that fails or is silent where another one answers is avoided, for longer until it answers', () => {
  const fails = [4, 2, 0.1, 'failed'] as const;
  const other = [4, 0, 0.05] as const;
  const silent = [5, 2, 2.1, 'abandoned'] as const;
  const avoidedAt = (rows: Parameters<typeof waitsAfter>, ...times: number[]) =>
    times.map((at) => setUps(waitsAfter([0, 0, 0.05], ...rows).applied(at))[2]);
  expect(avoidedAt([fails, other], 2, 10, 12)).toEqual([60, 60, 0]);
  expect(avoidedAt([fails, other, silent, [5, 1, 0.05]], 60, 64)).toEqual([60, 0]);
  expect(avoidedAt([fails, other, [6, 2, 0.05], [7, 2, 0.1, 'failed'], [7, 0, 0.05]], 10, 14)).toEqual([60, 0]);
});

test('several representations without an answer were an outage, unless they fail again', () => {
  const both = (index: number) =>
    [
      [index, 2, 2.1, 'abandoned'],
      [index, 1, 0.1, 'failed'],
      [index, 0, 0.05],
    ] as const;
  expect(setUps(waitsAfter([0, 0, 0.05], ...both(4)).applied())).toEqual([0, 0, 0]);
  expect(setUps(waitsAfter([0, 0, 0.05], ...both(4), ...both(5)).applied())).toEqual([0, 60, 60]);
});

test.each<[string, ...Parameters<typeof waitsAfter>]>([
  ['the other one is slow, too: the link', [4, 2, 2.1, 'abandoned'], [4, 0, 1]],
  ['the same one answers', [4, 2, 0.1, 'failed'], [4, 2, 0.05]],
  ['another segment answers: this one is missing', [4, 2, 0.1, 'failed'], [5, 0, 0.05]],
  ['the other one failed before, too: an outage', [4, 2, 2.1, 'abandoned'], [4, 0, 0.1, 'failed'], [4, 0, 0.05]],
  ['it was abandoned soon', [4, 2, 1.1, 'abandoned'], [4, 0, 0.05]],
])('nothing is avoided where %s', (_, ...rows) => {
  expect(setUps(waitsAfter([0, 0, 0.05], ...rows).applied())).toEqual([0, 0, 0]);
});
