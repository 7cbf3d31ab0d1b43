import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll, whole } from '../../abr/property.fixture.ts';
import { quantilesOf } from '../../abr/random-states.fixture.ts';
import { levelShare } from '../../abr/statistics/quantile.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { ModelSession } from '../forecast/model-session.ts';
import { type Link, noisyLink, throughput } from './handover-clock/links.fixture.ts';
import { SubSecond } from './sub-second.ts';

const EPOCH_SECONDS = 15;
/** Handovers of the links below. */
const HANDOVER_SECONDS = 5;
const UNKNOWN = Number.NaN;

interface Viewing {
  seconds: number;
  handoverSeconds?: number;
  /** Share of the link's 60 Mbit/s; 1 downloads all the time, else chunks of 0.5 s come one by one. */
  share?: number;
}

/** A link of this capacity, seen by a session in pieces of at most 0.1 s. */
function watch(link: Link, { seconds, handoverSeconds = UNKNOWN, share = 1 }: Viewing): SubSecond {
  const sub = new SubSecond();
  let backlogBits = 0;
  for (let tick = 0; tick < 10 * seconds; tick++) {
    const startSeconds = tick / 10;
    if (tick % 5 === 0) backlogBits += share === 1 ? Number.POSITIVE_INFINITY : share * 60e6 * 0.5;
    const bits = Math.min(backlogBits, link(startSeconds + 0.05) / 10);
    if (bits <= 0) continue;
    backlogBits -= bits;
    sub.observe(startSeconds, startSeconds + bits / link(startSeconds + 0.05), bits, handoverSeconds);
  }
  return sub;
}

/** A fifth of the capacity for some seconds from each handover on. */
const dippingFor =
  (seconds: number, link: Link = noisyLink(3, 0.02)): Link =>
  (second) => {
    const since = (second - HANDOVER_SECONDS + EPOCH_SECONDS) % EPOCH_SECONDS;
    return link(second) * (since < seconds ? 0.2 : 1);
  };

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

