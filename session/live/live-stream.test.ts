import { expect, test } from '@jest/globals';
import { between, forAll } from '../../abr/property.fixture.ts';
import { LiveEdge, LiveStream, LiveWaits } from '../../session/live/live-stream.ts';
import { livePort } from '../fake-port.fixture.ts';

const SEGMENT = { firstChunkAtSeconds: 10, segmentSeconds: 2, chunkSeconds: 0.25 };
const CHUNK_BITS = 1e6;
const CHUNKS = 8;

type Arriving = { requestedAtSeconds?: number; arrivals: readonly number[]; segment?: typeof SEGMENT; edge?: LiveEdge };

function download({ requestedAtSeconds = 10, arrivals, segment = SEGMENT, edge = new LiveEdge() }: Arriving) {
  const live = new LiveWaits(edge, segment, requestedAtSeconds);
  const parts = arrivals.map((at) => live.received(at, CHUNK_BITS, 1));
  live.ended(arrivals.at(-1)!, true);
  const downloadSeconds = arrivals.at(-1)! - requestedAtSeconds;
  const rateBps = (knownBps: number) => {
    const seconds = live.linkSeconds(downloadSeconds, knownBps);
    return seconds === undefined ? undefined : (arrivals.length * CHUNK_BITS) / seconds;
  };
  return { live, edge, parts, rateBps };
}

/** Each chunk arrives `transferSeconds` after it came into being. */
const atTheEdge = (transferSeconds: number, firstSeconds = 10) =>
  Array.from({ length: CHUNKS }, (_, chunk) => firstSeconds + chunk * 0.25 + transferSeconds);

test('a live download that the encoder limits shows a lower bound, which counts where it is not known yet', () => {
  const { live, parts, rateBps } = download({ arrivals: atTheEdge(0.05) });
  expect(parts.slice(1)).not.toContain(undefined);
  const times = live.withoutWaits({ requestedAtSeconds: 10, firstByteAtSeconds: 10.05 }, 12);
  expect(times.requestedAtSeconds).toBeCloseTo(10 + 7 * 0.2);
  expect(times.firstByteAtSeconds).toBeCloseTo(10.05 + 7 * 0.2);
  // 8 Mbit take 8 x 0.05 s. The encoder needs 1.8 s for them.
  expect(rateBps(1e6)).toBeCloseTo(20e6);
  expect(rateBps(25e6)).toBeUndefined();
});

test.each([
  [0, 4],
  [1e-9, 4],
  [0.5, 0.5],
  [9, 4],
])('where the first chunk exists %d s after its capture, chunks have %d s', (firstChunkSeconds, chunkSeconds) => {
  const stream = new LiveStream();
  expect(stream.chunkSeconds(livePort({ firstChunkSeconds }).now!)).toBe(chunkSeconds);
  const media = { startSeconds: 8, segmentSeconds: 4, nowSeconds: 10, firstChunkSeconds };
  const waits = stream.requested(media, true, 3);
  expect(waits.nextChunkAtSeconds).toBeCloseTo(3 + 8 - 10 + Math.min(4, firstChunkSeconds), 6);
  waits.received(4, 1e6, 1e9);
  waits.ended(4, true);
  expect(stream.chunkSeconds(livePort().now!)).toBe(0.01);
});

test('a live download that exists as a whole is measured as it comes', () => {
  const { live, rateBps } = download({ requestedAtSeconds: 14, arrivals: atTheEdge(0, 14.3) });
  expect(live.withoutWaits({ requestedAtSeconds: 14 }, 16)).toMatchObject({ requestedAtSeconds: 14 });
  expect(rateBps(100e6)).toBeCloseTo(8e6 / 2.05);
});

test('the recent rate of a live download is of at most its last second, without waits for the encoder', () => {
  const recentOf = (arrivals: readonly number[], nowSeconds: number) => {
    const live = new LiveWaits(new LiveEdge(), SEGMENT, 10);
    for (const at of arrivals) live.received(at, CHUNK_BITS, 1);
    return live.withoutWaits<Parameters<typeof live.withoutWaits>[0]>({ requestedAtSeconds: 10 }, nowSeconds).recent;
  };
  // Each chunk takes 0.05 s after a wait of 0.2 s.
  expect(recentOf(atTheEdge(0.05), 11.8)?.bps).toBeCloseTo(CHUNK_BITS / 0.05, -5);
  // Three chunks at once, then one in 2 s.
  expect(recentOf([14.1, 14.2, 14.3, 16.3], 16.3)?.bps).toBeLessThan(CHUNK_BITS);
  expect(recentOf([14.1, 14.2], 14.2)).toBeUndefined();
});

