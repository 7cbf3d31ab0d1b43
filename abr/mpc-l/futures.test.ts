import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { QuantileForecast } from '../forecast.ts';
import { PiecewisePath } from '../mpc/capacity-path.ts';
import { between, forAll } from '../property.fixture.ts';
import { quantilesOf } from '../random-states.fixture.ts';
import { CapacityRanks } from './capacity-ranks.ts';
import { Futures } from './futures.ts';

const SEED = { seed: 20260101 };
const COUNT = 24;
const BINS = 8;
/** The time of these bits shows a rate, and stays within a step. */
const FEW_BITS = 1;

const STEPS = { stepEndsSeconds: [1, 2, 4, 8], factors: [20, 30, 10, 40], rankCorrelation: 0.8 };
const QUANTILES = { levels: [0.1, 0.25, 0.5, 0.75, 0.9], shares: [0.4, 0.7, 1, 1.3, 1.8] };
/** Medians of 20, 30, 10 and 40 Mbit/s. */
const forecastOf = (changes: Partial<QuantileForecast> = {}) =>
  quantilesOf(1e6, { issuedAtMs: 0, ...STEPS, ...QUANTILES, ...changes });

function read(forecast: QuantileForecast, { age = 0, count = COUNT, seed = 1 } = {}) {
  const futures = new Futures(count, seed);
  futures.draw(forecast, age);
  return futures;
}

const rateAt = (futures: Futures, future: number, seconds: number) =>
  FEW_BITS / futures.transferSeconds(future, seconds, FEW_BITS);
const ratesAt = (futures: Futures, seconds: number) =>
  Array.from({ length: futures.count }, (_, future) => rateAt(futures, future, seconds));
const ranksOf = (bins = BINS) => new CapacityRanks(bins, { weight: 0, tail: 1 });
const marginalAt = (futures: Futures, seconds: number, bins = BINS) => {
  const first = futures.steps.stepAt(seconds) * bins;
  const capacities = ranksOf(bins).capacityBps(futures.steps);
  return [...capacities.subarray(first, first + bins)];
};
const ascending = (values: readonly number[]) => [...values].sort((a, b) => a - b);

function correlationOf(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  const moment = (x: readonly number[], mx: number, y: readonly number[], my: number) =>
    mean(x.map((value, i) => (value - mx) * (y[i]! - my)));
  return moment(a, meanA, b, meanB) / Math.sqrt(moment(a, meanA, a, meanA) * moment(b, meanB, b, meanB));
}

test("marginal rates are the forecast's at the middle of each rank; their logarithm is linear in the score", () => {
  const levels = [0.125, 0.375, 0.625, 0.875];
  const quantilesBps = [[1e6, 3e6, 9e6, 81e6]];
  const futures = read(forecastOf({ stepEndsSeconds: [4], levels, quantilesBps }));
  marginalAt(futures, 0, 4).forEach((rate, bin) => {
    expect(rate / quantilesBps[0]![bin]!).toBeCloseTo(1, 9);
  });
  // Score 0 is halfway between the scores of 0.375 and 0.625: the geometric mean.
  expect(marginalAt(futures, 0, 5)[2]! / Math.sqrt(27e12)).toBeCloseTo(1, 9);
});

test('bins hold equal numbers of futures, and rates ascend with them', () => {
  const anyMoment = fc.constantFrom(0, 1.5, 3, 20);
  forAll([anyMoment, between(0, 1), fc.nat(100)], { ...SEED, numRuns: 200 }, (seconds, rankCorrelation, seed) => {
    const futures = read(forecastOf({ rankCorrelation }), { seed });
    const perBin = Array.from({ length: BINS }, () => [] as number[]);
    for (let future = 0; future < COUNT; future++) {
      perBin[futures.binAt(future, seconds, BINS)]!.push(rateAt(futures, future, seconds));
    }
    expect(perBin.map((rates) => rates.length)).toEqual(new Array(BINS).fill(COUNT / BINS));
    expect(perBin.flatMap(ascending)).toEqual(ascending(ratesAt(futures, seconds)));
    const marginal = marginalAt(futures, seconds);
    perBin.forEach((rates, bin) => {
      // The second of three futures is in the bin's middle.
      expect(ascending(rates)[1]! / marginal[bin]!).toBeCloseTo(1, 6);
    });
  });
});

test.each([0, 0.5, 0.7, 0.8, 0.9])('scores are correlated by %p from step to step and fade with distance', (rho) => {
  // The levels are one standard deviation from the middle, so ln of the rate is the score.
  const steps = 8;
  const forecast = forecastOf({
    stepEndsSeconds: Array.from({ length: steps }, (_, i) => i + 1),
    levels: [0.15865525393, 0.84134474607],
    quantilesBps: Array.from({ length: steps }, () => [1e6 / Math.E, 1e6 * Math.E]),
    rankCorrelation: rho,
  });
  for (const count of [24, 96]) {
    for (const seed of [1, 2, 3]) {
      const futures = read(forecast, { count, seed });
      const scores = Array.from({ length: steps }, (_, step) => ratesAt(futures, step).map((rate) => Math.log(rate)));
      for (let step = 0; step < steps; step++) {
        const spread = scores[step]!.reduce((sum, score) => sum + (score - Math.log(1e6)) ** 2, 0) / count;
        expect(Math.abs(spread - 1)).toBeLessThan(0.1);
        for (const distance of [1, 2, 4]) {
          if (step + distance >= steps) continue;
          const found = correlationOf(scores[step]!, scores[step + distance]!);
          expect(Math.abs(found - rho ** distance)).toBeLessThan(count === 24 ? 0.15 : 0.06);
        }
      }
    }
  }
});

