import { describe, expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { createBuiltInForecaster } from '../built-in/built-in-forecaster.ts';
import { leoLink, seeded } from '../handover-clock/links.fixture.ts';
import { ForecastJudge } from './forecast-judge.ts';

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

/** Plays a session of 3 s downloads with 1 s pauses; the service's forecasts are the built-in ones, a second old. */
function judged(
  lie: Lie,
  { seconds = 60, seed = 1, steadiness = 1, busyTenths = 30, judge = new ForecastJudge() } = {},
) {
  const honest = createBuiltInForecaster();
  const link = leoLink({ seed, boundary: 11, spread: 0.4 * steadiness, noise: 0.15 * steadiness });
  honest.start({ seed: 1 });
  judge.start();
  let droppedAt = Number.POSITIVE_INFINITY;
  let used = 0;
  let asked = 0;
  const waiting: QuantileForecast[] = [];
  for (let tenth = 0; tenth < seconds * 10; tenth++) {
    const start = tenth / 10;
    if (tenth % 40 < busyTenths) {
      const bits = link(start + 0.05) / 10;
      honest.observe({ kind: 'throughput', startSeconds: start, endSeconds: start + 0.1, bits });
      judge.observe(start, start + 0.1, bits);
    }
    const now = start + 0.1;
    if (tenth % 10 !== 9) continue;
    const forecast = honest.latest(now) as QuantileForecast | undefined;
    if (forecast !== undefined) waiting.push(lie(forecast, now));
    const late = waiting.length > 1 ? waiting.shift()! : undefined;
    if (late === undefined) continue;
    judge.hear(late, now);
    asked++;
    if (judge.accepts(late, now)) used++;
    if (judge.isDropped) droppedAt = Math.min(droppedAt, now);
  }
  return { droppedAt, usedShare: used / asked, judge };
}

describe('the judge of a service', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('believes an honest one, on changing and on steady links (%i)', (seed) => {
    for (const steadiness of [1, 0.3, 1.6]) {
      const { droppedAt, usedShare } = judged((forecast) => forecast, { seconds: 120, seed, steadiness });
      expect({ steadiness, droppedAt }).toEqual({ steadiness, droppedAt: Number.POSITIVE_INFINITY });
      expect(usedShare).toBeGreaterThan(0.97);
    }
  });

  test.each<[string, Lie, number]>([
    ['five times too much', times(5), 20],
    ['a fifth', times(0.2), 20],
    ['three times too much', times(3), 25],
    ['a gigabit, whatever happens', always(1e9), 20],
    ['nothing, whatever happens', always(1), 20],
    ['now this, now that', (forecast, second) => times(seeded(second)() < 0.5 ? 0.1 : 10)(forecast, second), 25],
  ])('finds out that it promises %s', (_, lie, withinSeconds) => {
    for (const seed of [1, 2, 3]) expect(judged(lie, { seed }).droppedAt).toBeLessThan(withinSeconds);
  });

  test('finds out a fifth also where it made the session ask for next to nothing', () => {
    for (const seed of [1, 2, 3]) expect(judged(times(0.2), { seed, busyTenths: 2 }).droppedAt).toBeLessThan(35);
    for (const seed of [1, 2, 3]) {
      const { droppedAt } = judged((forecast) => forecast, { seconds: 120, seed, busyTenths: 2 });
      expect(droppedAt).toBe(Number.POSITIVE_INFINITY);
    }
  });

  test('never uses what is an order of magnitude off, found out or not', () => {
    for (const lie of [times(40), times(0.02)]) expect(judged(lie, { seconds: 15 }).usedShare).toBe(0);
  });

  test('believes again who does better, once', () => {
    const changing =
      (until: number): Lie =>
      (forecast, second) =>
        second < until ? times(6)(forecast, second) : forecast;
    const first = judged(changing(25), { seconds: 120 });
    expect(first.droppedAt).toBeLessThan(20);
    expect(first.judge.isDropped).toBe(false);
    const second = judged(changing(40), { seconds: 160, judge: first.judge });
    expect(second.judge.isDropped).toBe(true);
  });
});
