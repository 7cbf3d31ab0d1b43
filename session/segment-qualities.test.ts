import { expect, test } from '@jest/globals';
import type { Situation } from './player-port.ts';
import { broken } from './scripted.fixture.ts';
import { SegmentQualities } from './segment-lists.ts';
import { UpcomingSegments } from './state.ts';

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
  expect(upcomingOf(new SegmentQualities(undefined, noHost, broken))).toBeUndefined();
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
