import { expect, test } from '@jest/globals';
import type { Segment, Situation } from './player-port.ts';
import { broken } from './scripted.fixture.ts';
import { loadLists, parseSizes, SIZE_LISTS } from './segment-lists.ts';
import { SegmentSizes } from './segment-sizes.ts';
import { UpcomingSegments } from './state.ts';

const question = (more: Partial<Segment> = {}, id = 'v0'): Segment => ({
  representation: { id, bitrateBps: 1e6 },
  index: 1,
  period: { id: 'p0', startSeconds: 0, firstIndex: 0, segmentCount: 3, segmentsAfter: 0 },
  segmentSeconds: 4,
  endSeconds: 8,
  indexedBits: undefined,
  ...more,
});

function upcomingBits(sizes: SegmentSizes, indexedBits?: number, segmentSeconds = 4) {
  const { representation, period } = question();
  const situation = {
    ...{ period, ladder: [representation], playback: { segmentSeconds }, indexedBits: () => indexedBits },
  } as unknown as Situation;
  const segments = new UpcomingSegments(situation, { index: 1, startSeconds: segmentSeconds, id: undefined }, 2);
  return sizes.upcoming(situation, segments).sizesBits.flat();
}

test('prefers the file, then the index, then bitrate x duration', () => {
  const sizes = new SegmentSizes();
  expect(sizes.sizeBits(question(), false)).toBe(4e6);
  expect(upcomingBits(sizes, 77)).toEqual([77, 77]);
  for (const indexedBits of [0, -8, Number.NaN, 1e308, Infinity]) {
    expect(sizes.sizeBits(question({ indexedBits }), false)).toBe(4e6);
    expect(upcomingBits(new SegmentSizes(), indexedBits)).toEqual([4e6, 4e6]);
  }
  sizes.useFile(parseSizes({ representations: { v0: [10, 20, 30] } }));
  expect(upcomingBits(sizes, 77)).toEqual([160, 240]);
  expect(sizes.sizeBits(question({ index: 3, indexedBits: 77 }), false)).toBe(77);
  expect(sizes.sizeBits(question({}, 'v1'), false)).toBe(4e6);
});

test('a list over all periods is indexed by the presentation, a list of one period by the period', () => {
  const sizes = new SegmentSizes();
  sizes.useFile({ representations: { shared: [1, 2, 3, 4, 5], own: [6, 7] } });
  const inSecond = { index: 1, period: { ...question().period, id: 'p1', firstIndex: 3, segmentCount: 2 } };
  expect(sizes.sizeBits(question(inSecond, 'shared'), false)).toBe(40);
  expect(sizes.sizeBits(question(inSecond, 'own'), false)).toBe(56);
});

test('a list over all periods has the sizes after the end of a period that the stream lists', () => {
  const sizes = new SegmentSizes();
  sizes.useFile({ representations: { v0: [10, 20, 30, 40] } });
  const { representation, period } = question();
  const starts = [0, 4.1];
  const situation = {
    ...{ period: { ...period, segmentCount: 2, segmentsAfter: 2 }, ladder: [representation] },
    ...{ playback: { segmentSeconds: 4 }, indexedBits: () => undefined },
    segmentAt(seconds: number) {
      const index = starts.findIndex((start) => seconds < start + 4.1);
      return index < 0 ? undefined : { index, startSeconds: starts[index], seconds: 4.1 };
    },
  } as unknown as Situation;
  // By nominal durations, the viewer has gone to the first segment.
  const segments = new UpcomingSegments(situation, { index: 0, startSeconds: 4.2, isAfterSeek: true, id: 'v0' }, 9);
  expect(segments.rows.map(({ index }) => index)).toEqual([1, 2, 3]);
  expect(sizes.upcoming(situation, segments).sizesBits.flat()).toEqual([160, 240, 320]);
});

test('the list of a live stream begins at its first index; what it does not reach is learnt', () => {
  const sizes = new SegmentSizes();
  sizes.useFile(parseSizes({ firstIndex: 100, representations: { v0: [1, 2] } }));
  const bitsAt = (index: number) => sizes.sizeBits(question({ index }), true);
  expect([99, 100, 101, 102].map(bitsAt)).toEqual([4e6, 8, 16, 4e6]);
  expect(() => parseSizes({ firstIndex: 1.5, representations: { v0: [1] } })).toThrow('sizes.firstIndex');
});

/** Durations of two representations' segments, whose boundaries differ. */
const UNEVEN = { low: [4, 4, 4, 4, 4, 4], high: [2, 6, 3, 5, 4, 4] } as Record<string, number[]>;
const BYTES = { low: [10, 20, 30, 40, 50, 60], high: [100, 200, 300, 400, 500, 600] };

