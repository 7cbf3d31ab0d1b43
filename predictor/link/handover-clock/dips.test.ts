import { expect, test } from '@jest/globals';
import { dipFinder, SLOTS_PER_SECOND } from './dips.ts';

/** The slots in which a dip began, and the slots left out, of a link whose rate is 1 but for these slots' rates. */
function found(rates: Readonly<Record<number, number>>, slots = 120) {
  const dips: number[] = [];
  const seen = new Set<number>();
  const observe = dipFinder((slot, isDip) => {
    seen.add(slot);
    if (isDip) dips.push(slot);
  });
  for (let slot = 0; slot <= slots; slot++) {
    const seconds = 1 / SLOTS_PER_SECOND;
    observe({
      kind: 'throughput',
      startSeconds: slot * seconds,
      endSeconds: (slot + 1) * seconds,
      bits: 1e6 * seconds * (rates[slot] ?? 1),
    });
  }
  // The first slots are the reference, and the last one is open.
  return {
    dips,
    leftOut: Array.from({ length: slots }, (_, slot) => slot).filter((slot) => slot > 1 && !seen.has(slot)),
  };
}
const low = (from: number, count: number, rate = 0.3) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [from + i, rate]));

test('a dip is one, at its first slot; the rest of it is left out', () => {
  expect(found({})).toEqual({ dips: [], leftOut: [] });
  expect(found(low(60, 1))).toEqual({ dips: [60], leftOut: [] });
  expect(found({ ...low(60, 3), ...low(80, 8) })).toEqual({
    dips: [60, 80],
    leftOut: [61, 62, 81, 82, 83, 84, 85, 86, 87],
  });
});

test('a change of the rate is no dip', () => {
  expect(found(low(60, 9)).dips).toEqual([]);
  expect(found(low(60, 60)).dips).toEqual([]);
});

test('a dip begins deeper than it ends', () => {
  // ln 0.7 is between 0.75 of the least depth and the least depth.
  expect(found(low(60, 3, 0.7))).toEqual({ dips: [], leftOut: [] });
  expect(found({ 60: 0.3, 61: 0.7, 62: 0.7 })).toEqual({ dips: [60], leftOut: [61, 62] });
});
