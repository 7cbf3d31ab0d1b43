import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PlayerState } from '../../controller.ts';
import type { ExpectedHandover, HandoverDip, QuantileForecast } from '../../forecast.ts';
import { ConstantPath, PiecewisePath } from '../../mpc/capacity-path.ts';
import { between, forAll } from '../../property.fixture.ts';
import { quantilesOf } from '../../random-states.fixture.ts';
import { normalQuantile } from '../../statistics/distributions.ts';
import { LinkFutures } from './link-futures.ts';
import { CELLS, DRAWN_SECONDS, LinkPaths } from './link-paths.ts';

const SEED = { seed: 20260101 };
const UTC_MS = Date.UTC(2025, 0, 1);
const RATE_BPS = 20e6;
const LEVELS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/** Default: a constant link of `RATE_BPS`. */
const forecastOf = (changes: Parameters<typeof quantilesOf>[1] = {}) =>
  quantilesOf(RATE_BPS, { issuedAtMs: 0, stepEndsSeconds: [1, 15], ...changes });

/** Quantiles of a lognormal distribution. Default: mean 1. */
const lognormal = (levels: readonly number[], spread: number, median = Math.exp(-(spread ** 2) / 2)) =>
  levels.map((level) => median * Math.exp(spread * normalQuantile(level)));

type Reading = { count?: number; age?: number; utc?: { utcMs?: number } };
function read(forecast: QuantileForecast, { count = 24, age = 0, utc = { utcMs: UTC_MS } }: Reading = {}) {
  const state = { nowSeconds: forecast.issuedAtMs / 1000 + age, ...utc } as PlayerState;
  return new LinkFutures(count, 1).draw(state, forecast);
}

/** Capacity of each 0.1 s in one future, in bit/s. */
function ratesOf(link: LinkPaths, future: number): number[] {
  const bits = Array.from({ length: CELLS + 1 }, (_, cell) => link.bitsUntil(future, cell / 10));
  return bits.slice(1).map((until, cell) => 10 * (until - bits[cell]!));
}

const everyFuture = <T>(link: LinkPaths, of: (future: number) => T) =>
  Array.from({ length: link.count }, (_, future) => of(future));
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

const link = read(forecastOf());

test('a constant link delivers rate times time, as long as it is drawn', () => {
  for (const seconds of [0, 0.03, 0.1, 1, 1.234, 9.99, DRAWN_SECONDS]) {
    everyFuture(link, (f) => expect(link.bitsUntil(f, seconds) / RATE_BPS).toBeCloseTo(seconds, 9));
  }
  expect(link.bitsUntil(0, -1)).toBe(0);
  expect(link.bitsUntil(0, 60)).toBe(link.bitsUntil(0, DRAWN_SECONDS));
});

test('a constant link delivers each of a series of transfers when its bits have come, also after that time', () => {
  const anyTransfer = fc.record({ pause: between(0, 3), bits: between(1, 60e6) });
  const anyTransfers = fc.array(anyTransfer, { minLength: 1, maxLength: 12 });
  forAll([anyTransfers, fc.nat(link.count - 1)], SEED, (transfers, future) => {
    let at = 0;
    for (const { pause, bits } of transfers) {
      const arrival = link.arrivalSeconds(future, at + pause, bits);
      expect(arrival).toBeCloseTo(at + pause + bits / RATE_BPS, 6);
      at = arrival;
    }
  });
});

const fluctuation = { levels: LEVELS, ratios: lognormal(LEVELS, 0.3), correlation: 0.5 };

test('arrivals on a varying link invert the bits', () => {
  const varying = read(forecastOf({ fluctuation }));
  forAll([fc.nat(varying.count - 1), between(0, 8), between(1, 40e6)], SEED, (future, from, bits) => {
    const until = varying.arrivalSeconds(future, from, bits);
    fc.pre(until < DRAWN_SECONDS);
    expect((varying.bitsUntil(future, until) - varying.bitsUntil(future, from)) / bits).toBeCloseTo(1, 6);
  });
});

test('a varying link has ratios of mean 1 with the given quantiles', () => {
  const link = read(forecastOf({ fluctuation }), { count: 128 });
  const ratios = everyFuture(link, (f) => ratesOf(link, f))
    .flat()
    .map((rate) => rate / RATE_BPS);
  expect(Math.abs(mean(ratios) - 1)).toBeLessThan(0.01);
  fluctuation.ratios.forEach((ratio, i) => {
    const below = (value: number) => ratios.filter((one) => one < value).length / ratios.length;
    if (i > 0 && i < LEVELS.length - 1) expect(below(ratio)).toBeCloseTo(LEVELS[i]!, 1);
  });
  expect(Math.min(...ratios)).toBeCloseTo(fluctuation.ratios[0]!, 6);
  expect(Math.max(...ratios)).toBeCloseTo(fluctuation.ratios[LEVELS.length - 1]!, 6);
});

