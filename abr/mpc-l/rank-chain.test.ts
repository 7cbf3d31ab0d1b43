import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll, whole } from '../property.fixture.ts';
import { runningSums } from '../random-states.fixture.ts';
import { binScores, rankTransitions, type TailWeight } from './rank-chain.ts';

const SEED = { seed: 20260101 };
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
