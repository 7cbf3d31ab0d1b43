import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { between, forAll } from '../../abr/property.fixture.ts';
import { anyObservation, anySession } from '../../abr/random-observations.fixture.ts';
import { validForecast } from '../../abr/valid-forecast.ts';
import { leoLink, throughput } from '../link/handover-clock/links.fixture.ts';
import { SubSecond } from '../link/sub-second.ts';
import { type BuiltInForecasterOptions, createBuiltInForecaster } from './built-in-forecaster.ts';

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