test.each([0, 0.5, 0.9])('a varying link correlates from one 0.1 s to the next: %p', (correlation) => {
  const link = read(forecastOf({ fluctuation: { ...fluctuation, correlation } }), { count: 32 });
  const logs = everyFuture(link, (f) => ratesOf(link, f).map((rate) => Math.log(rate / RATE_BPS)));
  const middle = mean(logs.flat());
  const products = logs.map((row) => mean(row.slice(1).map((log, i) => (log - middle) * (row[i]! - middle))));
  expect(mean(products) / deviation(logs.flat()) ** 2).toBeCloseTo(correlation, 1);
});

test("a varying link keeps the forecast's spread of the mean of a step", () => {
  const levels = [0.1, 0.5, 0.9];
  const spread = 0.2;
  // The fluctuation alone spreads the mean of 1 s by 0.16.
  const rows = [1, 2, 3].map(() => lognormal(levels, spread, RATE_BPS));
  const steps = { levels, stepEndsSeconds: [1, 2, 15], quantilesBps: rows, fluctuation };
  const link = read(forecastOf(steps), { count: 256 });
  for (const second of [0, 1]) {
    const logs = everyFuture(link, (f) => Math.log(link.bitsUntil(f, second + 1) - link.bitsUntil(f, second)));
    expect(deviation(logs) / spread).toBeGreaterThan(0.8);
    expect(deviation(logs) / spread).toBeLessThan(1.1);
  }
  // Without fluctuation the spread stays as it is.
  const quantilesBps = [lognormal(levels, spread, RATE_BPS)];
  const plain = read(forecastOf({ levels, stepEndsSeconds: [15], quantilesBps }), { count: 256 });
  const logs = everyFuture(plain, (f) => Math.log(plain.bitsUntil(f, 1)));
  expect(Math.abs(deviation(logs) / spread - 1)).toBeLessThan(0.05);
});

const collapse = { probability: 0, depth: 0.5, seconds: 1 };
const DIP: HandoverDip = { timingSeconds: 0, depth: 0.8, levels: [0.5], seconds: [0.25], collapse };
const at = (seconds: number, changes: Partial<HandoverDip> = {}, confidence = 1): ExpectedHandover => {
  return { atMs: UTC_MS + seconds * 1000, confidence, dip: { ...DIP, ...changes } };
};
const linkAt = (handovers: ExpectedHandover[], options: Reading = {}) => read(forecastOf({ handovers }), options);
/** Remaining share of the capacity of each 0.1 s, with `shares` from a cell on. */
const left = (from: number, ...shares: number[]) => Array.from({ length: CELLS }, (_, i) => shares[i - from] ?? 1);
const sharesOf = (link: LinkPaths, future: number) =>
  ratesOf(link, future).map((rate) => Math.round((rate / RATE_BPS) * 1e6) / 1e6);
const isLower = (link: LinkPaths) =>
  everyFuture(link, (f) => link.bitsUntil(f, DRAWN_SECONDS) < 0.999999 * DRAWN_SECONDS * RATE_BPS);

test('a handover lowers the cells of its dip, or what is left of it, in every future, and no others', () => {
  const [link, begun] = [linkAt([at(5)]), linkAt([at(-0.1)])];
  everyFuture(link, (f) => expect(sharesOf(link, f)).toEqual(left(50, 0.2, 0.2, 0.6)));
  everyFuture(begun, (f) => expect(sharesOf(begun, f)).toEqual(left(0, 0.2, 0.6)));
  expect(isLower(linkAt([at(-1)]))).not.toContain(true);
});

test.each([0, 0.25, 0.5, 1])('a handover comes in a share of the futures, its confidence %p', (confidence) => {
  const lower = isLower(linkAt([at(5, {}, confidence)], { count: 256 })).filter(Boolean).length / 512;
  if (confidence === 0 || confidence === 1) expect(lower).toBe(confidence);
  else expect(Math.abs(lower - confidence)).toBeLessThan(0.08);
});

