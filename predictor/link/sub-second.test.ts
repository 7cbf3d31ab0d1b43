import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll, whole } from '../../abr/property.fixture.ts';
import { quantilesOf } from '../../abr/random-states.fixture.ts';
import { levelShare } from '../../abr/statistics/quantile.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { type Link, noisyLink } from './handover-clock/links.fixture.ts';
import { LiveEdge, LiveWaits } from './live-waits.ts';
import { SubSecond } from './sub-second.ts';

const EPOCH_SECONDS = 15;
/** Handovers of the links below. */
const HANDOVER_SECONDS = 5;
const UNKNOWN = Number.NaN;

type Viewing = { seconds: number; handoverSeconds?: number; share?: number; isBusy?: (second: number) => boolean };

/**
 * A link of this capacity, seen by a session in pieces of at most 0.1 s. `share`: of the link's 60 Mbit/s; 1 downloads
 * all the time, else chunks of 0.5 s come one by one.
 */
function watch(link: Link, { seconds, handoverSeconds = UNKNOWN, share = 1, isBusy = () => true }: Viewing): SubSecond {
  const sub = new SubSecond();
  let backlogBits = 0;
  for (let tick = 0; tick < 10 * seconds; tick++) {
    const startSeconds = tick / 10;
    if (tick % 5 === 0) backlogBits += share === 1 ? Number.POSITIVE_INFINITY : share * 60e6 * 0.5;
    const bps = link(startSeconds + 0.05);
    const bits = Math.min(backlogBits, bps / 10);
    if (backlogBits <= 0 || !isBusy(startSeconds)) continue;
    backlogBits -= bits;
    sub.observe(startSeconds, startSeconds + (bps > 0 ? bits / bps : 0.1), bits, handoverSeconds);
  }
  return sub;
}

/** A fifth of the capacity for some seconds from each handover on. */
function dippingFor(seconds: number, link = noisyLink(3, 0.02)): Link {
  const since = (second: number) => (second - HANDOVER_SECONDS + EPOCH_SECONDS) % EPOCH_SECONDS;
  return (second) => link(second) * (since(second) < seconds ? 0.2 : 1);
}

const medianDip = (sub: SubSecond) => sub.dip(0).seconds[1]!;

/** ln of the ratio of the 0.9 quantile to the 0.1 quantile. */
function widthOf(sub: SubSecond): number {
  const { levels, ratios } = sub.fluctuation();
  return Math.log(ratios[levels.indexOf(0.9)]! / ratios[levels.indexOf(0.1)]!);
}

function expectValid(sub: SubSecond): void {
  const fluctuation = sub.fluctuation();
  const { levels, ratios, correlation } = fluctuation;
  const handovers = [{ atMs: 0, confidence: 1, dip: sub.dip(0.1) }];
  // `quantilesOf` validates.
  expect(() => quantilesOf(1e6, { handovers, fluctuation })).not.toThrow();
  expect(correlation).toBeLessThan(1);
  expect(ratios.reduce((sum, ratio, i) => sum + ratio * levelShare(levels, i), 0)).toBeCloseTo(1, 6);
}

test.each([0.03, 0.4])('the fluctuation begins with what links have, and learns the spread of a link, %p', (noise) => {
  const sub = watch(noisyLink(1, noise), { seconds: 400 });
  const first = widthOf(new SubSecond());
  const truth = 2 * 1.2816 * noise;
  const learnt = widthOf(sub);
  expect(first).toBeGreaterThan(0.1);
  expect(Math.sign(learnt - first)).toBe(Math.sign(truth - first));
  expect(learnt / truth).toBeGreaterThan(0.7);
  expect(learnt / truth).toBeLessThan(1.4);
  for (const one of [new SubSecond(), sub]) expectValid(one);
});

test('the fluctuation does not depend on the link as a whole', () => {
  const slow = watch((second) => noisyLink(1, 0.2)(second) / 100, { seconds: 60 });
  expect(slow.fluctuation()).toEqual({
    ...watch(noisyLink(1, 0.2), { seconds: 60 }).fluctuation(),
    ratios: slow.fluctuation().ratios.map((ratio) => expect.closeTo(ratio, 6)),
    correlation: expect.closeTo(slow.fluctuation().correlation, 6),
  });
});

test('the fluctuation learns how one 0.1 s depends on the one before', () => {
  const random = seededRandom(4);
  const linkOf = (correlation: number): Link => {
    let log = 0;
    const logs = Array.from({ length: 3000 }, () => {
      log = correlation * log + Math.sqrt(1 - correlation ** 2) * 0.5 * (random() + random() + random() - 1.5);
      return log;
    });
    return (second) => 60e6 * Math.exp(logs[Math.floor(second * 10)]!);
  };
  const learnt = [0, 0.8].map((one) => watch(linkOf(one), { seconds: 300 }).fluctuation().correlation);
  expect(learnt[0]).toBeLessThan(0.15);
  expect(learnt[1]).toBeGreaterThan(0.5);
});

test('the fluctuation leaves handovers out, once they are known', () => {
  const deep = dippingFor(1.2);
  const known = watch(deep, { seconds: 300, handoverSeconds: HANDOVER_SECONDS });
  const unknown = watch(deep, { seconds: 300 });
  const lowest = (sub: SubSecond) => sub.fluctuation().ratios[1]!;
  expect(lowest(known)).toBeGreaterThan(1.2 * lowest(unknown));
});

const first = new SubSecond().dip(0);

