import { expect, test } from '@jest/globals';
import type { Outcome } from '../../predictor/link/segment-download.ts';
import { FakePort } from '../fake-port.fixture.ts';
import { OriginWaits } from './origin-waits.ts';

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
  const applied = (atSeconds = now) => origin.applied(SITUATION, atSeconds);
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

test('a representation that fails or is silent where another one answers is avoided, after another try for longer', () => {
  const fails = [4, 2, 0.1, 'failed'] as const;
  const once = waitsAfter([0, 0, 0.05], fails, [4, 0, 0.05]);
  expect(setUps(once.applied())).toEqual([0, 0, 60]);
  expect(setUps(once.applied(62))).toEqual([0, 0, 0]);
  const silent = [5, 2, 2.1, 'abandoned'] as const;
  const twice = waitsAfter([0, 0, 0.05], fails, [4, 0, 0.05], silent, [5, 1, 0.05]);
  expect(setUps(twice.applied(500))).toEqual([0, 0, 60]);
});

test.each<[string, ...Parameters<typeof waitsAfter>]>([
  ['the other one is slow, too: the link', [4, 2, 2.1, 'abandoned'], [4, 0, 1]],
  ['the same one answers', [4, 2, 0.1, 'failed'], [4, 2, 0.05]],
  ['another segment answers: this one is missing', [4, 2, 0.1, 'failed'], [5, 0, 0.05]],
  ['it was abandoned soon', [4, 2, 1.1, 'abandoned'], [4, 0, 0.05]],
])('nothing is avoided where %s', (_, ...rows) => {
  expect(setUps(waitsAfter([0, 0, 0.05], ...rows).applied())).toEqual([0, 0, 0]);
});