test.each([0, 0.5, 1])('a handover collapses after the dip with probability %p', (probability) => {
  const link = linkAt([at(5, { collapse: { ...collapse, probability } })], { count: 256 });
  // The dip ends at 5.25 s.
  const collapsed = everyFuture(link, (f) => link.bitsUntil(f, 5.6) - link.bitsUntil(f, 5.5) < 0.09 * RATE_BPS);
  const share = collapsed.filter(Boolean).length / collapsed.length;
  if (probability === 0.5) expect(Math.abs(share - probability)).toBeLessThan(0.08);
  else expect(share).toBe(probability);
  const shares = left(50, 0.2, 0.2, 0.45, ...new Array<number>(9).fill(0.5), 0.75);
  if (probability === 1) everyFuture(link, (f) => expect(sharesOf(link, f)).toEqual(shares));
});

test('a handover has the given durations and spread of its begin', () => {
  const levels = [0.1, 0.5, 0.9];
  const lasting = linkAt([at(5, { levels, seconds: [0.2, 0.4, 0.8] })], { count: 128 });
  const seconds = everyFuture(lasting, (f) => sharesOf(lasting, f).reduce((sum, share) => sum + (1 - share) / 8, 0));
  expect(Math.min(...seconds)).toBeCloseTo(0.2, 4);
  expect(Math.max(...seconds)).toBeCloseTo(0.8, 4);
  expect(Math.abs(seconds.filter((one) => one < 0.4).length / seconds.length - 0.5)).toBeLessThan(0.08);
  const moving = linkAt([at(5, { timingSeconds: 0.5 })], { count: 128 });
  const begins = everyFuture(moving, (f) => sharesOf(moving, f).findIndex((share) => share < 1) / 10);
  expect(mean(begins)).toBeCloseTo(5 - 0.05, 1);
  expect(Math.abs(deviation(begins) / 0.5 - 1)).toBeLessThan(0.15);
});

test('a handover counts only with a dip, a time and a handover within that time', () => {
  expect(isLower(linkAt([{ atMs: UTC_MS + 5000, confidence: 1 }]))).not.toContain(true);
  for (const utc of [{}, { utcMs: Number.NaN }, { utcMs: UTC_MS + 3600e3 }]) {
    expect(isLower(linkAt([at(5)], { utc }))).not.toContain(true);
  }
  expect(isLower(linkAt([at(-15), at(15), at(5)]))).not.toContain(false);
});

test('a given path is sampled as it is; if it is dead for a while or for ever, bits arrive late', () => {
  const paths = [
    new PiecewisePath({ stepEndsSeconds: [0.35, 2, 7], ratesBps: [8e6, 1e6, 30e6] }),
    new ConstantPath(0),
    new PiecewisePath({ stepEndsSeconds: [5, 20], ratesBps: [0, 8e6] }),
  ];
  const link = new LinkPaths(1);
  for (const path of paths) {
    link.sample(path);
    // 1 kbit/s stand for a dead link.
    for (let cell = 1; cell <= CELLS; cell++) {
      expect(link.bitsUntil(0, cell / 10)).toBeCloseTo(Math.max(100 * cell, path.cumulativeBits(cell / 10)), 3);
    }
    for (const [i, from] of [0, 0, 3, 20].entries()) {
      const arrival = link.arrivalSeconds(0, from, 1e6 * (i % 2));
      expect(arrival).toBeGreaterThanOrEqual(from - 1e-9);
      expect(arrival).toBeLessThan(Number.POSITIVE_INFINITY);
    }
  }
  expect(link.arrivalSeconds(0, 0, 8e6)).toBeCloseTo(6, 6);
});

test('a forecast is used from its age on', () => {
  const steps = forecastOf({ stepEndsSeconds: [2, 4, 8], factors: [0.5, 2, 1] });
  const link = read(steps, { age: 1.5 });
  expect(link.bitsUntil(0, 0.5) / 10e6).toBeCloseTo(0.5, 6);
  expect((link.bitsUntil(0, 2.5) - link.bitsUntil(0, 0.5)) / 40e6).toBeCloseTo(2, 6);
  // The last step goes on.
  expect((link.bitsUntil(0, 10) - link.bitsUntil(0, 2.5)) / 20e6).toBeCloseTo(7.5, 6);
  expect(read(steps, { age: 14 }).bitsUntil(0, 1) / 20e6).toBeCloseTo(1, 6);
});

test('cells that rounding loses beside a huge one are waited out', () => {
  const link = new LinkPaths(1);
  link.bits.fill(1e300, 1);
  link.bits[CELLS] = 2e300;
  expect(link.arrivalSeconds(0, 0.25, 1)).toBeCloseTo(DRAWN_SECONDS - 0.1, 9);
});