test('a live download counts its chunks once their duration is known, and from the start if it begins again', () => {
  const edge = new LiveEdge();
  const chunksOf = (live: LiveWaits) =>
    live.withoutWaits<Parameters<typeof live.withoutWaits>[0]>({ requestedAtSeconds: 10 }, 11).chunks;
  const begun = () => {
    const live = new LiveWaits(edge, SEGMENT, 10);
    for (const [i, chunks] of [0, 1, 0, 2, 0, 0].entries()) live.received(10.1 + i / 10, CHUNK_BITS, chunks);
    return live;
  };
  expect(chunksOf(begun())).toBeUndefined();
  edge.segmentEnded(2, CHUNKS);
  const live = begun();
  expect(chunksOf(live)).toEqual({ whole: 3, nextBits: 2 * CHUNK_BITS });
  const again = live.again(10.8);
  again.received(10.9, CHUNK_BITS, undefined);
  expect(chunksOf(again)).toBeUndefined();
  again.received(11, CHUNK_BITS, 1);
  expect(chunksOf(again)).toEqual({ whole: 1, nextBits: 0 });
});

test('a live download that the link limits from some chunk on is measured from there on', () => {
  const arrivals = [10.05, 10.3, 10.6, 11.1, 11.6, 12.1, 12.6, 13.1];
  const { parts, rateBps } = download({ arrivals });
  expect(parts.flatMap((sinceSeconds, i) => (sinceSeconds === undefined ? [] : [i]))).toEqual([1, 2, 3]);
  expect(rateBps(20e6)).toBeCloseTo(2e6);
});

test('a live download knows when its next chunk comes, also if the encoder is late or the clock is wrong', () => {
  for (const lag of [0, 0.3, -0.4]) {
    const edge = new LiveEdge();
    for (const firstChunkAtSeconds of [10, 12, 14, 16, 18]) {
      const requestedAtSeconds = firstChunkAtSeconds + lag;
      const arrivals = atTheEdge(0.02, requestedAtSeconds);
      const seen = download({ requestedAtSeconds, arrivals, segment: { ...SEGMENT, firstChunkAtSeconds }, edge });
      if (firstChunkAtSeconds === 10) continue;
      expect(seen.parts.slice(1)).not.toContain(undefined);
      expect(seen.rateBps(1000e6)).toBeUndefined();
    }
    const next = new LiveWaits(edge, { ...SEGMENT, firstChunkAtSeconds: 20 }, 20 + lag);
    next.received(20 + lag + 0.02, CHUNK_BITS, 1);
    const lateSeconds = next.nextChunkAtSeconds - (20.25 + lag);
    expect([lateSeconds > 0, lateSeconds < 0.05]).toEqual([true, true]);
  }
});

test('a live download that begins again, for example after a refusal with a text, is measured from there on', () => {
  const edge = new LiveEdge();
  const refused = new LiveWaits(edge, SEGMENT, 9.9);
  refused.received(10, 100, 0);
  refused.received(10.1, 1e6, 1);
  const live = refused.again(10.3);
  // Two chunks existed, the others come as they are encoded.
  for (const at of [10.35, 10.4, ...atTheEdge(0.05).slice(2)]) live.received(at, CHUNK_BITS, 1);
  live.ended(11.8, true);
  expect(edge.chunkSeconds).toBe(0.25);
  expect((CHUNKS * CHUNK_BITS) / live.linkSeconds(1.5, 0)!).toBeCloseTo(20e6);
  expect(live.withoutWaits({ requestedAtSeconds: 10.3 }, 12).requestedAtSeconds).toBeGreaterThan(10.3);
});

test('a live download that is abandoned in an outage shows the outage', () => {
  const live = new LiveWaits(new LiveEdge(), SEGMENT, 9.8);
  live.ended(11, false);
  expect(live.linkSeconds(1.2, 20e6)).toBeCloseTo(1);
});

test('a live download shows the rate of the link or nothing, wherever in the segment it begins', () => {
  forAll([between(2e6, 40e6), between(-0.2, 4)], {}, (linkBps, requestedAfterSeconds) => {
    const requestedAtSeconds = 10 + requestedAfterSeconds;
    let at = requestedAtSeconds;
    const arrivals = Array.from({ length: CHUNKS }, (_, chunk) => {
      at = Math.max(at, 10 + chunk * 0.25) + CHUNK_BITS / linkBps;
      return at;
    });
    const { rateBps } = download({ requestedAtSeconds, arrivals });
    expect(rateBps(linkBps * 1.001) ?? linkBps).toBeGreaterThan(linkBps * 0.999);
    expect(rateBps(0)).toBeLessThan(linkBps * 1.5);
  });
});