/** `lists`: whose index the stream shows. The plan counts segments of `high` from its third on, or from a seek. */
function uneven(file: unknown, lists: string[], { index = 2, startSeconds = 8, isAfterSeek = false } = {}) {
  const sizes = new SegmentSizes();
  const faults: unknown[] = [];
  sizes.onFault = (cause) => faults.push(String(cause));
  sizes.useFile(parseSizes(file));
  const situation = {
    period: { id: '0', startSeconds: 0, firstIndex: 0, segmentCount: 6, segmentsAfter: 0 },
    ladder: Object.keys(UNEVEN).map((id) => ({ id, bitrateBps: 1e6 })),
    playback: { segmentSeconds: 4 },
    indexedBits: () => undefined,
    segmentAt(seconds: number, id = 'high') {
      let startSeconds = 0;
      for (const [index, one] of (lists.includes(id) ? UNEVEN[id]! : []).entries()) {
        if (seconds < startSeconds + one) return { index, startSeconds, seconds: one };
        startSeconds += one;
      }
      return undefined;
    },
  } as unknown as Situation;
  const segments = new UpcomingSegments(situation, { index, startSeconds, isAfterSeek, id: 'high' }, 3);
  return { ...sizes.upcoming(situation, segments), segments, faults };
}
const timed = Object.fromEntries(Object.entries(BYTES).map(([id, bytes]) => [id, { bytes, seconds: UNEVEN[id] }]));

test.each([
  ['by the stream', BYTES, ['low', 'high']],
  ["by the file, where a representation's index is not known yet", timed, ['high']],
])('where boundaries differ, sizes are of the same media: %s', (_, representations, lists) => {
  // The third segment of `high` is from 8 to 11 s, the next is to 16 s. Those of `low` have the same 4 s throughout.
  const { sizesBits, nextSeconds, faults } = uneven({ representations }, lists);
  expect(sizesBits[0]).toEqual([240, 2400]);
  expect(nextSeconds).toEqual([4, 3]);
  // As many bits of its segment at 13.5 s as in 5 s of media.
  expect(sizesBits[1]).toEqual([(320 * 5) / 4, 3200]);
  expect(sizesBits[2]).toEqual([400, 4000]);
  expect(faults).toEqual([]);
  // A seek into the last quarter second of a segment loads it.
  expect(uneven({ representations }, lists, { startSeconds: 10.9, isAfterSeek: true }).sizesBits[0]).toEqual([
    240, 2400,
  ]);
});

test.each([
  ['the stream shows other boundaries', BYTES, ['high', 'middle']],
  ['the lists differ in length', { low: [1, 2, 3], high: BYTES.high }, ['high']],
])('a file without durations is refused with the reason where %s', (_, representations, lists) => {
  // A representation without a list of its own shows that boundaries differ.
  Object.assign(UNEVEN, lists.includes('middle') && { middle: [3, 3, 3, 3, 6, 6] });
  const { sizesBits, faults } = uneven({ representations }, lists);
  expect(sizesBits[0]!.slice(0, 2)).toEqual([3e6, 3e6]);
  expect(faults).toEqual([expect.stringContaining('sizes.representations.low.seconds: expected durations')]);
  delete UNEVEN['middle'];
});

/** Sizes of the next segment over declared ones, after segments with these ratios of representation v0. */
function ratiosAfter(...ratios: number[]): { own: number; other: number } {
  const sizes = new SegmentSizes();
  for (const ratio of ratios) sizes.learn(question(), 4e6 * ratio);
  return { own: sizes.sizeBits(question(), false) / 4e6, other: sizes.sizeBits(question({}, 'v1'), false) / 4e6 };
}
const times = (count: number, ratio: number) => Array<number>(count).fill(ratio);

test('learnt sizes come closer to the real ones with each segment', () => {
  for (const ratio of [0.3, 0.6, 1, 1.5, 2]) {
    const estimates = [0, 4, 16, 160].map((count) => ratiosAfter(...times(count, ratio)).own);
    expect(estimates[0]).toBe(1);
    for (const [i, estimate] of estimates.entries()) {
      const before = estimates[i - 1] ?? 1;
      expect(estimate).toBeGreaterThanOrEqual(Math.min(before, ratio) - 1e-9);
      expect(estimate).toBeLessThanOrEqual(Math.max(before, ratio) + 1e-9);
    }
    expect(Math.abs(estimates[3]! - ratio)).toBeLessThan(0.2);
  }
});

