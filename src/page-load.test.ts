import { expect, test } from '@jest/globals';
import { pageLoad } from './page-load.ts';

const response = (responseStart: number, responseEnd: number, transferSize: number) => {
  return { responseStart, responseEnd, transferSize };
};
const loaded = (...entries: object[]) =>
  pageLoad({ now: () => 100_000, getEntriesByType: () => entries as PerformanceEntryList });

test('counts bits, and the time in which any response arrived', () => {
  const seen = loaded(response(99_000, 99_500, 300_000), response(99_200, 99_700, 100_000));
  expect(seen).toEqual({ bits: 3.2e6, seconds: 0.7 });
  // A pause between two responses is not the link's.
  expect(loaded(response(90_000, 90_500, 150_000), response(99_000, 99_500, 150_000))?.seconds).toBe(1);
});

test.each<[why: string, entries: object[]]>([
  ['a page without resources', []],
  ['caches and other origins', [response(99_000, 99_500, 0)]],
  ['small responses', Array.from({ length: 30 }, (_, i) => response(99_000 + i, 99_001 + i, 10_000))],
  ['too few bits', [response(99_000, 99_500, 150_000)]],
  ['an earlier minute', [response(9000, 9500, 500_000)]],
  ['responses without a duration', [response(99_000, 99_000, 500_000)]],
])('%s: no evidence', (_, entries) => {
  expect(loaded(...entries)).toBeUndefined();
});
