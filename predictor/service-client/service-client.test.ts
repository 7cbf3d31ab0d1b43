import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { quantilesOf, scaledForecast } from '../../abr/random-states.fixture.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { createBuiltInForecaster } from '../forecast/built-in-forecaster.ts';
import { leoLink } from '../link/handover-clock/links.fixture.ts';
import { ForecastGate } from './forecast-gate.ts';
import { ForecastTrust } from './forecast-trust.ts';
import { httpTimeSource } from './http-time-source.ts';
import { ServerClock } from './server-clock.ts';

const LATER_BPS = [5e6, 15e6, 40e6, 65e6, 80e6];
/** A forecast of 40 Mbit/s with 80 % between 20 and 60. */
const FORECAST = quantilesOf(40e6, {
  issuedAtMs: 30_000,
  stepEndsSeconds: [1, 4, 12],
  levels: [0.03, 0.1, 0.5, 0.9, 0.97],
  quantilesBps: [[10e6, 20e6, 40e6, 60e6, 70e6], LATER_BPS, LATER_BPS],
});

/** A session after 30 s at 40 Mbit/s and then tenths of a second at the given rates. */
function gate(bpsSince: readonly number[] = []) {
  const made = new ForecastGate();
  made.start();
  made.admits({ ...FORECAST, issuedAtMs: 0 }, 0);
  const rates = [...new Array<number>(300).fill(40e6), ...bpsSince];
  rates.forEach((bps, tenth) => {
    made.observe(tenth / 10, (tenth + 1) / 10, bps / 10);
  });
  return { gate: made, nowSeconds: rates.length / 10 };
}

test.each<[string, number[], boolean]>([
  ['without new bits', [], true],
  ['with a rate within its quantiles', new Array(9).fill(30e6), true],
  ['not below its quantiles', [40e6, 40e6, 12e6, 12e6, 12e6, 12e6, 12e6], false],
  ['not in an outage', [40e6, 0, 0, 0, 0], false],
  ['not above its quantiles', new Array(5).fill(75e6), false],
  ['with very few new bits', [0], true],
  ['after a short pause', [0, 0, 0, 40e6, 40e6, 40e6, 40e6, 40e6], true],
  ['with a rate within the wider quantiles of a later step', new Array(12).fill(17e6), true],
])('a forecast is admitted %s', (_, since, isAdmitted) => {
  const { gate: one, nowSeconds } = gate(since);
  expect(one.admits(FORECAST, nowSeconds)).toBe(isAdmitted);
});

test('a forecast is admitted if the service has observed half as much of the link as the session, else not yet', () => {
  const { gate: one } = gate();
  const seen = [0, 14, 16, 3600, undefined];
  expect(seen.filter((seconds) => one.admits(FORECAST, 30, seconds))).toEqual([16, 3600, undefined]);
  expect([14, 16, undefined].map((seconds) => one.verdict(seconds))).toEqual(['not-yet', 'trusted', 'trusted']);
});

test('no forecast is admitted if past forecasts were wrong, in later sessions, too', () => {
  const one = new ForecastGate();
  one.start();
  for (let tenth = 0; tenth < 150; tenth++) {
    // The first forecast agrees with the session.
    const forecast = tenth < 20 ? FORECAST : times(20)(FORECAST);
    if (tenth % 10 === 0) one.addForecast({ ...forecast, issuedAtMs: tenth * 100 });
    one.observe(tenth / 10, (tenth + 1) / 10, 4e6);
  }
  expect(one.verdict()).toBe('distrusted');
  one.start();
  expect(one.verdict()).toBe('distrusted');
});

test('a forecast is admitted again in a new session', () => {
  const { gate: one, nowSeconds } = gate([0, 0, 0, 0, 0]);
  expect(one.admits(FORECAST, nowSeconds, 1)).toBe(false);
  one.start();
  expect(one.admits({ ...FORECAST, issuedAtMs: 0 }, 0, 1)).toBe(true);
});

type Lie = (forecast: QuantileForecast, second: number) => QuantileForecast;

