/** Qualities that the page knows. */

import { expect, test } from '@jest/globals';
import { SegmentQualities } from './segment-qualities.ts';

const situation = {
  period: { id: '0', startSeconds: 8, firstIndex: 2, segmentCount: 3, segmentsAfter: 0 },
  ladder: [
    { id: 'low', bitrateBps: 1e6 },
    { id: 'high', bitrateBps: 4e6 },
  ],
};
const FILE = {
  schema: 'leo-abr-quality/1' as const,
  metric: 'vmaf_v0.6.1',
  segmentSeconds: 4,
  representations: {
    low: { bitrateBps: 1e6, bytes: [1, 1, 1, 1], quality: [10, 20, 30, 40] },
    high: { bitrateBps: 4e6, bytes: [4, 4, 4], quality: [60, 70, 80] },
  },
};
const noHost = { fetch: () => Promise.reject(new Error('no network')) };
const upcomingOf = (qualities: SegmentQualities, index = 0, pricePerMbps = 0) =>
  qualities.upcoming(situation, { index, count: 3, pricePerMbps });

test('a file gives rows by place in the presentation, up to the first segment that one representation lacks', () => {
  const qualities = new SegmentQualities(FILE, noHost, fail);
  expect(upcomingOf(qualities)).toEqual([[30, 80]]);
  expect(upcomingOf(qualities, 1)).toBeUndefined();
  expect(upcomingOf(new SegmentQualities(undefined, noHost, fail))).toBeUndefined();
});

test('bits cost their price', () => {
  expect(upcomingOf(new SegmentQualities(FILE, noHost, fail), 0, 2)).toEqual([[28, 72]]);
});

test('a function is asked for each segment; once it throws, it is left out and one fault says so', () => {
  const asked: (string | number)[][] = [];
  const qualityOf = (id: string, index: number) => {
    asked.push([id, index]);
    if (index === 4) throw new Error('not measured');
    return index;
  };
  const faults: unknown[] = [];
  const qualities = new SegmentQualities(qualityOf, noHost, (cause) => faults.push(cause));
  expect(upcomingOf(qualities)).toEqual([
    [2, 2],
    [3, 3],
  ]);
  expect(asked.slice(0, 2)).toEqual([
    ['low', 2],
    ['high', 2],
  ]);
  expect(upcomingOf(qualities)).toBeUndefined();
  expect(faults).toEqual([new Error('not measured')]);
});

test.each([
  [
    'an answer of another kind',
    { ok: true, json: async () => ({ representations: { low: { quality: [1, 101] } } }) },
    'quality.representations.low[1]',
  ],
  ['an error', { ok: false, status: 404 }, 'status 404'],
])('%s of the server is a fault that names the URL', async (_, response, text) => {
  const faults: unknown[] = [];
  const host = { fetch: async () => response as unknown as Response };
  const qualities = new SegmentQualities('q.json', host, (cause) => faults.push(cause));
  await new Promise((resolve) => setTimeout(resolve));
  expect(String(faults)).toContain('q.json');
  expect(String((faults[0] as Error).cause ?? faults[0])).toContain(text);
  expect(upcomingOf(qualities)).toBeUndefined();
});

test('a file by URL counts once it is there', async () => {
  const host = { fetch: async () => ({ ok: true, json: async () => FILE }) as unknown as Response };
  const qualities = new SegmentQualities(new URL('https://a.example/q.json'), host, fail);
  expect(upcomingOf(qualities)).toBeUndefined();
  await new Promise((resolve) => setTimeout(resolve));
  expect(upcomingOf(qualities)).toEqual([[30, 80]]);
});

function fail(cause: unknown): never {
  throw cause;
}
