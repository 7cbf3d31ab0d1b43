import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Observation, SessionContext } from '../../../abr/forecast.ts';
import { between, forAll, whole } from '../../../abr/property.fixture.ts';
import { anyObservation } from '../../../abr/random-states.fixture.ts';
import { seededRandom } from '../../../abr/statistics/random.ts';
import { HandoverClock, type HandoverEstimate } from './handover-clock.ts';
import { hintHandover } from './hint.ts';
import { apart, type Link, leoLink, noisyLink, observationsOf, throughput } from './links.fixture.ts';
import { rateBins } from './rate-bins.ts';
import type { Measurement } from './state-filters.ts';

const MINUTE_MS = Date.UTC(2025, 0, 1, 12, 0, 0);

const started = (context: Partial<SessionContext> = {}) => new HandoverClock(context);

function listen(clock: HandoverClock, observations: readonly Observation[]): HandoverEstimate {
  for (const observation of observations) clock.observe(observation);
  return clock.estimate(0)!;
}

const isEverTaken = (observations: readonly Observation[], context: Partial<SessionContext>) => {
  const clock = started(context);
  return observations.some((observation) => {
    clock.observe(observation);
    return clock.isLeo;
  });
};

const logOdds = ({ leoProbability }: HandoverEstimate) => Math.log(leoProbability / (1 - leoProbability));

/** UTC at the start of a session with boundaries at `boundary` of its clock, with an error of `errorSeconds`. */
function timeOf(boundary: number, errorSeconds = 0): Partial<SessionContext> {
  return { utcMsAtStart: MINUTE_MS + (12 - boundary + errorSeconds) * 1000, utcUncertaintySeconds: 2 };
}

const SEEDS = Array.from({ length: 12 }, (_, i) => i + 1);
const share = (holds: (seed: number) => boolean) => SEEDS.filter(holds).length / SEEDS.length;
const boundaryOf = (seed: number) => (seed * 4.3) % 15;
const leoOf = (seed: number, spread?: { spread: number; noise: number }) =>
  leoLink({ seed, boundary: boundaryOf(seed), ...spread });
const timed = (seed: number) => started(timeOf(boundaryOf(seed)));
const throughputOf = (seed: number) => observationsOf(leoOf(seed), { untilSeconds: 120 });
/** A request every two seconds, whose latency changes with the epoch. */
const latenciesOf = (seed: number) => {
  const link = leoOf(seed, { spread: 0.3, noise: 0.05 });
  return Array.from({ length: 120 }, (_, i): Observation => {
    const atSeconds = 1 + 2 * i;
    return { kind: 'request-latency', atSeconds, latencySeconds: (0.05 * link(atSeconds)) / 60e6 };
  });
};
const wrongTimeOf = (seed: number) => timeOf(boundaryOf(seed), [-7, -4, 4, 7][seed % 4]!);

test.each([
  ['from throughput alone', throughputOf, () => ({}), 1, 0.9],
  ['in spite of an error of the time source of up to 7 s', throughputOf, wrongTimeOf, 1, 0.9],
  ['from steps of the request latency alone', latenciesOf, () => ({}), 1.5, 0.8],
])('the position is found %s', (_, observations, contextOf, withinSeconds, leastShare) => {
  const found = share((seed) => {
    const { phaseSeconds } = listen(started(contextOf(seed)), observations(seed));
    return apart(phaseSeconds, boundaryOf(seed)) < withinSeconds;
  });
  expect(found).toBeGreaterThan(leastShare);
});

test('latency alone is no evidence for or against a LEO link', () => {
  expect(logOdds(listen(started(), latenciesOf(1)))).toBeCloseTo(0);
});

test('the position is at :12, :27, :42 and :57 of each minute at first, or uniform without a time source', () => {
  forAll([whole(0, 59_999), fc.constantFrom(15, 30, 45, 60, 3600, 86_400)], { seed: 1 }, (ms, laterSeconds) => {
    const utcMsAtStart = MINUTE_MS + ms;
    const one = started({ utcMsAtStart, utcUncertaintySeconds: 0.1 }).estimate(0)!;
    const laterMs = utcMsAtStart + laterSeconds * 1000;
    const other = started({ utcMsAtStart: laterMs, utcUncertaintySeconds: 0.1 }).estimate(0)!;
    expect(apart(one.phaseSeconds, other.phaseSeconds)).toBeLessThan(1e-6);
    expect(apart(one.phaseSeconds, 12 - ((utcMsAtStart / 1000) % 15))).toBeLessThan(0.1);
    expect(one.uncertaintySeconds).toBeLessThan(2.5);
  });
  expect(started().estimate(0)!.uncertaintySeconds).toBeCloseTo(15 / Math.sqrt(12), 1);
});

