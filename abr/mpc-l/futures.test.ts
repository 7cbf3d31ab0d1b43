import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PlayerState } from '../controller.ts';
import type { QuantileForecast } from '../forecast.ts';
import { PiecewisePath } from '../mpc/capacity-path.ts';
import { between, forAll, whole } from '../property.fixture.ts';
import {
  downloadsOf,
  inFlightOf,
  quantilesOf,
  stateOf as runningState,
  runningSums,
} from '../random-states.fixture.ts';
import { binScores, CapacityRanks, Futures, rankTransitions, type TailWeight } from './futures.ts';
import { usableForecast } from './mpc-l.ts';

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

const MEAN_ONLY: TailWeight = { weight: 0, tail: 0.2 };
const bins = whole(2, 16);
const tail = fc.record({ weight: between(0, 1), tail: between(0.01, 1) });
const correlation = between(0, 0.99);

const rowOf = (all: Float64Array, size: number, from: number) => [...all.subarray(from * size, (from + 1) * size)];
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (row: readonly number[], values: ArrayLike<number>) => sum(row.map((p, to) => p * values[to]!));

test('bins have the normal scores in the middle of equal shares: ascending and symmetric', () => {
  const scores = binScores(4);
  // Quantiles at 1/8, 3/8, 5/8, 7/8.
  expect([...scores].map((score) => score.toFixed(4))).toEqual(['-1.1503', '-0.3186', '0.3186', '1.1503']);
});

test('rows are probabilities, whatever the tail weight', () => {
  forAll([bins, correlation, tail], { ...SEED, numRuns: 300 }, (size, rho, weights) => {
    const matrix = rankTransitions(size, rho, weights);
    expect(Math.min(...matrix)).toBeGreaterThanOrEqual(0);
    for (let from = 0; from < size; from++) expect(sum(rowOf(matrix, size, from))).toBeCloseTo(1, 12);
  });
});

test('more correlation keeps a rank more often; without it all ranks are equally likely', () => {
  const size = 8;
  let before = rankTransitions(size, 0, MEAN_ONLY);
  for (const p of before) expect(p).toBeCloseTo(1 / 8, 6);
  for (const rho of [0.2, 0.5, 0.7, 0.8, 0.9, 0.99]) {
    const matrix = rankTransitions(size, rho, MEAN_ONLY);
    for (const rank of [0, size - 1]) {
      expect(matrix[rank * size + rank]!).toBeGreaterThan(before[rank * size + rank]!);
    }
    before = matrix;
  }
  for (let from = 0; from < size; from++) expect(before[from * size + from]!).toBeGreaterThan(0.7);
});

test('up is as likely from a rank as down from its mirror, and a higher rank leads to higher ones', () => {
  forAll([bins, correlation], { ...SEED, numRuns: 200 }, (size, rho) => {
    const matrix = rankTransitions(size, rho, MEAN_ONLY);
    for (let from = 0; from < size; from++) {
      const row = rowOf(matrix, size, from);
      const mirror = rowOf(matrix, size, size - 1 - from).reverse();
      expect(Math.max(...row.map((p, to) => Math.abs(p - mirror[to]!)))).toBeLessThan(1e-6);
      if (from === 0) continue;
      // First-order stochastic dominance.
      const lower = runningSums(rowOf(matrix, size, from - 1));
      expect(Math.max(...runningSums(row).map((share, to) => share - lower[to]!))).toBeLessThan(1e-12);
    }
  });
});

test('a tail weight is the mixture of mean and conditional value at risk of what grows with the rank', () => {
  const growth = fc.array(between(0, 10), { minLength: 8, maxLength: 8 });
  forAll([growth, correlation, tail, fc.nat(7)], { ...SEED, numRuns: 300 }, (steps, rho, weights, from) => {
    const outcomes = runningSums([-20, ...steps]).slice(1);
    const plain = rowOf(rankTransitions(8, rho, MEAN_ONLY), 8, from);
    // The mean of the worst `tail` share, taken outcome by outcome.
    let left = weights.tail;
    let tailSum = 0;
    for (const [to, outcome] of outcomes.entries()) {
      const taken = Math.min(left, plain[to]!);
      left -= taken;
      tailSum += taken * outcome;
    }
    const expected = (1 - weights.weight) * mean(plain, outcomes) + (weights.weight * tailSum) / weights.tail;
    expect(mean(rowOf(rankTransitions(8, rho, weights), 8, from), outcomes)).toBeCloseTo(expected, 8);
  });
});

const isPlausible = (...of: Parameters<typeof usableForecast>) => usableForecast(...of) !== undefined;
const LADDER_BPS = [3e6, 8e6, 15e6, 30e6, 60e6, 120e6];

/** Downloads of 4 s of 8 Mbit/s at these rates, oldest first. */
function stateOf(ratesMbps: readonly number[]): PlayerState {
  const downloads = downloadsOf(ratesMbps.length, 8e6, 32e6, 4).map((one, i) => {
    const mbps = ratesMbps[i]!;
    const outcome = mbps === 0 ? { receivedBits: 0, abandoned: true } : { downloadSeconds: 32 / mbps + 0.05 };
    return { ...one, latencySeconds: 0.05, ...outcome };
  });
  return runningState(LADDER_BPS, { downloads });
}

const expects = (medianMbps: number) =>
  quantilesOf(1e6 * medianMbps, { stepEndsSeconds: [2, 8, 48], shares: [0.6, 1, 1.5] });

/** A download of 480 Mbit, whose first bit came after half of the time. */
const inFlight = (receivedBits: number, seconds = 2) => ({
  ...inFlightOf(stateOf([]), 5, receivedBits / 480e6, seconds),
  ...(receivedBits > 0 && { firstByteAtSeconds: 100 - seconds / 2 }),
});

test.each<[string, number[], number, boolean]>([
  ['as measured', [20, 25, 18, 22, 20], 20, true],
  ['three times as fast as ever', [20, 25, 18, 22, 20], 75, true],
  ['three times as slow', [20, 25, 18, 22, 20], 7, true],
  ['in other units', [20, 25, 18, 22, 20], 20e3, false],
  ['bytes for bits', [20, 25, 18, 22, 20], 20 / 8, false],
  ['nothing, while everything came', [20, 25, 18, 22, 20], 1e-9, false],
  ['an outage that the last download saw', [20, 25, 18, 22, 0], 0.1, true],
  ['the end of an outage', [60, 70, 2, 0, 1], 60, true],
  ['more than any representation needs, on a link that has it', [300, 500, 400], 40e3, true],
  ['less than was measured, but enough to matter little', [3000, 5000], 150, true],
])('%s: measured %p, expected %p: %p', (_, measured, expected, plausible) => {
  expect(isPlausible(expects(expected), stateOf(measured))).toBe(plausible);
});

test('before a measurement, rejects only impossible links', () => {
  for (const mbps of [0.01, 1, 100, 10e3]) expect(isPlausible(expects(mbps), stateOf([]))).toBe(true);
  for (const mbps of [1e-9, 1e-4, 1e6]) expect(isPlausible(expects(mbps), stateOf([]))).toBe(false);
});

test('a running download is evidence after a second', () => {
  const fast = stateOf([100, 100]);
  expect(isPlausible(expects(0.1), fast)).toBe(false);
  expect(isPlausible(expects(0.1), fast, inFlight(0))).toBe(true);
  expect(isPlausible(expects(0.1), fast, inFlight(0, 0.5))).toBe(false);
  expect(isPlausible(expects(900), stateOf([]), inFlight(10e6))).toBe(false);
  expect(isPlausible(expects(600), stateOf([20]), inFlight(200e6))).toBe(true);
});
