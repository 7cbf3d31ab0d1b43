import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../../abr/errors.ts';
import type { Forecast, Forecaster, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { between, forAll } from '../../abr/property.fixture.ts';
import { anyObservation, anySession, quantilesOf } from '../../abr/random-states.fixture.ts';
import { normalQuantile } from '../../abr/statistics/distributions.ts';
import { validForecast } from '../../abr/valid-forecast.ts';
import { leoLink, throughput } from '../link/handover-clock/links.fixture.ts';
import { SubSecond } from '../link/sub-second.ts';
import { type BuiltInForecasterOptions, createBuiltInForecaster } from './built-in-forecaster.ts';
import { ForecastChain } from './chain.ts';
import { parseModel } from './model-file.ts';
import { evaluateNetwork, type Recalibration, recalibration } from './quantile-forecaster.ts';
import { SHIPPED_FILE } from './shipped-file.fixture.ts';
import { withValue } from './with-value.fixture.ts';

const UTC_MS = Date.UTC(2025, 0, 1, 12, 0, 5);

function started(context: Partial<SessionContext> = {}, options: BuiltInForecasterOptions = {}) {
  const forecaster = createBuiltInForecaster(options);
  forecaster.start({ seed: 1, ...context });
  return forecaster;
}

/** A forecaster after some seconds of observations of a link, in pieces of 0.1 s, with a forecast every 0.5 s. */
function watching(seconds: number, rateAt: (second: number) => number, options: BuiltInForecasterOptions = {}) {
  const forecaster = started({ utcMsAtStart: UTC_MS, utcUncertaintySeconds: 0.2 }, options);
  for (let n = 0; n < seconds * 10; n++) {
    forecaster.observe(throughput(n / 10, (n + 1) / 10, rateAt(n / 10)));
    if (n % 5 === 0) forecaster.latest((n + 1) / 10);
  }
  return forecaster;
}

const latestOf = (forecaster: ReturnType<typeof started>, now: number) => forecaster.latest(now) as QuantileForecast;
const forecastAfter = (seconds: number, rateAt: (second: number) => number) =>
  latestOf(watching(seconds, rateAt), seconds);
const median = (forecast: QuantileForecast, step: number) => forecast.quantilesBps[step]![3]!;
/** Half or twice this rate at most. */
const expectNear = (forecast: QuantileForecast, bps: number) =>
  expect(Math.abs(Math.log2(median(forecast, 0) / bps))).toBeLessThan(1);

test('has no forecast before the first bits, and one after the first piece', () => {
  const forecaster = started({}, { subSecond: false });
  expect(forecaster.latest(0)).toBeUndefined();
  forecaster.observe(throughput(0.04, 0.14, 20e6));
  const forecast = latestOf(forecaster, 0.2);
  expect(() => validForecast(forecast)).not.toThrow();
  expect([forecast.issuedAtMs, forecast.source]).toEqual([200, 'built-in']);
  expect(forecast).not.toHaveProperty('fluctuation');
  expectNear(forecast, 20e6);
  for (const now of [-1, Number.NaN, Number.POSITIVE_INFINITY]) expect(forecaster.latest(now)).toBeUndefined();
});

test('knows what the page has loaded, as a second of download at most', () => {
  const knowing = (bits: number, seconds: number) => latestOf(started({ pageLoad: { bits, seconds } }), 0);
  const forecast = knowing(20e6, 1);
  expectNear(forecast, 20e6);
  expect(knowing(200e6, 10)).toEqual(forecast);
  expect(knowing(10e6, 0.5)).not.toEqual(forecast);
  expect(knowing(Number.NaN, 1)).toBeUndefined();
});

test('expects the same rate of a steady link, with increasing certainty', () => {
  const rate = 50e6;
  const early = forecastAfter(4, () => rate);
  const late = forecastAfter(120, () => rate);
  for (const forecast of [early, late]) {
    forecast.stepEndsSeconds.forEach((_, step) => {
      expect(Math.abs(median(forecast, step) / rate - 1)).toBeLessThan(0.15);
    });
  }
  const width = (forecast: QuantileForecast) => Math.log(forecast.quantilesBps[3]![6]! / forecast.quantilesBps[3]![0]!);
  expect(width(late)).toBeLessThan(width(early));
});

test('expects less after a drop, and a later recovery from an outage', () => {
  const fallen = forecastAfter(40, (second) => (second < 37 ? 80e6 : 20e6));
  expect(median(fallen, 0)).toBeLessThan(45e6);
  const dead = forecastAfter(40, (second) => (second < 38 ? 80e6 : 0));
  expect(median(dead, 0)).toBeLessThan(15e6);
  const last = dead.stepEndsSeconds.length - 1;
  expect(median(dead, last)).toBeGreaterThan(5 * median(dead, 0));
});

test('reuses a forecast for 0.2 s', () => {
  const forecaster = watching(10, () => 1e7);
  const forecast = forecaster.latest(20);
  expect(forecaster.latest(20.19)).toBe(forecast);
  expect(forecaster.latest(20.21)).not.toBe(forecast);
  // A forecast from the future is not reused.
  expect((forecaster.latest(20) as QuantileForecast).issuedAtMs).toBe(20_000);
});

test('a new session does not depend on the previous one', () => {
  const used = watching(60, (second) => 1e7 * (1 + Math.sin(second)));
  used.start({ seed: 1 });
  expect(used.latest(0)).toBeUndefined();
  const fresh = started();
  for (const forecaster of [used, fresh]) forecaster.observe(throughput(0, 1, 3e6));
  expect(used.latest(1)).toEqual(fresh.latest(1));
  expect(fresh.latest(1)).toMatchObject({ fluctuation: new SubSecond().fluctuation() });
});

test('announces handovers in UTC once the link has shown them, by a better time if it gets one', () => {
  // Handovers at 7 s plus multiples of 15 s (:12, :27, :42, :57).
  const rateAt = leoLink({ seed: 1, boundary: 7 });
  const leo = watching(200, rateAt, { subSecond: false });
  const { handovers } = latestOf(leo, 200.3);
  expect(handovers.length).toBeGreaterThan(0);
  const off = (((handovers[0]!.atMs / 1000) % 15) + 15) % 15;
  expect(Math.abs(off - 12)).toBeLessThan(1.5);
  const withDips = watching(200, rateAt);
  const dip = expect.objectContaining({ depth: 0.8 });
  expect(latestOf(withDips, 200.3).handovers[0]).toEqual({ ...handovers[0], dip });
  const without = watching(200, rateAt, { handover: false });
  expect(without.handoverClock).toBeUndefined();
  expect(latestOf(without, 200.3).handovers).toEqual([]);
  // Handovers are not needed yet.
  let isNeeded = false;
  const asked = watching(200, rateAt, { needsHandovers: () => isNeeded });
  const { handovers: none, ...same } = latestOf(asked, 200.3);
  expect({ ...same, handovers }).toEqual(latestOf(leo, 200.3));
  expect([none, asked.handoverClock]).toEqual([[], undefined]);
  isNeeded = true;
  asked.observe(throughput(200, 201, 1e6));
  const { handoverClock } = asked;
  expect(handoverClock).toBeDefined();
  asked.start({ seed: 1 });
  expect([undefined, handoverClock]).not.toContain(asked.handoverClock);
  expect(asked.handoverClock!.estimate(0)!.uncertaintySeconds).toBeGreaterThan(3);
  asked.tellTime(0, UTC_MS, 0.05);
  expect(asked.handoverClock!.estimate(0)!.uncertaintySeconds).toBeLessThan(3);
});

test('law: forecasts are valid for any observations', () => {
  const others = fc.array(fc.tuple(anyObservation, fc.oneof(between(0, 60), between(0, 1e9))), { maxLength: 40 });
  let hits = 0;
  forAll([anySession, others], { seed: 6, numRuns: 500 }, (session, others) => {
    const forecaster = started({ utcMsAtStart: UTC_MS });
    for (const [told, now] of [...session.map((piece) => [piece, piece.endSeconds] as const), ...others]) {
      forecaster.observe(told);
      const forecast = forecaster.latest(now);
      if (forecast === undefined) continue;
      hits++;
      expect(() => validForecast(forecast)).not.toThrow();
    }
  });
  expect(hits).toBeGreaterThan(2000);
});

const HANDOVERS = [{ atMs: 12_000, confidence: 0.9 }];
const FORECAST = quantilesOf(2e6, { issuedAtMs: 10_000, shares: [0.5, 1, 1.5], handovers: HANDOVERS });

function publishing(name: string, forecast: unknown): Forecaster {
  return { name, start() {}, observe() {}, latest: () => forecast as Forecast };
}

const throwing = (message: string) => () => {
  throw new Error(message);
};

function chainOf(forecasters: Forecaster[]) {
  const faults: { forecaster: Forecaster; cause: unknown }[] = [];
  return { chain: new ForecastChain(forecasters, (forecaster, cause) => faults.push({ forecaster, cause })), faults };
}

const FUTURE = 'issuedAtMs: expected a past time, got ';
test.each<[string, number, boolean, string]>([
  ['a second before its issue', 9, false, `${FUTURE}10000`],
  ['before it by as much as two readings of a clock differ', 9.95, true, ''],
  ['just before the age of an epoch', 24.9, true, ''],
  ['at the age of an epoch', 25, false, ''],
  ['in UTC instead of on the session clock', 10 - 1.7e9, false, `${FUTURE}10000`],
])('gives a forecast %s: %p s, %p', (_, nowSeconds, isGiven, fault) => {
  const { chain, faults } = chainOf([publishing('one', FORECAST)]);
  expect(chain.latest(nowSeconds)).toBe(isGiven ? FORECAST : undefined);
  expect(faults.map(({ cause }) => (cause as Error).message)).toEqual(fault ? [fault] : []);
});

test('gives the first valid forecast that is not stale', () => {
  const old = { ...FORECAST, issuedAtMs: 0, source: 'old' };
  const published = [undefined, old, FORECAST, { ...FORECAST, source: 'later' }];
  const { chain, faults } = chainOf(published.map((forecast, i) => publishing(`${i}`, forecast)));
  expect(chain.latest(16)).toBe(FORECAST);
  expect(chain.latest(14.9)).toBe(old);
  expect(chain.latest(26)).toBeUndefined();
  expect(faults).toEqual([]);
});

test('passes the time on to forecasters with tellTime', () => {
  const times: number[][] = [];
  const { chain, faults } = chainOf([
    publishing('indifferent', undefined),
    { ...publishing('broken', undefined), tellTime: throwing('no time') },
    { ...publishing('interested', undefined), tellTime: (...time) => times.push(time) },
  ]);
  chain.tellTime(3, 1e12, 0.5);
  expect(times).toEqual([[3, 1e12, 0.5]]);
  expect(faults).toEqual([{ forecaster: expect.objectContaining({ name: 'broken' }), cause: new Error('no time') }]);
});

test('reports a failing forecaster once per session and continues without it', () => {
  const one = { name: 'throws', start() {}, observe: throwing('observe failed'), latest: throwing('latest failed') };
  const broken = publishing('broken', { ...FORECAST, rankCorrelation: Number.NaN });
  const { chain, faults } = chainOf([one, broken, publishing('good', FORECAST)]);
  for (let i = 0; i < 3; i++) {
    chain.observe({ kind: 'idle', startSeconds: i, endSeconds: i + 1 });
    expect(chain.latest(11)).toBe(FORECAST);
  }
  expect(faults.map(({ forecaster, cause }) => [forecaster.name, (cause as Error).message])).toEqual([
    ['throws', 'observe failed'],
    ['broken', 'rankCorrelation: expected a number from 0 to 1, got NaN'],
  ]);
  chain.start({ seed: 1 });
  expect(chain.latest(11)).toBe(FORECAST);
  expect(faults.length).toBe(4);
});

test('unpacks the shipped model', () => {
  const model = parseModel(SHIPPED_FILE);
  const widths = model.layers.map((rows) => rows.map((row) => row.length));
  const outputs = model.levels.length * model.stepEndsSeconds.length;
  for (const [l, row] of widths.entries()) {
    expect(new Set(row)).toEqual(new Set([(widths[l + 1]?.length ?? outputs + 2) - 2]));
  }
  expect(model.layers.flat().every((row) => row.every(Number.isFinite))).toBe(true);
});

test('reads weights as steps of the scale of their input', () => {
  const inputs = SHIPPED_FILE.features.length + 2;
  // Scales of 2 ** 0, 2 ** -1 and 2 ** 0; weights of 1, -31, 31 and 0.
  const scales = 'AE'.padEnd(inputs, 'A');
  const layers = [{ weights: 'gA+'.padEnd(inputs * 63, 'f'), scales }];
  const [rows] = parseModel({ ...SHIPPED_FILE, layers }).layers;
  expect([...rows![0]!.slice(0, 4)]).toEqual([1, -31, 31, 0]);
  const moved = [{ weights: 'f'.repeat(63) + layers[0]!.weights.slice(0, -63), scales }];
  const second = parseModel({ ...SHIPPED_FILE, layers: moved });
  expect([...second.layers[0]![1]!.slice(0, 3)]).toEqual([0.5, -15.5, 15.5]);
});

test.each<[string, unknown, string]>([
  ['format', 'onnx', 'fold.json.format: expected "leo-abr quantile network", got "onnx"'],
  ['version', 2, 'fold.json.version: expected 4, got 2'],
  ['name', '', 'fold.json.name: expected a name, got ""'],
  ['features', ['level-1s'], 'fold.json.features: expected an array of 13, got an array of 1'],
  ['features.0', 'level-1s', 'fold.json.features[0]: expected "level-0.4s", got "level-1s"'],
  ['stepEndsSeconds.1', 1, 'fold.json.stepEndsSeconds[1]: expected a number above 1 and below 3600, got 1'],
  [
    'stepEndsSeconds',
    [1000, 4000],
    'fold.json.stepEndsSeconds[1]: expected a number above 1000 and below 3600, got 4000',
  ],
  ['levels', [0.1, 0.9], 'levels: expected an odd number of levels, 3 or more, 0.5 in the middle, got "0.1, 0.9"'],
  ['levels', [0.5], 'levels: expected an odd number of levels, 3 or more, 0.5 in the middle, got "0.5"'],
  [
    'levels',
    [0.1, 0.2, 0.3],
    'levels: expected an odd number of levels, 3 or more, 0.5 in the middle, got "0.1, 0.2, 0.3"',
  ],
  ['rankCorrelation', '0.7', 'fold.json.rankCorrelation: expected a number from 0 to below 1, got "0.7"'],
  ['layers', [], 'fold.json.layers: expected an array that is not empty, got an empty array'],
  ['layers.1', null, 'fold.json.layers[1]: expected an object, got null'],
  ['layers.0.weights', 'AAAA', 'fold.json.layers[0].weights: expected 15 x '],
  ['layers.0.weights', 7, 'fold.json.layers[0].weights: expected 15 x '],
  ['layers.0.weights', `/${SHIPPED_FILE.layers[0]!.weights.slice(1)}`, 'weights: expected 15 x '],
  ['layers.0.scales', '*'.repeat(15), 'fold.json.layers[0].scales: expected 15 digits of base64'],
  ['layers.1.scales', 7, 'fold.json.layers[1].scales: expected'],
  ['stepEndsSeconds', [1, 2], 'layers[2]: expected an output per step and level (14), got 63'],
])('says what is wrong with %s', (path, value, message) => {
  const parse = () => parseModel(withValue(SHIPPED_FILE, path, value), 'fold.json');
  expect(parse).toThrow(InputError);
  expect(parse).toThrow(message);
});

test('rejects other values', () => {
  expect(() => parseModel([])).toThrow('model: expected an object, got an empty array');
});

const layer = (...rows: number[][]) => rows.map((row) => Float32Array.from(row));

test('leaky layers, then a median and sums of softplus around it', () => {
  // Two inputs, two hidden, one step of three levels; biases are sums of the last two rows.
  const layers = [layer([1, 0], [0, 1], [0.25, 0], [0.25, 0]), layer([1, 0, 2], [0, 1, 0], [0, 0.5, 0], [0, -0.25, 0])];
  const values = new Float64Array(3);
  evaluateNetwork(layers, 3, Float64Array.of(1, -2), values);
  // Hidden: 1.5 and 0.1 * -2; outputs: 1.5, 0.05, 3.
  const softplus = (x: number) => Math.log(1 + Math.exp(x));
  expect(values[0]).toBeCloseTo(0.05 - softplus(1.5), 6);
  expect(values[1]).toBeCloseTo(0.05, 6);
  expect(values[2]).toBeCloseTo(0.05 + softplus(3), 6);
});

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