test.each([0.01, 1, 100])('the scale of the rates and whole epochs do not matter: times %d, 45 s later', (by) => {
  const link = leoLink({ seed: 4, boundary: 5 });
  const estimateOf = (one: Link, aheadSeconds: number) =>
    listen(started(), observationsOf(one, { untilSeconds: 90, aheadSeconds }));
  const [one, other] = [estimateOf(link, 0), estimateOf((second) => by * link(second), 45)];
  const digits = by === 1 ? 6 : 3;
  expect(apart(one.phaseSeconds, other.phaseSeconds)).toBeCloseTo(0, digits);
  expect(logOdds(other)).toBeCloseTo(logOdds(one), digits);
});

const boundary = 5;

/** Error of the position some epochs after the session's clock leapt. */
function missedBy(seed: number, leapSeconds: number, epochs: number, time?: Partial<SessionContext>): number {
  const link = leoLink({ seed, boundary });
  const clock = started(timeOf(boundary));
  listen(clock, observationsOf(link, { untilSeconds: 120 }));
  // Only the session's clock leaps, so UTC at its second 0 is earlier by the leap.
  if (time) clock.tellTime(120 + leapSeconds, time.utcMsAtStart! + 120_000, 2);
  const later = { fromSeconds: 120, untilSeconds: 120 + 15 * epochs, aheadSeconds: leapSeconds };
  const { phaseSeconds } = listen(clock, observationsOf(link, later));
  return apart(phaseSeconds, boundary + leapSeconds);
}

test.each([3, 7, -4, 40])('leaps of the session clock by %d s are found, in three epochs with UTC', (leap) => {
  expect(share((seed) => missedBy(seed, leap, 3, timeOf(boundary)) < 1)).toBeGreaterThan(0.8);
  expect(share((seed) => missedBy(seed, leap, 12) < 1)).toBeGreaterThan(0.8);
});

test('leaps of the time source do not change a position that observations support', () => {
  for (const seed of SEEDS) expect(missedBy(seed, 0, 3, timeOf(boundary, 6))).toBeLessThan(1);
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
  const expected = [...better.positionProbabilities()].map((probability) => expect.closeTo(probability, 12));
  expect([...clock.positionProbabilities()]).toEqual(expected);
});

test('a LEO link is recognised, and only then are handovers announced', () => {
  const recognised = share((seed) => {
    const clock = timed(seed);
    for (const observation of observationsOf(leoOf(seed), { untilSeconds: 240 })) {
      clock.observe(observation);
      if (observation.kind !== 'idle') continue;
      const { isLeo, nextHandovers, leoProbability } = clock.estimate(100)!;
      expect(nextHandovers.length > 0).toBe(isLeo);
      if (nextHandovers.length === 0) continue;
      const { atSeconds, confidence } = nextHandovers[0]!;
      expect(atSeconds).toBeGreaterThanOrEqual(100);
      expect(atSeconds).toBeLessThan(115);
      const ahead = nextHandovers.map((one) => one.atSeconds - atSeconds);
      expect(ahead).toEqual([0, expect.closeTo(15), expect.closeTo(30)]);
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThanOrEqual(leoProbability);
    }
    return clock.estimate(0)!.isLeo;
  });
  expect(recognised).toBeGreaterThan(0.9);
});

