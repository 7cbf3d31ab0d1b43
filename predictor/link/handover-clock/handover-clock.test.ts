import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Observation, SessionContext } from '../../../abr/forecast.ts';
import { between, forAll, whole } from '../../../abr/property.fixture.ts';
import { anyObservation } from '../../../abr/random-observations.fixture.ts';
import { HandoverClock, type HandoverEstimate } from './handover-clock.ts';
import { hintHandover } from './hint.ts';
import {
  apart,
  dippingLink,
  dipsAtRandom,
  dipsEvery,
  IMPOSSIBLE_THROUGHPUT,
  type Link,
  leoLink,
  liveObservationsOf,
  noisyLink,
  observationsOf,
  type SessionOptions,
  squareLink,
} from './links.fixture.ts';

const MINUTE_MS = Date.UTC(2025, 0, 1, 12, 0, 0);

const started = (context: Partial<SessionContext> = {}) => new HandoverClock(context);

function listen(clock: HandoverClock, observations: readonly Observation[]): HandoverEstimate {
  for (const observation of observations) clock.observe(observation);
  return clock.estimate(0)!;
}

const afterSession = (link: Link, options: SessionOptions) => listen(started(), observationsOf(link, options));

const logOdds = ({ leoProbability }: HandoverEstimate) => Math.log(leoProbability / (1 - leoProbability));

/** UTC at the start of a session with boundaries at `boundary` of its clock, with an error of `errorSeconds`. */
function timeOf(boundary: number, errorSeconds = 0): Partial<SessionContext> {
  return { utcMsAtStart: MINUTE_MS + (12 - boundary + errorSeconds) * 1000, utcUncertaintySeconds: 2 };
}

const SEEDS = Array.from({ length: 12 }, (_, i) => i + 1);
const share = (holds: (seed: number) => boolean) => SEEDS.filter(holds).length / SEEDS.length;
const boundaryOf = (seed: number) => (seed * 4.3) % 15;
const throughputOf = (seed: number) =>
  observationsOf(leoLink({ seed, boundary: boundaryOf(seed) }), { untilSeconds: 120 });
/** A request every two seconds, whose latency changes with the epoch. */
const latenciesOf = (seed: number) => {
  const link = leoLink({ seed, boundary: boundaryOf(seed), spread: 0.3, noise: 0.05 });
  return Array.from({ length: 120 }, (_, i): Observation => {
    const atSeconds = 1 + 2 * i;
    return { kind: 'request-latency', atSeconds, latencySeconds: (0.05 * link(atSeconds)) / 60e6 };
  });
};
const wrongTimeOf = (seed: number) => timeOf(boundaryOf(seed), [-7, -4, 4, 7][seed % 4]!);

describe('position', () => {
  test('is according to the schedule at first, or uniform without a time source', () => {
    // At :20 the next reconfiguration is at :27.
    const clock = started({ utcMsAtStart: MINUTE_MS + 20_000, utcUncertaintySeconds: 0.1 });
    const { phaseSeconds, uncertaintySeconds } = clock.estimate(0)!;
    expect(apart(phaseSeconds, 7)).toBeLessThan(0.1);
    expect(uncertaintySeconds).toBeLessThan(2.5);
    expect(started().estimate(0)!.uncertaintySeconds).toBeCloseTo(15 / Math.sqrt(12), 1);
  });

  test.each([
    ['from throughput alone', throughputOf, () => ({}), 1, 0.9],
    ['in spite of an error of the time source of up to 7 s', throughputOf, wrongTimeOf, 1, 0.9],
    ['from steps of the request latency alone', latenciesOf, () => ({}), 1.5, 0.8],
  ])('is found %s', (_, observations, contextOf, withinSeconds, leastShare) => {
    const found = share((seed) => {
      const { phaseSeconds } = listen(started(contextOf(seed)), observations(seed));
      return apart(phaseSeconds, boundaryOf(seed)) < withinSeconds;
    });
    expect(found).toBeGreaterThan(leastShare);
  });

  test('latency alone is no evidence for or against a LEO link', () => {
    const latencies = Array.from({ length: 100 }, (_, i): Observation => {
      return { kind: 'request-latency', atSeconds: 2 * i, latencySeconds: 0.04 };
    });
    expect(logOdds(listen(started(), latencies))).toBeCloseTo(0);
  });

  test('is periodic: a UTC that differs by 15 s, a minute or a day gives the same', () => {
    forAll([whole(0, 59_999), fc.constantFrom(15, 30, 45, 60, 3600, 86_400)], { seed: 1 }, (ms, laterSeconds) => {
      const utcMsAtStart = MINUTE_MS + ms;
      const one = started({ utcMsAtStart }).estimate(0)!;
      const other = started({ utcMsAtStart: utcMsAtStart + laterSeconds * 1000 }).estimate(0)!;
      expect(apart(one.phaseSeconds, other.phaseSeconds)).toBeLessThan(1e-6);
      expect(apart(one.phaseSeconds, 12 - ((utcMsAtStart / 1000) % 15))).toBeLessThan(0.1);
    });
  });

  test('observations whole epochs later give the same estimate', () => {
    const link = leoLink({ seed: 3, boundary: 5 });
    const now = afterSession(link, { untilSeconds: 60 });
    const later = afterSession(link, { untilSeconds: 60, aheadSeconds: 45 });
    expect(apart(now.phaseSeconds, later.phaseSeconds)).toBeLessThan(1e-6);
    expect(logOdds(later)).toBeCloseTo(logOdds(now), 6);
  });

  test('does not depend on the scale of the rates', () => {
    const link = leoLink({ seed: 4, boundary: 5 });
    const one = afterSession(link, { untilSeconds: 90 });
    for (const factor of [0.01, 0.5, 2, 100]) {
      const other = afterSession((second) => factor * link(second), { untilSeconds: 90 });
      expect(other.phaseSeconds).toBeCloseTo(one.phaseSeconds, 3);
      expect(logOdds(other)).toBeCloseTo(logOdds(one), 3);
    }
  });
});

