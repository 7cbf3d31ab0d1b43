import { expect, test } from '@jest/globals';
import { modelledQuality } from '../abr/qoe/quality.ts';
import { ladderOf, ladderQualities, withBitrates } from './ladder.ts';
import type { Representation, Situation } from './player-port.ts';
import { broken } from './scripted.fixture.ts';
import { SegmentQualities } from './segment-lists.ts';
import { objectiveWeights, type Pictures, UpcomingSegments, weightsOfPictures } from './state.ts';

const rung = (height: number, bitrateBps: number, score?: number) => ({
  ...{ id: String(height), bitrateBps, width: (height * 16) / 9, height },
  ...(score !== undefined && { score }),
});
const ladder = [rung(360, 8e5), rung(720, 25e5), rung(1080, 5e6)];
const modelled = ladder.map((one) => modelledQuality(one));

test('qualities are modelled at the size of the picture on screen', () => {
  expect(ladderQualities(ladder, undefined)).toEqual(modelled);
  expect(ladderQualities(ladder, 540)).toEqual(ladder.map((one) => modelledQuality({ ...one, displayedLines: 540 })));
});

test('a SCORE spreads them between the lowest and the highest', () => {
  const scored = [rung(360, 8e5, 1), rung(720, 25e5, 4), rung(1080, 5e6, 5)];
  const [low, , high] = modelled as [number, number, number];
  expect(ladderQualities(scored, undefined)).toEqual([low, low + 0.75 * (high - low), high]);
});

test('ranks change their places; where one representation has none, nothing changes', () => {
  const ranked = [rung(360, 8e5, -3), rung(720, 25e5, -1), rung(1080, 5e6, -2)];
  expect(ladderQualities(ranked, undefined)).toEqual([modelled[0], modelled[2], modelled[1]]);
  expect(ladderQualities([rung(360, 8e5), ...ranked.slice(1)], undefined)).toEqual(modelled);
});

test('the objectives: perceived quality and the price of bits, Mbit/s, their logarithm', () => {
  const pictures = { ladder, displayedLines: undefined, live: undefined };
  const perceived = objectiveWeights('perceived', pictures, 2);
  expect(perceived.quality(25e5)).toBeCloseTo(modelled[1]!, 9);
  expect(perceived.pricePerMbps).toBe(2);
  // Of a bitrate that is not in the ladder.
  expect(perceived.quality(1e6)).toBeCloseTo(modelledQuality({ bitrateBps: 1e6 }), 9);
  expect(objectiveWeights('linear', pictures)).toMatchObject({ mu: 5, lambda: 1 });
  expect(objectiveWeights('log', pictures).quality(8e5)).toBe(0);
  const audio = [64e3, 256e3].map((bitrateBps) => ({ id: String(bitrateBps), bitrateBps }));
  expect(objectiveWeights('perceived', { ladder: audio, live: undefined })).toMatchObject({ mu: 0.256, lambda: 1 });
});

test.each<[string, object]>([
  ['size', { displayedLines: 1080 }],
  ['price of falls, live', { live: {} }],
  ['number', { ladder: ladder.slice(1) }],
  ['codec', { ladder: ladder.map((one) => ({ ...one, codec: 'av01' })) }],
])('weights are computed only when the pictures change: their %s', (_, change) => {
  const weightsOf = weightsOfPictures('perceived', 0);
  const pictures: Pictures = { ladder, displayedLines: 540, live: undefined };
  const known = weightsOf(pictures);
  expect(weightsOf({ ...pictures, ladder: ladder.map((one) => ({ ...one })) })).toBe(known);
  expect(weightsOf({ ...pictures, ...change })).not.toBe(known);
});

const situation = {
  period: { id: '0', startSeconds: 8, firstIndex: 2, segmentCount: 9, segmentsAfter: 0 },
  playback: { segmentSeconds: 4 },
  ladder: [
    { id: 'low', bitrateBps: 1e6 },
    { id: 'high', bitrateBps: 4e6 },
  ],
} as unknown as Situation;
const FILE = {
  schema: 'leo-abr-quality/1' as const,
  metric: 'vmaf_v0.6.1',
  segmentSeconds: 4,
  representations: {
    low: { bitrateBps: 1e6, bytes: [1, 1, 1, 1], quality: [10, 20, 30, 40] },
    high: { bitrateBps: 4e6, bytes: [4, 4, 4], quality: [60, 70, 80] },
  },
};
const noHost = { fetch: broken };
const upcomingOf = (qualities: SegmentQualities, index = 0) =>
  qualities.upcoming(
    situation,
    new UpcomingSegments(situation, { index, startSeconds: 8 + 4 * index, id: undefined }, 3),
  );

