import { afterEach, expect, test } from '@jest/globals';
import type { Situation } from './player-port.ts';
import { loadSizes, parseSizes, type SegmentQuestion, SegmentSizes } from './segment-sizes.ts';

const question = (more: Partial<SegmentQuestion> = {}, id = 'v0'): SegmentQuestion => ({
  representation: { id, bitrateBps: 1e6 },
  index: 1,
  period: { id: 'p0', startSeconds: 0, firstIndex: 0, segmentCount: 3, segmentsAfter: 0 },
  segmentSeconds: 4,
  indexedBits: undefined,
  ...more,
});

function upcomingBits(sizes: SegmentSizes, indexedBits?: number, segmentSeconds = 4) {
  const { representation, period } = question();
  const situation = { period, ladder: [representation], playback: { segmentSeconds }, indexedBits: () => indexedBits };
  return sizes.upcoming(situation as unknown as Situation, 1, 2).flat();
}

test('prefers the file, then the index, then bitrate x duration', () => {
  const sizes = new SegmentSizes();
  expect(sizes.sizeBits(question())).toBe(4e6);
  expect(upcomingBits(sizes, 77)).toEqual([77, 77]);
  sizes.useFile(parseSizes({ representations: { v0: [10, 20, 30] } }));
  expect(upcomingBits(sizes, 77)).toEqual([160, 240]);
  expect(sizes.sizeBits(question({ index: 3, indexedBits: 77 }))).toBe(77);
  expect(sizes.sizeBits(question({}, 'v1'))).toBe(4e6);
});

test('a list over all periods is indexed by the presentation, a list of one period by the period', () => {
  const sizes = new SegmentSizes();
  sizes.useFile({ representations: { shared: [1, 2, 3, 4, 5], own: [6, 7] } });
  const inSecond = { index: 1, period: { ...question().period, id: 'p1', firstIndex: 3, segmentCount: 2 } };
  expect(sizes.sizeBits(question(inSecond, 'shared'))).toBe(40);
  expect(sizes.sizeBits(question(inSecond, 'own'))).toBe(56);
});

test("learns each representation's ratio; an unseen representation gets the mean", () => {
  const sizes = new SegmentSizes();
  expect([2, 4].flatMap((seconds) => upcomingBits(sizes, undefined, seconds))).toEqual([2e6, 2e6, 4e6, 4e6]);
  sizes.learn(question(), 2e6);
  expect(upcomingBits(sizes)).toEqual([2e6, 2e6]);
  expect(sizes.sizeBits(question({}, 'v1'))).toBe(2e6);
  sizes.learn(question({}, 'v1'), 6e6);
  // The overall mean (0.5 + 1.5) / 2 = 1 counts as one segment, as does the one of the representation.
  expect(sizes.sizeBits(question())).toBe(3e6);
  expect(sizes.sizeBits(question({}, 'v2'))).toBe(4e6);
  for (const bits of [0, Number.NaN]) sizes.learn(question({}, 'v1'), bits);
  expect(sizes.sizeBits(question())).toBe(3e6);
  sizes.forget();
  expect(upcomingBits(sizes)).toEqual([4e6, 4e6]);
});

test('forgets the representations unused for longest, such as those of advertisements', () => {
  const sizes = new SegmentSizes();
  const own: number[] = [];
  for (let i = 0; i < 1000; i++) {
    sizes.learn(question(), 2e6);
    sizes.learn(question({}, `advertisement ${i}`), 8e6);
    own.push(sizes.sizeBits(question()));
  }
  // The overall mean is over 16 ratios of 0.5 and one ratio of each of the last 63 advertisements.
  const overall = (16 * 0.5 + 63 * 2) / (16 + 63);
  expect(sizes.sizeBits(question({}, 'advertisement 0'))).toBeCloseTo(4e6 * overall, 3);
  for (const bits of own.slice(63)) expect(bits).toBeCloseTo((4e6 * (overall + 16 * 0.5)) / 17, 3);
  expect(sizes.sizeBits(question({}, 'advertisement 999'))).toBeCloseTo((4e6 * (overall + 2)) / 2, 3);
});

test.each([
  ['nothing', undefined, 'sizes.representations'],
  ['no representation', { representations: {} }, 'sizes.representations'],
  ['a number for a list', { representations: { v0: 3 } }, 'sizes.representations.v0'],
  ['a size of zero', { representations: { v0: [1, 0] } }, 'sizes.representations.v0[1]'],
  ['a negative size', { representations: { v0: [-1] } }, 'sizes.representations.v0[0]'],
  ['no number', { representations: { v0: ['1'] } }, 'sizes.representations.v0[0]'],
  ['NaN', { representations: { v0: [Number.NaN] } }, 'sizes.representations.v0[0]'],
])('parseSizes refuses %s with the field', (_, value, field) => {
  expect(() => parseSizes(value)).toThrow(expect.objectContaining({ name: 'InputError', field }));
});

const originalFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = originalFetch;
});

test.each<[string, () => Response, string]>([
  ['a missing file', () => new Response('', { status: 404 }), 'status 404'],
  ['no JSON', () => new Response('<html>'), '<html>'],
  ['other JSON', () => new Response('{"v0": [1]}'), 'sizes.representations: expected arrays of bytes by id'],
  [
    'no network',
    () => {
      throw new TypeError('Failed to fetch');
    },
    'Failed to fetch',
  ],
])('the error of %s names its URL', async (_, respond, problem) => {
  globalThis.fetch = async () => respond();
  for (const url of ['sizes.json', new URL('https://media.example/sizes.json')]) {
    const error = await loadSizes(url).catch((cause: Error) => cause);
    expect(error).toMatchObject({ name: 'InputError', field: String(url), expected: 'segment sizes' });
    expect((error as Error).message).toContain(problem);
  }
});