describe('leaps', () => {
  const boundary = 5;

  /** Error of the position some epochs after the session's clock leapt. */
  function missedBy(seed: number, leapSeconds: number, epochs: number, hasTimeSource: boolean): number {
    const link = leoLink({ seed, boundary });
    const clock = started(timeOf(boundary));
    listen(clock, observationsOf(link, { untilSeconds: 120 }));
    // Only the session's clock leaps, so UTC at its second 0 is earlier by the leap.
    if (hasTimeSource) clock.tellTime(120 + leapSeconds, timeOf(boundary).utcMsAtStart! + 120_000, 2);
    const later = { fromSeconds: 120, untilSeconds: 120 + 15 * epochs, aheadSeconds: leapSeconds };
    const { phaseSeconds } = listen(clock, observationsOf(link, later));
    return apart(phaseSeconds, boundary + leapSeconds);
  }

  test.each([3, 5, 7, -4, 40])('of the session clock by %d s are found, in three epochs with UTC', (leap) => {
    expect(share((seed) => missedBy(seed, leap, 3, true) < 1)).toBeGreaterThan(0.8);
    expect(share((seed) => missedBy(seed, leap, 12, false) < 1)).toBeGreaterThan(0.8);
  });

  test('of the time source do not change a position that observations support', () => {
    for (const seed of SEEDS) {
      const link = leoLink({ seed, boundary });
      const clock = started(timeOf(boundary));
      listen(clock, observationsOf(link, { untilSeconds: 120 }));
      clock.tellTime(120, timeOf(boundary, 6).utcMsAtStart! + 120_000, 2);
      const { phaseSeconds } = listen(clock, observationsOf(link, { fromSeconds: 120, untilSeconds: 165 }));
      expect(apart(phaseSeconds, boundary)).toBeLessThan(1);
    }
  });

  test('the same time again changes nothing', () => {
    const clock = started(timeOf(boundary));
    const before = listen(clock, observationsOf(leoLink({ seed: 1, boundary }), { untilSeconds: 60 }));
    for (let i = 0; i < 100; i++) clock.tellTime(60 + i, timeOf(boundary).utcMsAtStart! + (60 + i) * 1000 + (i % 7), 2);
    expect(clock.estimate(0)).toEqual(before);
  });

  test('a better time source within the uncertainty of the first replaces it', () => {
    const clock = started({ utcMsAtStart: MINUTE_MS, utcUncertaintySeconds: 2 });
    clock.tellTime(3, MINUTE_MS + 4500, 0.05);
    const better = started();
    better.tellTime(0, MINUTE_MS + 1500, 0.05);
    const expected = better.positionProbabilities();
    clock.positionProbabilities().forEach((probability, cell) => {
      expect(probability).toBeCloseTo(expected[cell]!, 12);
    });
  });
});