test('where boundaries differ, qualities are of the same media; without durations, one fault says so', () => {
  const faults: unknown[] = [];
  const upcoming = (low: object) =>
    upcomingOf(
      new SegmentQualities({ representations: { low, high: FILE.representations.high } } as never, noHost, (cause) =>
        faults.push(String(cause)),
      ),
    );
  expect(upcoming({ quality: [10, 20], seconds: [9, 9] })).toEqual([[10, 80]]);
  expect(faults).toEqual([]);
});

test('a file gives rows by place in the presentation, up to the first segment that one representation lacks', () => {
  const qualities = new SegmentQualities(FILE, noHost, broken);
  expect(upcomingOf(qualities)).toEqual([[30, 80]]);
  expect(upcomingOf(qualities, 1)).toBeUndefined();
});

test('a function is asked for each segment; once it throws, it is left out and one fault says so', () => {
  const asked: string[] = [];
  const qualityOf = (id: string, index: number) => {
    asked.push(`${id} ${index}`);
    if (index === 4) throw new Error('not measured');
    return index;
  };
  const faults: unknown[] = [];
  const qualities = new SegmentQualities(qualityOf, noHost, (cause) => faults.push(cause));
  expect(upcomingOf(qualities)?.flat()).toEqual([2, 2, 3, 3]);
  expect(asked.slice(0, 2)).toEqual(['low 2', 'high 2']);
  expect(upcomingOf(qualities)).toBeUndefined();
  expect(faults).toEqual([new Error('not measured')]);
});

test.each([
  [null, undefined, []],
  [1e9, undefined, ['quality: expected qualities from 0 to 100, got 1000000000']],
  [0, [[0, 0]], []],
])('a function may answer %p where it knows nothing, or be wrong', (answer, expected, messages) => {
  const faults: string[] = [];
  const qualityOf = (_: string, index: number) => (index > 2 ? undefined : (answer as number));
  const qualities = new SegmentQualities(qualityOf, noHost, (cause) => faults.push((cause as Error).message));
  for (const _ of [0, 1]) expect(upcomingOf(qualities)).toEqual(expected);
  expect(faults).toEqual(messages);
});

test('an answer of another kind is a fault that names the URL and the field', async () => {
  const faults: unknown[] = [];
  const host = { fetch: async () => new Response('{"representations": {"low": {"quality": [1, 101]}}}') };
  const qualities = new SegmentQualities('q.json', host, (cause) => faults.push(cause));
  await new Promise((resolve) => setTimeout(resolve));
  expect(String(faults)).toContain('q.json');
  expect(String(faults)).toContain('quality.representations.low[1]');
  expect(upcomingOf(qualities)).toBeUndefined();
});

test('a file by URL counts once it is there', async () => {
  const host = { fetch: async () => ({ ok: true, json: async () => FILE }) as unknown as Response };
  const qualities = new SegmentQualities(new URL('https://a.example/q.json'), host, broken);
  expect(upcomingOf(qualities)).toBeUndefined();
  await new Promise((resolve) => setTimeout(resolve));
  expect(upcomingOf(qualities)).toEqual([[30, 80]]);
});

const picture = (id: string, bitrateBps: number, height?: number, more: Partial<Representation> = {}) => ({
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

const bitratesOf = (all: Representation[]) => withBitrates(all)?.map(({ bitrateBps }) => Math.round(bitrateBps / 1e3));

test('missing bitrates are estimated from pictures, in the order of the pictures', () => {
  const some = withBitrates([picture('a', 0, 360), picture('b', 1e6, 720)]);
  expect(some!.map(({ isEstimated }) => isEstimated)).toEqual([true, undefined]);
  expect(bitratesOf([picture('a', 0, 360), picture('b', 1e6, 720)])).toEqual([354, 1000]);
  const [low, high] = [picture('a', 0, 360), picture('c', 1e6, 720)];
  // Without a sort for each of them.
  const many = Array.from({ length: 10_000 }, (_, i) => picture(`${i}`, i % 2 ? 1e6 : 0, 360));
  expect(new Set(bitratesOf(many))).toEqual(new Set([1000]));
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