test.each([
  [1, 0.5],
  [0.5, 0.5],
  [0.5, 0.3],
])('the dip learns how long dips last, from chunks of %p of the link: %p s', (share, seconds) => {
  const sub = watch(dippingFor(seconds), { seconds: 600, share, handoverSeconds: HANDOVER_SECONDS });
  expect(medianDip(sub)).toBeGreaterThan(0.6 * seconds);
  expect(medianDip(sub)).toBeLessThan(1.4 * seconds);
  expectValid(sub);
});

test('the dip gets shorter on a link without dips', () => {
  const sub = watch(noisyLink(3, 0.02), { seconds: 600, handoverSeconds: HANDOVER_SECONDS });
  expect(medianDip(sub)).toBeLessThan(first.seconds[1]! / 2);
  expect(sub.dip(0).collapse.probability).toBeLessThan(first.collapse.probability);
});

test('the dip counts long losses as collapses', () => {
  const sub = watch(dippingFor(1.4), { seconds: 300, handoverSeconds: HANDOVER_SECONDS });
  expect(sub.dip(0).collapse.probability).toBeGreaterThan(0.4);
});

test('the dip counts nothing while the handover is unknown, or the link idle about it', () => {
  expect(watch(dippingFor(1.2), { seconds: 300 }).dip(0)).toEqual(first);
  // Only four seconds of each epoch, without its handover and its middle, are busy.
  const isBusy = (second: number) => second % EPOCH_SECONDS >= 7.5 && second % EPOCH_SECONDS < 11.5;
  const idle = watch(dippingFor(1.2), { seconds: 300, handoverSeconds: HANDOVER_SECONDS, isBusy });
  expect(idle.dip(0)).toEqual(first);
});

test('the dip compares with mid-epochs that it has seen, not with idle ones', () => {
  const dipping = dippingFor(0.5, noisyLink(3, 0.3));
  const middle = HANDOVER_SECONDS + EPOCH_SECONDS / 2;
  const session = { seconds: 900, handoverSeconds: HANDOVER_SECONDS };
  // Half of the session's mid-epochs are idle.
  const isBusy = (at: number) =>
    Math.floor((at - middle + 1) / EPOCH_SECONDS) % 2 !== 0 || Math.abs((at % EPOCH_SECONDS) - middle) >= 3;
  const [busy, partly] = [watch(dipping, session), watch(dipping, { ...session, isBusy })];
  expect(Math.abs(medianDip(partly) / medianDip(busy) - 1)).toBeLessThan(0.08);
});

test("the dip adds the clock's uncertainty to the spread of its begin", () => {
  const { timingSeconds } = first;
  expect(timingSeconds).toBeGreaterThan(0);
  expect(new SubSecond().dip(0.4).timingSeconds).toBeCloseTo(Math.hypot(timingSeconds, 0.4), 9);
});

test('whatever a link does, the answers are valid, also from dead links and long pieces', () => {
  const piece = fc.record({
    pauseSeconds: fc.constantFrom(0, 0, 0.1, 3, 40),
    seconds: fc.constantFrom(1e-6, 0.02, 0.1, 0.1, 1, 30),
    bps: fc.constantFrom(0, 0, 1, 1e6, 5e7, 6e7, 1e15),
    times: whole(1, 200),
  });
  const anyPieces = fc.array(piece, { minLength: 1, maxLength: 8 });
  forAll([anyPieces, fc.constantFrom(UNKNOWN, 5)], { seed: 2, numRuns: 100 }, (pieces, handover) => {
    const sub = new SubSecond();
    let at = 0;
    for (const { pauseSeconds, seconds, bps, times } of pieces) {
      at += pauseSeconds;
      for (let i = 0; i < times; i++, at += seconds) sub.observe(at, at + seconds, bps * seconds, handover);
    }
    expectValid(sub);
  });
});

test('whatever a link does, a session that begins or goes on after an outage still learns', () => {
  for (const to of [10, 60, 1500]) {
    const from = to === 10 ? 0 : 30;
    const outage = (second: number) => (second >= from && second < to ? 0 : noisyLink(1, 0.1)(second));
    const sub = watch(outage, { seconds: to + 120 });
    expectValid(sub);
    expect(sub.fluctuation().ratios[4]).toBeGreaterThan(0.5);
  }
});

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

test('a live download learns the duration of chunks that the stream does not announce', () => {
  const edge = new LiveEdge();
  const segment = { ...SEGMENT, chunkSeconds: 2 };
  download({ requestedAtSeconds: 15, arrivals: atTheEdge(0, 15), segment, edge });
  expect(edge.chunkSeconds).toBe(0.25);
});

test('a live download that was refused waited for the encoder', () => {
  const live = new LiveWaits(new LiveEdge(), SEGMENT, 11);
  live.refused(12);
  live.received(12.5, 4e6, undefined);
  live.received(13.5, 4e6, undefined);
  expect(live.linkSeconds(2.5, 0)).toBeCloseTo(2);
  expect(live.withoutWaits({ requestedAtSeconds: 11 }, 14).requestedAtSeconds).toBeCloseTo(12);
});

test('a live download that begins again, for example after a refusal with a text, is measured from there on', () => {
  const edge = new LiveEdge();
  const live = new LiveWaits(edge, SEGMENT, 9.9);
  live.received(10, 100, 0);
  live.received(10.1, 1e6, 1);
  live.restarted(10.3);
  // Two chunks existed, the others come as they are encoded.
  for (const at of [10.35, 10.4, ...atTheEdge(0.05).slice(2)]) live.received(at, CHUNK_BITS, 1);
  live.ended(11.8, true);
  expect(edge.chunkSeconds).toBe(0.25);
  expect((CHUNKS * CHUNK_BITS) / live.linkSeconds(1.9, 0)!).toBeCloseTo(20e6);
  expect(live.withoutWaits({ requestedAtSeconds: 9.9 }, 12).requestedAtSeconds).toBeGreaterThan(10.3);
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