test('a LEO link is recognised, and only then are handovers announced', () => {
  const recognised = share((seed) => {
    const boundary = boundaryOf(seed);
    const clock = started(timeOf(boundary));
    for (const observation of observationsOf(leoLink({ seed, boundary }), { untilSeconds: 240 })) {
      clock.observe(observation);
      if (observation.kind !== 'idle') continue;
      const { isLeo, nextHandovers, leoProbability } = clock.estimate(100)!;
      expect(nextHandovers.length > 0).toBe(isLeo);
      if (nextHandovers.length === 0) continue;
      const [first, second, third] = nextHandovers;
      expect(first!.atSeconds).toBeGreaterThanOrEqual(100);
      expect(first!.atSeconds).toBeLessThan(115);
      expect(second!.atSeconds - first!.atSeconds).toBeCloseTo(15);
      expect(third!.atSeconds - second!.atSeconds).toBeCloseTo(15);
      expect(first!.confidence).toBeGreaterThan(0);
      expect(first!.confidence).toBeLessThanOrEqual(leoProbability);
    }
    return clock.estimate(0)!.isLeo;
  });
  expect(recognised).toBeGreaterThan(0.9);
});

test.each([
  ['constant', () => 50e6],
  ['noise of 2 %', noisyLink(1, 0.02)],
  ['noise of 5 %', noisyLink(2, 0.05)],
  ['noise of 30 %', noisyLink(3, 0.3)],
  ...[3, 5, 7.5, 10, 12, 15, 20, 30, 40, 45, 60, 90].map((period) => [
    `square wave of ${period} s`,
    squareLink(period),
  ]),
] as [string, Link][])('a link without epochs is never taken for LEO: %s', (_, link) => {
  for (const [busySeconds, context] of [
    [4, {}],
    [3, timeOf(0)],
    [1.5, timeOf(7)],
  ] as const) {
    const clock = started(context);
    const claims = observationsOf(link, { untilSeconds: 300, busySeconds }).filter((observation) => {
      clock.observe(observation);
      return clock.estimate(0)!.isLeo;
    });
    expect(claims).toEqual([]);
  }
});

test('a change from a LEO link to another network is noticed', () => {
  const clock = started(timeOf(5));
  expect(listen(clock, observationsOf(leoLink({ seed: 2, boundary: 5 }), { untilSeconds: 300 })).isLeo).toBe(true);
  const other = observationsOf(noisyLink(5, 0.03), { fromSeconds: 300, untilSeconds: 900 });
  expect(listen(clock, other).isLeo).toBe(false);
});

test('steps alone have to be likelier than dips to announce handovers', () => {
  for (const seed of SEEDS) {
    const clock = started(timeOf(boundaryOf(seed)));
    const link = leoLink({ seed, boundary: boundaryOf(seed) });
    // Seconds are too coarse to show dips.
    const announced = Array.from({ length: 150 }, (_, i) => i).find((startSeconds) => {
      const bits = link(startSeconds + 0.5);
      clock.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + 1, bits });
      // Steps without dips need a probability of 0.997, below which there is no announcement.
      expect(clock.isLeo && clock.leoProbability < 0.997).toBe(false);
      return clock.isLeo;
    });
    expect(announced).toBeDefined();
  }
});

describe('short dips in a live session', () => {
  const EPOCH = 15;
  const handovers = (seed: number) => {
    const boundary = boundaryOf(seed);
    return dippingLink(dipsEvery(EPOCH, boundary), leoLink({ seed, boundary, spread: 0.2, noise: 0.1 }));
  };

  test.each([0.3, 0.6, 0.9])('at use of %d locate the handovers to 0.1 s after four epochs', (use) => {
    const found = share((seed) => {
      const clock = started(timeOf(boundaryOf(seed)));
      listen(clock, liveObservationsOf(handovers(seed), { untilSeconds: 4 * EPOCH, share: use }));
      return apart(clock.estimate(60)!.phaseSeconds, boundaryOf(seed)) < 0.1;
    });
    expect(found).toBeGreaterThan(0.9);
  });

  test('announce handovers after six epochs, with an honest uncertainty', () => {
    const announced = share((seed) => {
      const clock = started(timeOf(boundaryOf(seed)));
      const estimate = listen(clock, liveObservationsOf(handovers(seed), { untilSeconds: 6 * EPOCH }));
      expect(estimate.uncertaintySeconds).toBeLessThan(1);
      expect(estimate.spreadSeconds).toBeLessThan(0.2);
      return estimate.isLeo && estimate.nextHandovers[0]!.confidence > 0.9;
    });
    expect(announced).toBeGreaterThan(0.9);
  });

  test.each([6, 3604])('are found again within five epochs after the session clock leapt by %d s', (leapSeconds) => {
    const found = share((seed) => {
      const clock = started(timeOf(boundaryOf(seed)));
      listen(clock, liveObservationsOf(handovers(seed), { untilSeconds: 120 }));
      const later = { fromSeconds: 120, untilSeconds: 120 + 5 * EPOCH, aheadSeconds: leapSeconds };
      const { phaseSeconds } = listen(clock, liveObservationsOf(handovers(seed), later));
      return apart(phaseSeconds, boundaryOf(seed) + leapSeconds) < 0.15;
    });
    expect(found).toBeGreaterThan(0.9);
  });

  const isEverTaken = (link: Link, context: Partial<SessionContext>) => {
    const clock = started(context);
    return liveObservationsOf(link, { untilSeconds: 300 }).some((observation) => {
      clock.observe(observation);
      return clock.estimate(0)!.isLeo;
    });
  };

  test('at random are not taken for handovers', () => {
    expect(share((seed) => isEverTaken(dippingLink(dipsAtRandom(seed)), timeOf(3)))).toBe(0);
  });

  test.each([1, 2, 4, 5, 7.5, 10, 20, 30, 40])('every %d s are not taken for handovers', (periodSeconds) => {
    expect(isEverTaken(dippingLink(dipsEvery(periodSeconds, 3)), timeOf(3))).toBe(false);
    expect(isEverTaken(dippingLink(dipsEvery(periodSeconds, 3)), {})).toBe(false);
  });
});

