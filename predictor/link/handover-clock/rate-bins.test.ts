import { expect, test } from '@jest/globals';
import { rateBins } from './rate-bins.ts';
import type { Measurement } from './state-filters.ts';

function binsOf(pieces: readonly (readonly [startSeconds: number, endSeconds: number, bits: number])[]): Measurement[] {
  const emitted: Measurement[] = [];
  const observe = rateBins((bin) => emitted.push(bin));
  for (const [startSeconds, endSeconds, bits] of pieces) {
    observe({ kind: 'throughput', startSeconds, endSeconds, bits });
  }
  return emitted;
}

const tenths = (from: number, count: number, bits: number) =>
  Array.from({ length: count }, (_, i) => [from + i / 10, from + (i + 1) / 10, bits] as const);

/** Observations of a second each. */
const seconds = (from: number, ...bits: number[]) => bits.map((of, i) => [from + i, from + i + 1, of] as const);

/** Closes the open bin, so that it is emitted. */
const LATER = [1000, 1000.1, 1e5] as const;

test('a longer observation is one bin', () => {
  expect(binsOf(seconds(0, 1e6, 3e6))).toEqual([{ atSeconds: 0.5, seconds: 1, value: Math.log(1e6 + 1) }]);
  // A dead link has bins, too.
  expect(binsOf(seconds(0, 0, 0))).toEqual([{ atSeconds: 0.5, seconds: 1, value: 0 }]);
});

test('the end of a download does not count, so too short a download is no measurement', () => {
  const [bin] = binsOf([...tenths(0, 4, 1e5), [0.4, 0.5, 3e4], [0.5, 0.55, 0], LATER]);
  expect(bin!.seconds).toBeCloseTo(0.4);
  expect(bin!.value).toBeCloseTo(Math.log(1e6), 5);
  expect(binsOf([[0, 0.05, 1e5], [0.05, 0.3, 1e5], LATER])).toEqual([]);
});

test('a round trip between two segments does not close a bin, a longer pause does', () => {
  expect(binsOf([...tenths(0, 4, 1e5), ...tenths(0.44, 4, 1e5), LATER]).length).toBe(1);
  const [first, second] = binsOf([...tenths(0, 5, 1e5), ...tenths(2, 7, 2e5), LATER]);
  expect(first!.seconds).toBeCloseTo(0.3);
  expect(second!.atSeconds).toBeCloseTo(2.25);
});

test('ignores overlapping observations, and follows a clock that was set back', () => {
  const overlapping = binsOf([...seconds(5, 1e6), [5.2, 5.9, 9e6], ...seconds(6, 1e6)]);
  expect(overlapping.map(({ value }) => value)).toEqual([Math.log(1e6 + 1)]);
  const back = binsOf([...seconds(49, 1e6, 1e6), ...seconds(20, 1e6, 1e6)]);
  expect(back.map(({ atSeconds }) => atSeconds)).toEqual([49.5, 20.5]);
});