const times = (factor: number) => (forecast: QuantileForecast) => scaledForecast(forecast, factor);
const wrongUntil = (end: number) => (forecast: QuantileForecast, second: number) =>
  second < end ? times(6)(forecast) : forecast;
const always = (rate: number) => (forecast: QuantileForecast) => {
  return { ...forecast, quantilesBps: forecast.quantilesBps.map((row) => row.map((_, i) => rate * (1 + i / 1000))) };
};

/** A session of 3 s downloads with 1 s pauses. The service's forecasts are built-in forecasts, a second old. */
function scored(lie: Lie, { seconds = 60, seed = 1, variability = 1, busy = 30, trust = new ForecastTrust() } = {}) {
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
    if (tenth % 40 < busy) {
      const bits = link(start + 0.05) / 10;
      honest.observe({ kind: 'throughput', startSeconds: start, endSeconds: start + 0.1, bits });
      trust.observe(start, start + 0.1, bits);
    }
    const now = start + 0.1;
    if (tenth % 10 !== 9) continue;
    const forecast = honest.latest(now);
    if (forecast !== undefined) waiting.push(lie(forecast, now));
    const late = waiting.length > 1 ? waiting.shift()! : undefined;
    if (late === undefined) continue;
    trust.addForecast(late);
    asked++;
    if (trust.isTrusted && trust.fits(late)) used++;
    if (!trust.isTrusted) droppedAt = Math.min(droppedAt, now);
  }
  return { droppedAt, usedShare: used / asked, trust };
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])('trust stays with correct forecasts, on variable and steady links (%i)', (seed) => {
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
  ['random rates', (forecast, second) => times(seededRandom(second)() < 0.5 ? 0.1 : 10)(forecast), 25],
])('trust ends if it forecasts %s', (_, lie, withinSeconds) => {
  for (const seed of [1, 2, 3]) expect(scored(lie, { seed }).droppedAt).toBeLessThan(withinSeconds);
});

test('trust ends for low forecasts also if the session therefore downloads little', () => {
  for (const seed of [1, 2, 3]) {
    expect(scored(times(0.2), { seed, busy: 2 }).droppedAt).toBeLessThan(35);
    const { droppedAt } = scored((forecast) => forecast, { seconds: 120, seed, busy: 2 });
    expect(droppedAt).toBe(Number.POSITIVE_INFINITY);
  }
});

test('trust never accepts forecasts that are wrong by more than an order of magnitude', () => {
  for (const lie of [times(40), times(0.02)]) expect(scored(lie, { seconds: 15 }).usedShare).toBe(0);
});

test('trust returns with better forecasts, also in a later session', () => {
  const first = scored(wrongUntil(25), { seconds: 120 });
  expect(first.droppedAt).toBeLessThan(20);
  expect(first.trust.isTrusted).toBe(true);
  const second = scored(wrongUntil(40), { seconds: 160, trust: first.trust });
  expect(second.droppedAt).toBeLessThan(25);
  expect(second.trust.isTrusted).toBe(true);
});