test('hints are evidence for a position and for a LEO link', () => {
  const clock = started();
  hintHandover(clock, 100, 0.5, 0.95);
  const { phaseSeconds, uncertaintySeconds, leoProbability } = clock.estimate(0)!;
  expect(apart(phaseSeconds, 10)).toBeLessThan(0.2);
  expect(uncertaintySeconds).toBeLessThan(2);
  expect(leoProbability).toBeGreaterThan(0.9);
});

test('hints repeated at once count once', () => {
  const once = started();
  const often = started();
  hintHandover(once, 100, 0.5, 0.7);
  for (let i = 0; i < 50; i++) hintHandover(often, 100, 0.5, 0.7);
  expect(often.estimate(0)).toEqual(once.estimate(0));
});

test.each([
  [Number.NaN, 1, 1],
  [1, -1, 1],
  [1, Number.NaN, 1],
  [1, 1, 0],
  [1, 1, 1.5],
])('hints are ignored if impossible: %d, %d, %d', (...hint) => {
  const clock = started();
  hintHandover(clock, ...hint);
  expect(clock.estimate(0)).toEqual(started().estimate(0));
});

const FAULTY: Observation[] = [
  ...IMPOSSIBLE_THROUGHPUT,
  { kind: 'request-latency', atSeconds: Number.NaN, latencySeconds: 0.1 },
  ...[0, Number.NaN, Number.POSITIVE_INFINITY].map((latencySeconds): Observation => {
    return { kind: 'request-latency', atSeconds: 1, latencySeconds };
  }),
];

test('impossible observations are ignored', () => {
  const sound = observationsOf(leoLink({ seed: 6, boundary: 4 }), { untilSeconds: 60 });
  const mixed = sound.flatMap((observation, i) => [FAULTY[i % FAULTY.length]!, observation]);
  expect(listen(started(), mixed)).toEqual(listen(started(), sound));
});

test('law: the estimate is valid for any observations, times and hints', () => {
  const number = fc.oneof(fc.double(), between(0, 1000));
  const other = fc.tuple(fc.constantFrom('tell', 'hint'), number, number, number);
  const anyEvents = fc.array(fc.oneof({ weight: 4, arbitrary: anyObservation }, other), { maxLength: 120 });
  forAll([anyEvents, between(-1e6, 1e6)], { seed: 1, numRuns: 300 }, (events, nowSeconds) => {
    const clock = started({ utcMsAtStart: MINUTE_MS });
    for (const event of events) {
      if (!Array.isArray(event)) clock.observe(event);
      else if (event[0] === 'tell') clock.tellTime(event[1], event[2], event[3]);
      else hintHandover(clock, event[1], event[2], event[3]);
    }
    const estimate = clock.estimate(nowSeconds)!;
    const { phaseSeconds, uncertaintySeconds, spreadSeconds, leoProbability } = estimate;
    expect(phaseSeconds).toBeLessThan(15);
    const shares = [phaseSeconds / 15, uncertaintySeconds / 7.5, spreadSeconds, leoProbability];
    expect(shares.filter((one) => !(one >= 0 && one <= 1))).toEqual([]);
    expect(clock.positionProbabilities().reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(1);
    for (const { atSeconds, confidence } of estimate.nextHandovers) {
      expect(atSeconds).toBeGreaterThanOrEqual(nowSeconds);
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(1);
    }
  });
});
