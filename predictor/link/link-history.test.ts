import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll, whole } from '../../abr/property.fixture.ts';
import { anyObservation, anySession } from '../../abr/random-observations.fixture.ts';
import { FEATURES } from './features.ts';
import { throughput } from './handover-clock/links.fixture.ts';
import { LinkHistory } from './link-history.ts';

const index = (name: string) => FEATURES.findIndex((feature) => feature.name === name);

/** A history of pieces of a tenth of a second. */
function historyOf(seconds: number, rateAt: (second: number) => number): LinkHistory {
  const history = new LinkHistory();
  for (let n = 0; n < seconds * 10; n++) history.observe(throughput(n / 10, (n + 1) / 10, rateAt(n / 10)));
  return history;
}

/** Undefined without observations. */
function featuresOf(history: LinkHistory, nowSeconds: number): Float64Array | undefined {
  const features = new Float64Array(FEATURES.length);
  return history.writeFeatures(nowSeconds, features) ? features : undefined;
}

/** All features except this one are close. */
function expectClose(actual: Float64Array | undefined, expected: typeof actual, digits: number, except?: string): void {
  FEATURES.forEach(({ name }, i) => {
    if (name !== except) expect(actual![i]).toBeCloseTo(expected![i]!, digits);
  });
}

test('has no features before the first bits', () => {
  const history = new LinkHistory();
  for (const nowSeconds of [0, 3]) {
    expect([history.referenceBps(), featuresOf(history, nowSeconds)]).toEqual([undefined, undefined]);
    history.observe(throughput(0, 3, 0));
  }
});

test('a constant link is its own reference, has no spread, and no observation of an earlier time counts', () => {
  const history = historyOf(60, () => 5e6);
  expect(history.observe(throughput(5, 6, 9e9))).toBe(false);
  expect(history.referenceBps()).toBeCloseTo(5e6, 3);
  expectClose(featuresOf(history, 60), new Float64Array(FEATURES.length), 6, 'observed');
});

test('sees extremes and spread of its windows only', () => {
  // The link varies from 20 to 44 s, and is steady in the last 16 s.
  const history = historyOf(60, (second) => (second < 20 || second >= 44 ? 6e6 : second % 2 < 1 ? 3e6 : 9e6));
  const features = featuresOf(history, 60)!;
  const reference = history.referenceBps()!;
  const of = (name: string) => features[index(name)]!;
  expect(of('spread-15s')).toBeCloseTo(0, 6);
  expect(of('spread-90s')).toBeGreaterThan(0.2);
  expect(of('lowest-10s')).toBeCloseTo(Math.min(0, Math.log(6e6 / reference)), 6);
  expect(of('lowest-40s')).toBeCloseTo(Math.log(3e6 / reference), 6);
  expect(of('highest-40s')).toBeCloseTo(Math.log(9e6 / reference), 6);
});

test('sees an outage grow', () => {
  const history = historyOf(20, (second) => (second < 18 ? 8e6 : 0));
  const features = featuresOf(history, 21)!;
  expect(features[index('silence')]).toBeCloseTo(2 / 3, 6);
  expect(features[index('unseen')]).toBeCloseTo(1 / 4, 6);
  expect(features[index('level-0.4s')]).toBeCloseTo(Math.log(0.01), 6);
});

test('does not depend on the lengths of observations', () => {
  const rates = [4e6, 9e6, 1e6, 6e6, 3e6, 8e6];
  const cutIn = (pieces: number) => {
    const history = new LinkHistory();
    for (let n = 0; n < 6 * pieces; n++) {
      history.observe(throughput(n / pieces, (n + 1) / pieces, rates[Math.floor(n / pieces)]!));
    }
    return featuresOf(history, 6);
  };
  expectClose(cutIn(8), cutIn(1), 9);
});

test('is scale-free', () => {
  const anyRates = fc.array(between(1e3, 1e9), { minLength: 1, maxLength: 200 });
  forAll([anyRates, whole(-8, 8)], { seed: 1, numRuns: 100 }, (rates, power) => {
    const scale = 2 ** power;
    const now = rates.length / 10;
    const plain = historyOf(now, (second) => rates[Math.round(second * 10)]!);
    const scaled = historyOf(now, (second) => scale * rates[Math.round(second * 10)]!);
    expect(scaled.referenceBps()! / plain.referenceBps()!).toBeCloseTo(scale, 9);
    expectClose(featuresOf(scaled, now), featuresOf(plain, now), 9);
  });
});

test('ignores impossible observations, and stays finite for all others', () => {
  let hits = 0;
  forAll([anySession, fc.array(anyObservation), between(0, 1e9)], { seed: 2, numRuns: 500 }, (link, others, now) => {
    const history = new LinkHistory();
    const isFiniteAt = (second: number) => {
      const features = featuresOf(history, second);
      if (features) hits++;
      expect(features?.every(Number.isFinite)).not.toBe(false);
    };
    for (const piece of link) {
      history.observe(piece);
      isFiniteAt(piece.endSeconds);
    }
    for (const one of others) {
      const isPossible = one.kind === 'throughput' && one.endSeconds > one.startSeconds && one.bits >= 0;
      const used = history.observe(one);
      if (!isPossible) expect(used).toBe(false);
    }
    isFiniteAt(now);
  });
  expect(hits).toBeGreaterThan(2500);
});

test('begins anew 4 s after a change to another link, up or down', () => {
  for (const after of [10e6, 50e6]) {
    const before = 60e6 - after;
    const history = historyOf(34.1, (second) => (second < 30 ? before : after));
    expect(history.downloadedSeconds).toBeLessThan(5);
    expect(history.referenceBps()).toBeCloseTo(after, 0);
    const alone = historyOf(4, () => after);
    expectClose(featuresOf(history, 34.1), featuresOf(alone, 4), 6, 'observed');
  }
});

test.each<[string, (second: number) => number]>([
  ['a shorter change', (second) => (second >= 30 && second < 33 ? 1e6 : 50e6)],
  ['rates that were there before', (second) => (second % 20 < 10 ? 10e6 : 50e6)],
  ['a change of less than half', (second) => (second < 30 ? 50e6 : 26e6)],
  ['a change in the first epoch', (second) => (second < 15 ? 50e6 : 10e6)],
])('keeps its past after %s', (_, rateAt) => {
  expect(historyOf(60, rateAt).downloadedSeconds).toBeCloseTo(60, 6);
});