const squareLink = (period: number) => (second: number) => (second % period < period / 2 ? 80e6 : 30e6);
const PERIODS = [3, 5, 7.5, 10, 12, 15, 20, 30, 40, 45, 60, 90];
test.each<[string, Link]>([
  ['constant', () => 50e6],
  ...[0.02, 0.05, 0.3].map((noise, i): [string, Link] => [`noise of ${noise}`, noisyLink(i + 1, noise)]),
  ...PERIODS.map((period): [string, Link] => [`square wave of ${period} s`, squareLink(period)]),
])('a link without epochs is never taken for LEO: %s', (_, link) => {
  const contexts = { 4: {}, 3: timeOf(0), 1.5: timeOf(7) };
  for (const [busySeconds, context] of Object.entries(contexts)) {
    expect(isEverTaken(observationsOf(link, { untilSeconds: 300, busySeconds: +busySeconds }), context)).toBe(false);
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
    const [clock, link] = [timed(seed), leoOf(seed)];
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

/** A link at a quarter of its rate for 0.2 s from each of `dips` on. */
function dippingLink(dips: (second: number) => boolean, link = noisyLink(1, 0.1)): Link {
  return (second) => link(second) * (dips(second) || dips(second - 0.1) ? 0.25 : 1);
}

/** Whether a dip begins in this tenth of a second: at `first`, and `everySeconds` later ... */
function dipsEvery(everySeconds: number, first = 0): (second: number) => boolean {
  return (second) => (((second - first) % everySeconds) + everySeconds) % everySeconds < 0.1;
}

/** Dips 3 to 27 s apart. */
function dipsAtRandom(seed: number): (second: number) => boolean {
  const random = seededRandom(seed);
  const starts = new Set<number>();
  for (let second = 0; second < 1000; second += 3 + 24 * random()) starts.add(Math.floor(second / 0.1));
  return (second) => starts.has(Math.floor(second / 0.1));
}

type LiveOptions = Parameters<typeof observationsOf>[1] & { share?: number };

/** The observations of a live session: four chunks a second of `share` of 60 Mbit/s, each as soon as possible. */
function liveObservationsOf(link: Link, options: LiveOptions): Observation[] {
  const { untilSeconds, fromSeconds = 0, aheadSeconds = 0, share = 0.5 } = options;
  const observations: Observation[] = [];
  let backlogBits = 0;
  for (let tick = Math.round(fromSeconds * 40); tick < untilSeconds * 40; tick++) {
    if (tick % 10 === 0) backlogBits += (share * 60e6) / 4;
    if (backlogBits <= 0) continue;
    const rate = link((tick + 0.5) / 40);
    const startSeconds = aheadSeconds + tick / 40;
    const bits = Math.min(backlogBits, rate / 40);
    backlogBits -= bits;
    observations.push({ kind: 'throughput', startSeconds, endSeconds: startSeconds + bits / rate, bits });
  }
  return observations;
}

const EPOCH = 15;
const handovers = (seed: number) =>
  dippingLink(dipsEvery(EPOCH, boundaryOf(seed)), leoOf(seed, { spread: 0.2, noise: 0.1 }));

/** Error of the position after sessions with short dips at handovers, the last of them with a clock `ahead`. */
function missedByDips(seed: number, ahead: number, ...sessions: LiveOptions[]): number {
  const clock = timed(seed);
  for (const session of sessions) listen(clock, liveObservationsOf(handovers(seed), session));
  return apart(clock.estimate(60)!.phaseSeconds, boundaryOf(seed) + ahead);
}

test.each([0.3, 0.6, 0.9])('short dips at use of %d locate the handovers to 0.1 s after four epochs', (use) => {
  const session = { untilSeconds: 4 * EPOCH, share: use };
  expect(share((seed) => missedByDips(seed, 0, session) < 0.1)).toBeGreaterThan(0.9);
});

test('short dips announce handovers after six epochs, with an honest uncertainty', () => {
  const announced = share((seed) => {
    const estimate = listen(timed(seed), liveObservationsOf(handovers(seed), { untilSeconds: 6 * EPOCH }));
    expect(estimate.uncertaintySeconds).toBeLessThan(1);
    expect(estimate.spreadSeconds).toBeLessThan(0.2);
    return estimate.isLeo && estimate.nextHandovers[0]!.confidence > 0.9;
  });
  expect(announced).toBeGreaterThan(0.9);
});

test.each([6, 3604])('short dips are found again within five epochs after a leap of %d s', (aheadSeconds) => {
  const later = { fromSeconds: 120, untilSeconds: 120 + 5 * EPOCH, aheadSeconds };
  const found = share((seed) => missedByDips(seed, aheadSeconds, { untilSeconds: 120 }, later) < 0.15);
  expect(found).toBeGreaterThan(0.9);
});

const watching = (dips: (second: number) => boolean) => liveObservationsOf(dippingLink(dips), { untilSeconds: 300 });

test('short dips at random are not taken for handovers', () => {
  expect(share((seed) => isEverTaken(watching(dipsAtRandom(seed)), timeOf(3)))).toBe(0);
});

test.each([1, 2, 4, 5, 7.5, 10, 20, 30, 40])('short dips every %d s are not taken for handovers', (periodSeconds) => {
  const observations = watching(dipsEvery(periodSeconds, 3));
  for (const context of [timeOf(3), {}]) expect(isEverTaken(observations, context)).toBe(false);
});

/** The estimate after a hint, by default of second 100. `times`: repeated at once. */
function hinted({ at = 100, uncertainty = 0.5, confidence = 0.95, times = 1 }) {
  const clock = started();
  for (let i = 0; i < times; i++) hintHandover(clock, at, uncertainty, confidence);
  return clock.estimate(0)!;
}

test('hints are evidence for a position and for a LEO link; repeated at once they count once', () => {
  const { phaseSeconds, uncertaintySeconds, leoProbability } = hinted({});
  expect(apart(phaseSeconds, 10)).toBeLessThan(0.2);
  expect(uncertaintySeconds).toBeLessThan(2);
  expect(leoProbability).toBeGreaterThan(0.9);
  expect(hinted({ confidence: 0.7, times: 50 })).toEqual(hinted({ confidence: 0.7 }));
});

test('hints are ignored if impossible', () => {
  const wrong = [{ at: Number.NaN }, { uncertainty: -1 }, { uncertainty: Number.NaN }];
  for (const hint of [...wrong, { confidence: 0 }, { confidence: 1.5 }]) {
    expect(hinted(hint)).toEqual(started().estimate(0));
  }
});

test('impossible observations are ignored', () => {
  const changed = (observation: Observation, changes: Record<string, number[]>) =>
    Object.entries(changes).flatMap(([field, values]) => values.map((value) => ({ ...observation, [field]: value })));
  const [never, most] = [Number.NaN, Number.POSITIVE_INFINITY];
  const wrongTimes = { startSeconds: [never], endSeconds: [20, 19, never, most], bits: [never, -1, most] };
  const latency: Observation = { kind: 'request-latency', atSeconds: 1, latencySeconds: 0.1 };
  const faulty = [
    ...changed(throughput(20, 20.1, 1e7), wrongTimes),
    ...changed(latency, { atSeconds: [never], latencySeconds: [0, never, most] }),
  ] as Observation[];
  const sound = observationsOf(leoLink({ seed: 6, boundary: 4 }), { untilSeconds: 60 });
  const mixed = sound.flatMap((observation, i) => [faulty[i % faulty.length]!, observation]);
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
      expect(confidence >= 0 && confidence <= 1).toBe(true);
    }
  });
});