describe('http-time-source', () => {
  const UTC_MS = Date.UTC(2025, 5, 1, 12, 0, 0);

  type Answer = { status?: number; text?: string; fails?: boolean };
  const trip = (toMs: number, backMs: number, answer: Answer = {}) => ({ toMs, backMs, ...answer });

  let startMs: number;
  beforeEach(() => {
    jest.useFakeTimers();
    startMs = performance.now();
  });

  /** A server whose clock shows `UTC_MS` at the test's begin. The last trip repeats. */
  function server(...trips: ReturnType<typeof trip>[]) {
    const fetch = jest.fn(async (_url: string, _init: { signal: AbortSignal }) => {
      const trip = trips[Math.min(fetch.mock.calls.length, trips.length) - 1]!;
      jest.advanceTimersByTime(trip.toMs);
      const text = trip.text ?? String(UTC_MS + performance.now() - startMs);
      jest.advanceTimersByTime(trip.backMs);
      if (trip.fails) throw new TypeError('network');
      return { ok: (trip.status ?? 200) < 400, status: trip.status ?? 200, text: async () => text };
    });
    Object.assign(globalThis, { fetch });
    return fetch;
  }

  test("gives the device's clock with an uncertainty of 2 s until the first response", async () => {
    server(trip(10, 10));
    const source = httpTimeSource('/time');
    const { utcMs, uncertaintySeconds } = source.now();
    expect([Math.abs(utcMs - Date.now()) < 1000, uncertaintySeconds]).toEqual([true, 2]);
    await source.ready;
    expect(source.now().utcMs).toBe(UTC_MS + 100);
  });

  test('the shortest round trip counts; its half is the uncertainty, and covers the error', async () => {
    const fetch = server(trip(90, 30), trip(12, 8), trip(200, 400));
    const source = httpTimeSource('/time');
    const reading = await source.ready;
    expect(fetch).toHaveBeenCalledTimes(5);
    const trueMs = UTC_MS + 90 + 30 + 20 + 3 * 600;
    expect(reading.utcMs - trueMs).toBeCloseTo(2, 6);
    expect(reading.uncertaintySeconds).toBeCloseTo(0.01, 3);
    expect(Math.abs(reading.utcMs - trueMs) / 1000).toBeLessThanOrEqual(reading.uncertaintySeconds);
    jest.advanceTimersByTime(3_600_000);
    expect(source.now().utcMs - (trueMs + 3_600_000)).toBeCloseTo(2, 6);
    // A quartz may have drifted by 0.18 s in an hour.
    expect(source.now().uncertaintySeconds).toBeCloseTo(0.19, 2);
  });

  test('tolerates failures of some samples', async () => {
    server(trip(5, 5, { fails: true }), trip(5, 5, { status: 503 }), trip(5, 5, { text: '<html>' }), trip(40, 40));
    const { uncertaintySeconds } = await httpTimeSource('/time').ready;
    expect(uncertaintySeconds).toBeCloseTo(0.04, 3);
  });

  test.each<[Answer, RegExp]>([
    [{ fails: true }, /network/],
    [{ status: 404 }, /404/],
    [{ text: '' }, /UTC in ms, got ""/],
    [{ text: String(UTC_MS / 1000) }, /UTC in ms/],
    [{ text: 'NaN' }, /UTC in ms/],
  ])('rejects when nothing usable came: %j', async (answer, message) => {
    server(trip(1, 1, answer));
    const source = httpTimeSource('/time');
    await expect(source.ready).rejects.toThrow(message);
    expect(source.now().uncertaintySeconds).toBe(2);
  });

  test('gives a signal that aborts, and the error names a wrong URL', async () => {
    const fetch = server(trip(1, 1));
    await httpTimeSource('/time').ready;
    expect(fetch.mock.calls[0]![1].signal).toBeInstanceOf(AbortSignal);
    expect(() => httpTimeSource('')).toThrow(/url/);
  });
});

const OFFSET = 1.7e12;

test('the clock of the service is unknown before the first response', () => {
  const clock = new ServerClock();
  expect(clock.isKnown).toBe(false);
  expect(clock.utcMsAt(5)).toBeNaN();
  clock.sample(10, 5, OFFSET);
  clock.sample(5, 10, Number.NaN);
  expect(clock.isKnown).toBe(false);
});

test('uses the middle of the shortest round trip', () => {
  const clock = new ServerClock();
  clock.sample(0, 200, OFFSET + 150);
  expect(clock.utcMsAt(0)).toBe(OFFSET + 50);
  clock.sample(1000, 1010, OFFSET + 1005);
  expect(clock.utcMsAt(0)).toBe(OFFSET);
  clock.sample(2000, 2100, OFFSET + 2090);
  expect(clock.utcMsAt(0)).toBe(OFFSET);
  expect(clock.pageMsAt(clock.utcMsAt(123))).toBe(123);
});

test('follows a drift of some minutes, and a leap at once', () => {
  const clock = new ServerClock();
  clock.sample(0, 10, OFFSET + 5);
  clock.sample(600_000, 600_020, OFFSET + 600_010 + 12);
  expect(clock.utcMsAt(600_000)).toBe(OFFSET + 600_012);
  clock.sample(601_000, 601_080, OFFSET - 3_600_000 + 601_040);
  expect(clock.utcMsAt(601_000)).toBe(OFFSET - 3_600_000 + 601_000);
});
