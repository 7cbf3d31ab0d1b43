import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll, whole } from '../../abr/property.fixture.ts';
import { quantilesOf } from '../../abr/random-states.fixture.ts';
import { levelShare } from '../../abr/statistics/distributions.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { type Link, noisyLink } from './handover-clock/links.fixture.ts';
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