function binsOf(pieces: readonly (readonly [startSeconds: number, endSeconds: number, bits: number])[]): Measurement[] {
  const emitted: Measurement[] = [];
  const observe = rateBins((bin) => emitted.push(bin));
  for (const [startSeconds, endSeconds, bits] of pieces) {
    observe({ kind: 'throughput', startSeconds, endSeconds, bits });
  }
  return emitted;
}

const tenths = (from: number, count: number, bits: number) =>
  Array.from({ length: count }, (_, i) => [from + i / 10, from + (i + 1) / 10, bits] as const);

/** Observations of a second each. */
const seconds = (from: number, ...bits: number[]) => bits.map((of, i) => [from + i, from + i + 1, of] as const);

/** Closes the open bin, so that it is emitted. */
const LATER = [1000, 1000.1, 1e5] as const;

test('a longer observation is one bin', () => {
  expect(binsOf(seconds(0, 1e6, 3e6))).toEqual([{ atSeconds: 0.5, seconds: 1, value: Math.log(1e6 + 1) }]);
  // A dead link has bins, too.
  expect(binsOf(seconds(0, 0, 0))).toEqual([{ atSeconds: 0.5, seconds: 1, value: 0 }]);
});

test('the end of a download does not count, so too short a download is no measurement', () => {
  const [bin] = binsOf([...tenths(0, 4, 1e5), [0.4, 0.5, 3e4], [0.5, 0.55, 0], LATER]);
  expect(bin!.seconds).toBeCloseTo(0.4);
  expect(bin!.value).toBeCloseTo(Math.log(1e6), 5);
  expect(binsOf([[0, 0.05, 1e5], [0.05, 0.3, 1e5], LATER])).toEqual([]);
});

test('a round trip between two segments does not close a bin, a longer pause does', () => {
  expect(binsOf([...tenths(0, 4, 1e5), ...tenths(0.44, 4, 1e5), LATER]).length).toBe(1);
  const [first, second] = binsOf([...tenths(0, 5, 1e5), ...tenths(2, 7, 2e5), LATER]);
  expect(first!.seconds).toBeCloseTo(0.3);
  expect(second!.atSeconds).toBeCloseTo(2.25);
});

test('ignores overlapping observations, and follows a clock that was set back', () => {
  const overlapping = binsOf([...seconds(5, 1e6), [5.2, 5.9, 9e6], ...seconds(6, 1e6)]);
  expect(overlapping.map(({ value }) => value)).toEqual([Math.log(1e6 + 1)]);
  const back = binsOf([...seconds(49, 1e6, 1e6), ...seconds(20, 1e6, 1e6)]);
  expect(back.map(({ atSeconds }) => atSeconds)).toEqual([49.5, 20.5]);
});