test('learnt sizes of a black opening promise nothing for what follows, and one segment of motion is believed', () => {
  for (const count of [1, 6, 15]) {
    const black = ratiosAfter(...times(count, 0.002));
    expect(black.own).toBeGreaterThan(0.5);
    expect(black.other).toBeGreaterThan(0.8);
    const motion = ratiosAfter(...times(count, 0.002), 1);
    expect(motion.own).toBeGreaterThan(0.75);
    expect(ratiosAfter(...times(count, 0.002), 1, 1, 1).own).toBeGreaterThan(0.95);
    expect(ratiosAfter(...times(count, 0.002), 1.6, 1.6).own).toBeGreaterThan(1.3);
  }
});

test('learnt sizes of one representation count less for another, and vary with the scenes', () => {
  const high = ratiosAfter(...times(8, 1.5));
  expect(high.other).toBeGreaterThan(1.1);
  expect(high.other).toBeLessThan(high.own);
  // The mean is the same.
  expect(ratiosAfter(0.5, 1.5, 0.5, 1.5).own).toBeGreaterThan(ratiosAfter(1, 1, 1, 1).own + 0.3);
});

test('learnt sizes of a live stream leave room for the bits that its encoder may send again', () => {
  const sizes = new SegmentSizes();
  const ratioAfter = (count: number, ratio: number) => {
    for (let i = 0; i < count; i++) sizes.learn(question(), 4e6 * ratio);
    return sizes.sizeBits(question(), true) / 4e6;
  };
  // A quiet minute, and an hour: on demand they are believed.
  expect(ratioAfter(15, 0.2)).toBeGreaterThanOrEqual(0.8);
  expect(ratioAfter(900, 0.2)).toBe(0.8);
  expect(sizes.sizeBits(question(), false) / 4e6).toBeLessThan(0.4);
  // A burst is expected again for some minutes.
  ratioAfter(15, 1.6);
  expect(ratioAfter(15, 0.2)).toBeGreaterThan(1.2);
  expect(ratioAfter(300, 0.2)).toBe(0.8);
  // What the stream lists counts.
  expect(sizes.sizeBits(question({ indexedBits: 77 }), true)).toBe(77);
  sizes.forget();
  expect(ratioAfter(0, 1)).toBe(1);
});

test('learnt sizes ignore what is no size, and are forgotten with the stream', () => {
  const sizes = new SegmentSizes();
  expect([2, 4].flatMap((seconds) => upcomingBits(sizes, undefined, seconds))).toEqual([2e6, 2e6, 4e6, 4e6]);
  for (const bits of [0, Number.NaN]) sizes.learn(question(), bits);
  expect(upcomingBits(sizes)).toEqual([4e6, 4e6]);
  sizes.learn(question(), 8e6);
  expect(upcomingBits(sizes)[0]).toBeGreaterThan(5e6);
  sizes.forget();
  expect(upcomingBits(sizes)).toEqual([4e6, 4e6]);
});

test.each([
  ['nothing', undefined, 'sizes.representations'],
  ['no representation', { representations: {} }, 'sizes.representations'],
  ['a number for a list', { representations: { v0: 3 } }, 'sizes.representations.v0'],
  ['no number', { representations: { v0: ['1'] } }, 'sizes.representations.v0[0]'],
  ['less than a byte', { representations: { v0: [5e-324] } }, 'sizes.representations.v0[0]'],
  ['an absurd size', { representations: { v0: [1e12, 1e308] } }, 'sizes.representations.v0[1]'],
  [
    'too few durations',
    { representations: { v0: { bytes: [1, 2], seconds: [2] } } },
    'sizes.representations.v0.seconds',
  ],
  ['a text', { representations: { v0: { bytes: [1], seconds: ['4'] } } }, 'sizes.representations.v0.seconds'],
  ['Infinity', { representations: { v0: { bytes: [1], seconds: [1 / 0] } } }, 'sizes.representations.v0.seconds'],
  ['NaN', { representations: { v0: [Number.NaN] } }, 'sizes.representations.v0[0]'],
])('parseSizes refuses %s with the field', (_, value, field) => {
  expect(() => parseSizes(value)).toThrow(expect.objectContaining({ name: 'InputError', field }));
});

test.each<[string, () => Response, string]>([
  ['a missing file', () => new Response('', { status: 404 }), 'status 404'],
  ['no JSON', () => new Response('<html>'), '<html>'],
  ['other JSON', () => new Response('{"v0": [1]}'), 'sizes.representations: expected bytes from 1 to 1e12 by id'],
  ['no network', broken, 'broken'],
])('the error of %s names its URL', async (_, respond, problem) => {
  for (const url of ['sizes.json', new URL('https://media.example/sizes.json')]) {
    const error = await loadLists(url, { fetch: async () => respond() }, SIZE_LISTS).catch((cause: Error) => cause);
    expect(error).toMatchObject({ name: 'InputError', field: String(url), expected: 'segment sizes' });
    expect((error as Error).message).toContain(problem);
  }
});
