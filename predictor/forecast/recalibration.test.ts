import { expect, test } from '@jest/globals';
import { normalQuantile } from '../../abr/statistics/normal-distribution.ts';
import { type Recalibration, recalibration } from './recalibration.ts';

const LEVELS = [0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97];
const STEPS = [1, 2, 4, 8];
const SCORES = LEVELS.map(normalQuantile);
/** The values of all steps. */
const valuesOf = (value: (score: number, step: number) => number) =>
  Float64Array.from(STEPS.flatMap((_, step) => SCORES.map((score) => value(score, step))));
const fresh = () => recalibration({ stepEndsSeconds: STEPS, levels: LEVELS });
/** Weyl's sequence, which is distributed evenly over the ranks. */
const scoreAt = (n: number) => normalQuantile(((n * 0.618033988749895) % 1) * 0.998 + 0.001);

/** A session with a forecast and a rate in each second, and its last forecast as recalibrated. */
function trained(seconds: number, valuesAt: (second: number) => Float64Array, logRateAt: (second: number) => number) {
  const one = fresh();
  let values = new Float64Array(0);
  for (let second = 0; second < seconds; second++) {
    values = new Float64Array(valuesAt(second));
    one.apply(second, 1e6, values);
    one.observe(second, second + 1, 1e6 * Math.exp(logRateAt(second)));
  }
  return { one, values };
}

/** A rate that is constant for 8 s, so that all steps have similar errors. */
const slow = (second: number) => scoreAt(Math.floor(second / 8));
/** Forecasts with a spread for `seconds`, on a link whose ln rate varies by `actual` around the forecasts' median. */
function afterSession(seconds: number, { forecast, actual }: { forecast: number; actual: number }): Recalibration {
  const valuesAt = () => valuesOf((score) => forecast * score);
  return trained(seconds, valuesAt, (second) => actual * slow(second)).one;
}

/** The mean factor of the spread over the steps. */
function scaleOf(one: Recalibration): number {
  const values = valuesOf((score) => score);
  one.apply(1e4, 1e6, values);
  return STEPS.reduce((sum, _, step) => sum + values[step * LEVELS.length]! / SCORES[0]!, 0) / STEPS.length;
}

test('keeps the spread at first, and while the link is not in use', () => {
  const one = fresh();
  for (let second = 0; second < 300; second++) {
    const values = valuesOf((score) => score);
    one.apply(second, 1e6, values);
    expect(values).toEqual(valuesOf((score) => score));
  }
});

test('keeps a correct spread, widens narrow forecasts and narrows wide forecasts, within limits', () => {
  expect(Math.abs(scaleOf(afterSession(600, { forecast: 0.5, actual: 0.5 })) - 1)).toBeLessThan(0.1);
  expect(scaleOf(afterSession(600, { forecast: 0.5, actual: 0.6 }))).toBeGreaterThan(1.08);
  expect(scaleOf(afterSession(600, { forecast: 0.1, actual: 2 }))).toBeCloseTo(1.5, 9);
  expect(scaleOf(afterSession(600, { forecast: 0.5, actual: 0.42 }))).toBeLessThan(0.92);
  expect(scaleOf(afterSession(600, { forecast: 2, actual: 0.05 }))).toBeCloseTo(0.6, 9);
});

test('reads a score between the quantiles of a skewed forecast', () => {
  const skewed = () => valuesOf((score) => (score < 0 ? 0.5 : 1) * score);
  const { one } = trained(600, skewed, () => SCORES[5]!);
  // The rate is the 0.9 quantile each time: its score is 1.28, where the prior has 1.
  expect(scaleOf(one)).toBeGreaterThan(1.2);
  expect(scaleOf(one)).toBeLessThan(SCORES[5]!);
});

test('scales each step by its own errors', () => {
  // Rates of seconds vary by 0.2 and of 8 s by 0.8; forecasts expect 0.4 for all steps. The first step's median follows
  // the part that lasts 8 s.
  const forecastAt = (at: number) => valuesOf((score, step) => (step === 0 ? 0.8 * slow(at + 0.5) : 0) + 0.4 * score);
  const { values } = trained(600, forecastAt, (second) => 0.8 * slow(second) + 0.2 * scoreAt(second));
  const widths = STEPS.map((_, step) => values[(step + 1) * LEVELS.length - 1]! - values[step * LEVELS.length]!);
  const asked = 0.4 * (SCORES[6]! - SCORES[0]!);
  expect(widths[0]! / asked).toBeLessThan(0.85);
  expect(widths[3]! / asked).toBeGreaterThan(1.15);
});

test('keeps the median and the order', () => {
  const one = afterSession(300, { forecast: 0.1, actual: 2 });
  const values = valuesOf((score, step) => STEPS[step]! + score);
  one.apply(300, 1e6, values);
  STEPS.forEach((end, step) => {
    const row = values.subarray(step * LEVELS.length, (step + 1) * LEVELS.length);
    expect(row[3]).toBeCloseTo(end, 12);
    expect(row[6]! - row[3]!).toBeCloseTo(1.5 * SCORES[6]!, 9);
    expect([...row]).toEqual([...row].sort((a, b) => a - b));
  });
});
