import { expect, test } from '@jest/globals';
import { type Declared, ladderOf, withBitrates } from './ladder.ts';

const picture = (id: string, bitrateBps: number, height?: number, more: Partial<Declared> = {}): Declared => ({
  ...{ id, bitrateBps },
  ...(height !== undefined && { width: (height * 16) / 9, height }),
  ...more,
});

test('a ladder is sorted by bitrate, and has the best picture of equal bitrates', () => {
  const all = [
    picture('c', 2e6, 720),
    picture('a', 1e6, 360),
    picture('b', 1e6, 540),
    picture('d', 2e6, 720, { frameRate: 50 }),
    picture('e', 3e6, 720, { score: 2 }),
    picture('f', 3e6, 1080, { score: 1 }),
  ];
  expect(ladderOf(all).map(({ id }) => id)).toEqual(['b', 'd', 'e']);
  expect(ladderOf([picture('x', 1e6), picture('y', 1e6)]).map(({ id }) => id)).toEqual(['y']);
});

test.each([0, 1, 2, 64, 65, 10_000])(
  'a ladder has 64 of %d rungs at most, evenly, with the lowest and the highest',
  (count) => {
    const rungs = ladderOf(Array.from({ length: count }, (_, i) => picture(`${i}`, 1e5 + i)));
    const steps = rungs.slice(1).map(({ bitrateBps }, i) => bitrateBps - rungs[i]!.bitrateBps);
    const ends = count > 0 ? [1e5, 1e5 + count - 1] : [undefined, undefined];
    expect([rungs.length, rungs[0]?.bitrateBps, rungs.at(-1)?.bitrateBps]).toEqual([Math.min(64, count), ...ends]);
    expect(Math.max(0, ...steps) - Math.min(count, ...steps)).toBeLessThanOrEqual(1);
  },
);

const bitratesOf = (all: Declared[]) => withBitrates(all)?.map(({ bitrateBps }) => Math.round(bitrateBps / 1e3));

test('missing bitrates are estimated from pictures, in the order of the pictures', () => {
  const some = withBitrates([picture('a', 0, 360), picture('b', 1e6, 720)]);
  expect(some!.map(({ isEstimated }) => isEstimated)).toEqual([true, undefined]);
  expect(bitratesOf([picture('a', 0, 360), picture('b', 1e6, 720)])).toEqual([354, 1000]);
  const [low, high] = [picture('a', 0, 360), picture('c', 1e6, 720)];
  // From the nearest picture, not the first.
  expect(bitratesOf([low, picture('b', 9e6, 2160), high])).toEqual([354, 9000, 1000]);
  expect(bitratesOf([low, picture('b', 5e5), high])).toEqual([354, 500, 1000]);
  expect(bitratesOf([picture('a', Number.NaN, 360), picture('b', Number.NaN, 720)])).toEqual([707, 2000]);
});

test('a bitrate that all declare counts as that of the largest picture', () => {
  const equal = [360, 720, 720].map((height, i) => picture(`v${i}`, 1e6, height));
  expect(bitratesOf(equal)).toEqual([354, 1000, 1000]);
  expect(bitratesOf([picture('a', 1e6), picture('b', 1e6, 720)])).toEqual([1000, 1000]);
});

test('without pictures, the one whose bitrate is missing counts as the lowest', () => {
  expect(bitratesOf([picture('a', 0), picture('b', 1e6), picture('c', 2e6)])).toEqual([500, 1000, 2000]);
  expect(bitratesOf([picture('a', 0), picture('b', 0)])).toBeUndefined();
  expect(bitratesOf([picture('a', 0)])).toEqual([2000]);
});
