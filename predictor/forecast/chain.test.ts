import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Forecast, Forecaster } from '../../abr/forecast.ts';
import { between, forAll } from '../../abr/property.fixture.ts';
import { quantilesOf } from '../../abr/random-states.fixture.ts';
import { validForecast } from '../../abr/valid-forecast.ts';
import { ForecastChain, type ForecasterFault } from './chain.ts';

const HANDOVERS = [{ atMs: 12_000, confidence: 0.9 }];
const FORECAST = quantilesOf(2e6, { issuedAtMs: 10_000, shares: [0.5, 1, 1.5], handovers: HANDOVERS });

function publishing(name: string, forecast: unknown): Forecaster {
  return { name, start() {}, observe() {}, latest: () => forecast as Forecast };
}

const throwing = (message: string) => () => {
  throw new Error(message);
};

function chainOf(forecasters: Forecaster[]) {
  const faults: ForecasterFault[] = [];
  return { chain: new ForecastChain(forecasters, { onFault: (fault) => faults.push(fault) }), faults };
}

test.each<[string, number, boolean]>([
  ['a second before its issue', 9, false],
  ['before it by as much as two readings of a clock differ', 9.95, true],
  ['just before the age of an epoch', 24.9, true],
  ['at the age of an epoch', 25, false],
  ['in UTC instead of on the session clock', 1.7e9, false],
])('gives a forecast %s: %p s, %p', (_, nowSeconds, isGiven) => {
  const { chain, faults } = chainOf([publishing('one', FORECAST)]);
  expect(chain.latest(nowSeconds)).toBe(isGiven ? FORECAST : undefined);
  expect(faults).toEqual([]);
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
  expect(faults).toEqual([{ forecaster: 'broken', cause: new Error('no time') }]);
});

test('reports a failing forecaster once per session and continues without it', () => {
  const one = { name: 'throws', start() {}, observe: throwing('observe failed'), latest: throwing('latest failed') };
  const broken = publishing('broken', { ...FORECAST, rankCorrelation: Number.NaN });
  const { chain, faults } = chainOf([one, broken, publishing('good', FORECAST)]);
  for (let i = 0; i < 3; i++) {
    chain.observe({ kind: 'idle', startSeconds: i, endSeconds: i + 1 });
    expect(chain.latest(11)).toBe(FORECAST);
  }
  expect(faults.map(({ forecaster, cause }) => [forecaster, (cause as Error).message])).toEqual([
    ['throws', 'observe failed'],
    ['broken', 'rankCorrelation: expected a number from 0 to 1, got NaN'],
  ]);
  chain.start({ seed: 1 });
  expect(chain.latest(11)).toBe(FORECAST);
  expect(faults.length).toBe(4);
});

test('law: gives valid forecasts only', () => {
  const row = fc.array(fc.double(), { maxLength: 4 });
  const part = fc.oneof(fc.anything(), fc.double(), row, fc.array(row, { maxLength: 4 }));
  const field = fc.constantFrom(...Object.keys(FORECAST), 'kind', 'fluctuation', 'path');
  const wrong = fc.tuple(field, part).map(([name, value]) => ({ [name]: value }));
  const usable = fc.record({ issuedAtMs: between(0, 20_000), rankCorrelation: between(0, 1) });
  const changed = fc.oneof(wrong, usable, usable).map((changes) => ({ ...FORECAST, ...changes }));
  const published = fc.array(fc.oneof(fc.anything(), { arbitrary: changed, weight: 3 }), { maxLength: 3 });
  let hits = 0;
  forAll([published, fc.oneof(fc.double(), between(0, 30))], { seed: 4, numRuns: 3000 }, (published, nowSeconds) => {
    const { chain, faults } = chainOf(published.map((forecast, i) => publishing(`${i}`, forecast)));
    chain.start({ seed: 0 });
    const found = chain.latest(nowSeconds);
    if (found !== undefined) {
      hits++;
      expect(() => validForecast(found)).not.toThrow();
    }
    expect(faults.length).toBeLessThanOrEqual(published.length);
    for (const { cause } of faults) expect((cause as Error).message).toMatch(/expected .*, got /);
  });
  expect(hits).toBeGreaterThan(500);
});
