import { expect, test } from '@jest/globals';
import { between, forAll } from '../property.fixture.ts';
import { beginShare, freezeCounts, freezesOf } from './freezes.ts';
import { PERCEIVED_PRICES, perceivedQoe, perceivedWeights } from './perceived-qoe.ts';
import { stallCost } from './qoe.ts';

/** Stalls of `seconds`, each `apart` after the end of the one before. */
const slices = (count: number, seconds: number, apart: number) =>
  Array.from({ length: count }, (_, i) => {
    const startSeconds = 10 + i * (seconds + apart);
    return { startSeconds, endSeconds: startSeconds + seconds };
  });

const costOf = (stalls: ReturnType<typeof slices>) => {
  const session = { qualities: Array(30).fill(100), segmentSeconds: 4, startupSeconds: 0 };
  return 30 * (100 - perceivedQoe({ ...session, stalls }));
};

test('the begin of a freeze costs nothing up to 0.1 s and its whole price from 0.4 s on, and rises in between', () => {
  expect([0, 0.05, 0.1, 0.25, 0.4, 7].map(beginShare)).toEqual([0, 0, 0, expect.closeTo(0.5, 9), 1, 1]);
  forAll([between(0, 1), between(0, 1)], {}, (a, b) => {
    expect(beginShare(Math.max(a, b))).toBeGreaterThanOrEqual(beginShare(Math.min(a, b)));
  });
});

test('a plan and the figures price a freeze alike', () => {
  forAll([between(0, 3)], {}, (seconds) => {
    expect(costOf(slices(1, seconds, 0))).toBeCloseTo(
      stallCost(
        perceivedWeights(() => 0),
        seconds,
      ),
      9,
    );
  });
});

test('nothing hides in slices: ten freezes of 0.09 s, 0.5 s apart, cost as much as one of 0.9 s', () => {
  expect(costOf(slices(10, 0.09, 0.5))).toBeCloseTo(costOf(slices(1, 0.9, 0)), 9);
  expect(costOf(slices(10, 0.09, 3))).toBeCloseTo(0.9 * PERCEIVED_PRICES.stallSecond, 9);
  expect(freezesOf(slices(3, 1, 2))).toEqual([3]);
  expect(freezesOf(slices(3, 1, 2.1))).toEqual([1, 1, 1].map((seconds) => expect.closeTo(seconds, 9)));
  expect(freezeCounts([...slices(4, 0.05, 0.5), ...slices(2, 0.05, 5).map(later)])).toEqual({
    freezeCount: 1,
    shortFreezeCount: 2,
  });
});

const later = ({ startSeconds, endSeconds }: { startSeconds: number; endSeconds: number }) => ({
  startSeconds: startSeconds + 50,
  endSeconds: endSeconds + 50,
});