test('the correlation between two moments is that of the steps between them, at least one', () => {
  const { steps } = read(forecastOf({ rankCorrelation: 0.8 }), { age: 0.5 });
  expect(steps.correlationBetween(0, 0.2)).toBeCloseTo(0.8, 12);
  expect(steps.correlationBetween(0, 1)).toBeCloseTo(0.8, 12);
  expect(steps.correlationBetween(0, 3)).toBeCloseTo(0.64, 12);
  expect(steps.correlationBetween(10, 14)).toBeCloseTo(0.8, 12);
  expect(read(forecastOf({ rankCorrelation: 1 })).steps.correlationBetween(0, 1)).toBe(0.99);
});

test('futures have a floor for dead links, and stay finite and above 0', () => {
  const bps = fc.oneof(fc.constant(0), between(0, 1e12));
  const row = fc.array(bps, { minLength: 5, maxLength: 5 }).map(ascending);
  forAll([fc.array(row, { minLength: 4, maxLength: 4 })], { ...SEED, numRuns: 200 }, (quantilesBps) => {
    const futures = read({ ...forecastOf(), quantilesBps });
    for (const seconds of [0, 1, 2, 4, 100]) {
      const marginal = marginalAt(futures, seconds);
      expect(marginal).toEqual(ascending(marginal));
      const takes = Array.from({ length: COUNT }, (_, f) => futures.transferSeconds(f, seconds, 1e6));
      expect(takes.filter((one) => !(one >= 0 && one <= 1e6 + 8))).toEqual([]);
    }
  });
});

test('more than 16 steps, one quantile level, almost equal levels', () => {
  const many = Array.from({ length: 40 }, (_, i) => i + 1);
  const long = read(forecastOf({ stepEndsSeconds: many, quantilesBps: many.map((i) => [1, 2, 3, 4, 5 + i]) }));
  ratesAt(long, 39).forEach((rate, future) => {
    expect(rate / rateAt(long, future, 15)).toBeCloseTo(1, 9);
  });
  const point = read(forecastOf({ levels: [0.5], quantilesBps: [[1e6], [2e6], [3e6], [4e6]] }));
  expect(new Set(ratesAt(point, 0).map((rate) => Math.round(rate)))).toEqual(new Set([1e6]));
  const near = [0.97575, 0.97575 + 1e-15, 0.97575 + 2e-15];
  const close = read(forecastOf({ levels: near, quantilesBps: [1, 1, 1, 1].map(() => [1e6, 1e6, 2e6]) }));
  for (const rate of ratesAt(close, 0)) expect(rate).toBeGreaterThan(0);
});

const stepEndsSeconds = [1, 3, 4, 6];
const ratesBps = [8e6, 2e6, 0.5e6, 4e6];
const futures = read(forecastOf({ stepEndsSeconds, levels: [0.5], quantilesBps: ratesBps.map((bps) => [bps]) }));
/** As the futures, whose last rate goes on. */
const path = new PiecewisePath({ stepEndsSeconds: [1, 3, 4, 1000], ratesBps });

test('transferSeconds is the inverse of the cumulative bits, from any moment', () => {
  const moment = between(0, 20);
  forAll([moment, between(0, 6e7)], { ...SEED, numRuns: 500 }, (from, bits) => {
    const until = from + futures.transferSeconds(5, from, bits);
    expect(path.cumulativeBits(until) - path.cumulativeBits(from)).toBeCloseTo(bits, 4);
  });
});

test('transferSeconds: age moves the moment', () => {
  for (const age of [0.5, 2, 3.7, 100]) {
    const forecast = forecastOf({ stepEndsSeconds });
    const [older, now] = [read(forecast, { age }), read(forecast)];
    for (const future of [0, 11, 23]) {
      for (const seconds of [0, 0.6, 5]) {
        const expected = now.transferSeconds(future, age + seconds, 3e7);
        expect(older.transferSeconds(future, seconds, 3e7)).toBeCloseTo(expected, 9);
        expect(older.binAt(future, seconds, BINS)).toBe(now.binAt(future, age + seconds, BINS));
      }
    }
    expect(marginalAt(older, 1)).toEqual(marginalAt(now, age + 1));
  }
  // Ranks follow the futures' forecast.
  const moving = read(forecastOf());
  const ranks = ranksOf();
  const before = [...ranks.capacityBps(moving.steps)];
  moving.draw(quantilesOf(1e6), 0);
  expect([...ranks.capacityBps(moving.steps)]).not.toEqual(before);
  // The session's clock is behind the forecaster's clock.
  expect(ratesAt(read(forecastOf(), { age: -0.5 }), 0)).toEqual(ratesAt(read(forecastOf()), 0));
});
