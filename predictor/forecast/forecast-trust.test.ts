import { describe, expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { seededRandom } from '../../abr/random.ts';
import { leoLink } from '../link/handover-clock/links.fixture.ts';
import { createBuiltInForecaster } from './built-in-forecaster.ts';
import { ForecastTrust } from './forecast-trust.ts';

type Lie = (forecast: QuantileForecast, second: number) => QuantileForecast;

const times =
  (factor: number): Lie =>
  (forecast) => ({
    ...forecast,
    quantilesBps: forecast.quantilesBps.map((row) => row.map((bps) => bps * factor)),
  });
const always =
  (bps: number): Lie =>
  (forecast) => ({
    ...forecast,
    quantilesBps: forecast.quantilesBps.map((row) => row.map((_, i) => bps * (1 + i / 1000))),
  });

/** A session of 3 s downloads with 1 s pauses; the service's forecasts are the built-in ones, a second old. */
function scored(
  lie: Lie,
  { seconds = 60, seed = 1, variability = 1, busyTenths = 30, isEarly = false, trust = new ForecastTrust() } = {},
) {
  const honest = createBuiltInForecaster();
  const link = leoLink({ seed, boundary: 11, spread: 0.4 * variability, noise: 0.15 * variability });
  honest.start({ seed: 1 });
  trust.start();
  let droppedAt = Number.POSITIVE_INFINITY;
  let used = 0;
  let asked = 0;
  const waiting: QuantileForecast[] = [];
  for (let tenth = 0; tenth < seconds * 10; tenth++) {
    const start = tenth / 10;
    if (tenth % 40 < busyTenths) {
      const bits = link(start + 0.05) / 10;
      honest.observe({ kind: 'throughput', startSeconds: start, endSeconds: start + 0.1, bits });
      trust.observe(start, start + 0.1, bits);
    }
    const now = start + 0.1;
    if (tenth % 10 !== 9) continue;
    const forecast = honest.latest(now) as QuantileForecast | undefined;
    if (forecast !== undefined) waiting.push(lie(forecast, now));
    const late = waiting.length > 1 ? waiting.shift()! : undefined;
    if (late === undefined) continue;
    trust.addForecast(late, now, isEarly);
    asked++;
    if (trust.accepts(late, now)) used++;
    if (trust.drop) droppedAt = Math.min(droppedAt, now);
  }
  return { droppedAt, usedShare: used / asked, trust };
}

describe('the trust in a service', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('stays with correct forecasts, on variable and steady links (%i)', (seed) => {
    for (const variability of [1, 0.3, 1.6]) {
      const { droppedAt, usedShare } = scored((forecast) => forecast, { seconds: 120, seed, variability });
      expect({ variability, droppedAt }).toEqual({ variability, droppedAt: Number.POSITIVE_INFINITY });
      expect(usedShare).toBeGreaterThan(0.97);
    }
  });

  test.each<[string, Lie, number]>([
    ['five times too much', times(5), 20],
    ['a fifth', times(0.2), 20],
    ['three times too much', times(3), 25],
    ['always a gigabit', always(1e9), 20],
    ['always nothing', always(1), 20],
    ['random rates', (forecast, second) => times(seededRandom(second)() < 0.5 ? 0.1 : 10)(forecast, second), 25],
  ])('ends if it forecasts %s', (_, lie, withinSeconds) => {
    for (const seed of [1, 2, 3]) expect(scored(lie, { seed }).droppedAt).toBeLessThan(withinSeconds);
  });

  test('ends for low forecasts also if the session therefore downloads little', () => {
    for (const seed of [1, 2, 3]) expect(scored(times(0.2), { seed, busyTenths: 2 }).droppedAt).toBeLessThan(35);
    for (const seed of [1, 2, 3]) {
      const { droppedAt } = scored((forecast) => forecast, { seconds: 120, seed, busyTenths: 2 });
      expect(droppedAt).toBe(Number.POSITIVE_INFINITY);
    }
  });

  test('never accepts forecasts that are wrong by more than an order of magnitude', () => {
    for (const lie of [times(40), times(0.02)]) expect(scored(lie, { seconds: 15 }).usedShare).toBe(0);
  });

  test('returns once with better forecasts', () => {
    const changing =
      (until: number): Lie =>
      (forecast, second) =>
        second < until ? times(6)(forecast, second) : forecast;
    const first = scored(changing(25), { seconds: 120 });
    expect(first.droppedAt).toBeLessThan(20);
    expect(first.trust.drop).toBeUndefined();
    const second = scored(changing(40), { seconds: 160, trust: first.trust });
    expect(second.trust.drop).toBe('late');
  });

  test('returns again, if it was lost by early forecasts', () => {
    const changing: Lie = (forecast, second) => (second < 25 ? times(6)(forecast, second) : forecast);
    const { trust } = scored(changing, { seconds: 120, isEarly: true });
    for (let session = 0; session < 2; session++) {
      expect(scored(changing, { seconds: 160, isEarly: true, trust }).droppedAt).toBeLessThan(25);
      expect(trust.drop).toBeUndefined();
    }
  });
});