describe('fluctuation', () => {
  test('begins with what links have, with a mean of 1', () => {
    expectValid(new SubSecond());
    expect(widthOf(new SubSecond())).toBeGreaterThan(0.1);
  });

  test.each([0.03, 0.4])('learns the spread of a link, here %p', (noise) => {
    const sub = watch(noisyLink(1, noise), { seconds: 400 });
    const first = widthOf(new SubSecond());
    const truth = 2 * 1.2816 * noise;
    const learnt = widthOf(sub);
    expect(Math.sign(learnt - first)).toBe(Math.sign(truth - first));
    expect(learnt / truth).toBeGreaterThan(0.7);
    expect(learnt / truth).toBeLessThan(1.4);
    expectValid(sub);
  });

  test('does not depend on the link as a whole', () => {
    const slow = watch((second) => noisyLink(1, 0.2)(second) / 100, { seconds: 60 });
    expect(slow.fluctuation()).toEqual({
      ...watch(noisyLink(1, 0.2), { seconds: 60 }).fluctuation(),
      ratios: slow.fluctuation().ratios.map((ratio) => expect.closeTo(ratio, 6)),
      correlation: expect.closeTo(slow.fluctuation().correlation, 6),
    });
  });

  test('learns how one 0.1 s depends on the one before', () => {
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

  test('leaves handovers out, once they are known', () => {
    const deep = dippingFor(1.2);
    const known = watch(deep, { seconds: 300, handoverSeconds: HANDOVER_SECONDS });
    const unknown = watch(deep, { seconds: 300 });
    const lowest = (sub: SubSecond) => sub.fluctuation().ratios[1]!;
    expect(lowest(known)).toBeGreaterThan(1.2 * lowest(unknown));
  });
});

describe('dip', () => {
  const first = new SubSecond().dip(0);

  test.each([
    [1, 0.5],
    [0.5, 0.5],
    [0.5, 0.3],
  ])('learns how long dips last, from chunks of %p of the link: %p s', (share, seconds) => {
    const sub = watch(dippingFor(seconds), { seconds: 600, share, handoverSeconds: HANDOVER_SECONDS });
    expect(medianDip(sub)).toBeGreaterThan(0.6 * seconds);
    expect(medianDip(sub)).toBeLessThan(1.4 * seconds);
    expectValid(sub);
  });

  test('gets shorter on a link without dips', () => {
    const sub = watch(noisyLink(3, 0.02), { seconds: 600, handoverSeconds: HANDOVER_SECONDS });
    expect(medianDip(sub)).toBeLessThan(first.seconds[1]! / 2);
    expect(sub.dip(0).collapse.probability).toBeLessThan(first.collapse.probability);
  });

  test('counts long losses as collapses', () => {
    const sub = watch(dippingFor(1.4), { seconds: 300, handoverSeconds: HANDOVER_SECONDS });
    expect(sub.dip(0).collapse.probability).toBeGreaterThan(0.4);
  });

  test('counts nothing while the handover is unknown, or the link idle about it', () => {
    expect(watch(dippingFor(1.2), { seconds: 300 }).dip(0)).toEqual(first);
    const idle = new SubSecond();
    const handoverSeconds = HANDOVER_SECONDS;
    for (let epoch = 0; epoch < 20; epoch++) {
      // Only four seconds of each epoch, without its handover and its middle, are busy.
      for (let tick = 0; tick < 40; tick++) {
        const startSeconds = 7.5 + 15 * epoch + tick / 10;
        idle.observe(startSeconds, startSeconds + 0.1, 6e6, handoverSeconds);
      }
    }
    expect(idle.dip(0)).toEqual(first);
  });

  test('compares with mid-epochs that it has seen, not with idle ones', () => {
    const dipping = dippingFor(0.5, noisyLink(3, 0.3));
    const middle = HANDOVER_SECONDS + EPOCH_SECONDS / 2;
    const busy = watch(dipping, { seconds: 900, handoverSeconds: HANDOVER_SECONDS });
    const partly = new SubSecond();
    for (let tick = 0; tick < 9000; tick++) {
      const at = tick / 10;
      // Half of the session's mid-epochs are idle.
      const isIdle =
        Math.floor((at - middle + 1) / EPOCH_SECONDS) % 2 === 0 && Math.abs((at % EPOCH_SECONDS) - middle) < 3;
      if (!isIdle) partly.observe(at, at + 0.1, dipping(at + 0.05) / 10, HANDOVER_SECONDS);
    }
    expect(Math.abs(medianDip(partly) / medianDip(busy) - 1)).toBeLessThan(0.08);
  });

  test("adds the clock's uncertainty to the spread of its begin", () => {
    const { timingSeconds } = first;
    expect(timingSeconds).toBeGreaterThan(0);
    expect(new SubSecond().dip(0.4).timingSeconds).toBeCloseTo(Math.hypot(timingSeconds, 0.4), 9);
  });
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
  for (const [from, to] of [
    [0, 10],
    [30, 60],
    [30, 1500],
  ] as const) {
    const outage = (second: number) => (second >= from && second < to ? 0 : noisyLink(1, 0.1)(second));
    const sub = new SubSecond();
    for (let tick = 0; tick < 10 * (to + 120); tick++) {
      sub.observe(tick / 10, (tick + 1) / 10, outage(tick / 10 + 0.05) / 10, UNKNOWN);
    }
    expectValid(sub);
    expect(sub.fluctuation().ratios[4]).toBeGreaterThan(0.5);
  }
});

test('a session with a model forgets with a new session, and has no fluctuation unless asked for', () => {
  const forecastOf = (newSubSecond?: () => SubSecond) => {
    const session = new ModelSession({ newSubSecond });
    session.useModel({ stepEndsSeconds: [1, 4], levels: [0.1, 0.5, 0.9], rankCorrelation: 0.7 });
    session.start({ seed: 1 });
    for (let i = 0; i < 300; i++) session.observe(throughput(i / 10, (i + 1) / 10, noisyLink(1, 0.3)(i / 10)));
    session.start({ seed: 1 });
    const moment = { nowSeconds: 30, referenceBps: 60e6, handovers: [] };
    return session.forecast(moment, 'test', new Float64Array(6));
  };
  expect(forecastOf(() => new SubSecond()).fluctuation).toEqual(new SubSecond().fluctuation());
  expect(forecastOf()).not.toHaveProperty('fluctuation');
});
