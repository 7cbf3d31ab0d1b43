import { expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { SAVING_PRICE_PER_MBPS, USUAL_PRICE_PER_MBPS } from '../../abr/qoe/perceived-qoe.ts';
import { assemble } from '../assemble.ts';
import { HOST } from '../host.fixture.ts';
import { Events } from './events.ts';
import { CONTROLLER_NAMES, type LeoAbrOptions } from './option-types.ts';
import { resolveOptions as checked } from './options.ts';

const resolveOptions = (options?: LeoAbrOptions, host = HOST) => assemble(checked(options), host);

const own = { name: 'own', decide: () => ({ representation: 0, controller: 'own', reason: 'none' }) };
const forecaster = { name: 'own', start() {}, observe() {}, latest: () => undefined };

const without = Object.create(null) as object;
test.each([{}, without, { horizon: undefined, seed: undefined, risk: undefined }])('%j has all defaults', (options) => {
  const { timeSource, newController, newForecasting, ...resolved } = resolveOptions(options as LeoAbrOptions);
  expect(resolved).toMatchObject({ controllerName: 'mpc-l', seed: 1, logger: console });
  expect(resolved.sizes).toBeUndefined();
  expect(newController().name).toBe('mpc-l');
  expect(newForecasting).toBeDefined();
  const { utcMs, uncertaintySeconds } = timeSource.now();
  expect(Math.abs(utcMs - Date.now())).toBeLessThan(60_000);
  expect(uncertaintySeconds).toBe(2);
});

test("resolveOptions makes a named controller anew for each session, and shares the page's own", () => {
  for (const controller of [...CONTROLLER_NAMES, own]) {
    const name = typeof controller === 'string' ? controller : 'own';
    const { newController, controllerName } = resolveOptions({ controller });
    const [one, other] = [newController(), newController()];
    expect([one.name, controllerName]).toEqual([name, name]);
    expect(one === other).toBe(controller === own);
  }
});

test("only mpc-l has built-in forecasters; other controllers have the page's", () => {
  for (const controller of ['mpc-d', own] as const) {
    expect(resolveOptions({ controller }).newForecasting).toBeUndefined();
    expect(resolveOptions({ controller, forecasters: [] }).newForecasting).toBeUndefined();
    expect(resolveOptions({ controller, forecasters: [forecaster] }).newForecasting).toBeDefined();
  }
});

test.each<[NonNullable<LeoAbrOptions['saveData']>, boolean, number]>([
  ['auto', true, SAVING_PRICE_PER_MBPS],
  ['auto', false, USUAL_PRICE_PER_MBPS],
  [true, false, SAVING_PRICE_PER_MBPS],
  [false, true, 0],
  [0, true, 0],
  [100, false, 100],
])('saveData %j, where the browser says %j, makes a Mbit/s cost %d', (saveData, says, pricePerMbps) => {
  const { weightsOf } = resolveOptions({ saveData }, { ...HOST, savesData: () => says });
  const ladder = [{ id: '0', bitrateBps: 1e6 }];
  expect(weightsOf({ ladder, live: undefined })).toMatchObject({ pricePerMbps });
});

// docs/options.test.ts has the types and bounds of each option.
test.each<[field: string, options: unknown, wanted?: string]>([
  ['options', 7],
  ['options', null],
  ['options', new Date()],
  ['options.horison', { horison: 5 }],
  // A name that objects have.
  ['options.toString', { toString: 5 }],
  ['options.controller', { controller: 'mpc-x' }],
  ['options.controller', { controller: { name: 'x' } }],
  ['options.controller', { controller: null }],
  ['options.timeSource', { timeSource: { now: 0 } }],
  // Only an object has methods.
  ['options.timeSource', { timeSource: Object.assign(() => {}, { now: () => 0 }) }],
  ['options.horizon', { horizon: 21 }],
  ['options.horizon', { horizon: 2.5 }],
  ['options.risk', { risk: 1.1 }],
  ['options.risk', { risk: Number.NaN }],
  ['options.saveData', { saveData: -1 }],
  ['options.saveData', { saveData: 101 }],
  ['options.saveData', { saveData: '5' }],
  ['options.prior', { prior: { rate: 3 } }],
  ['options.forecasters[0]', { forecasters: [{ start() {}, observe() {} }] }],
  ['options.forecasters[0]', { forecasters: new Array(1) }],
  ['options.risk', { controller: 'mpc-d', risk: 0.5 }],
  // It was for our own tools.
  ['options.weights', { weights: () => ({}) }],
  ['options.prior', { controller: own, prior: false }],
  ['options.handover', { handover: true }, 'nothing (not an option since 0.3.0: leave it out)'],
  ['sizes.representations', { sizes: { a: 1 } }],
  ['quality.representations.a', { quality: { representations: { a: null } } }],
  ['options.live.maxPlaybackRate', { live: { maxPlaybackRate: 0.9 } }],
  ['options.live.maxLatencySeconds', { live: { maxLatencySeconds: Number.POSITIVE_INFINITY } }],
  ['options.live.rate', { live: { rate: 1 } }],
  // Only an object of fields has options.
  ['options.live', { live: [] }],
  ['options.live', { live: new Map() }],
  ['options.live', { live: new EventTarget() }],
])('resolveOptions names %s in the error of %j', (field, options, ...[wanted]) => {
  const expected = wanted ?? expect.any(String);
  const error = expect.objectContaining({ name: 'InputError', field, expected });
  expect(() => resolveOptions(options as LeoAbrOptions)).toThrow(error);
});

/** What the forecaster says half a second after a session's first request. */
function forecastOf(options: LeoAbrOptions, needsHandovers = false) {
  const events = new Events({ logger: null, host: HOST });
  const surroundings = { events, needsHandovers: () => needsHandovers, port: { manifestUrl: () => null } };
  const forecasting = resolveOptions({ prior: false, ...options }).newForecasting!(surroundings);
  forecasting.start({ read: () => ({ nowSeconds: 0 }) });
  const request = forecasting.meter.requestSent(0);
  forecasting.meter.firstByte(request, 0.05);
  forecasting.meter.received(request, 0.3, 2e6);
  return forecasting.flushAndForecast({ nowSeconds: 0.5 }) as QuantileForecast;
}

test('the position in the epoch is followed only where handovers are needed', () => {
  const follows = (...options: Parameters<typeof forecastOf>) => 'fluctuation' in forecastOf(...options);
  expect([follows({}), follows({}, true)]).toEqual([false, true]);
  expect(forecastOf({}, true).fluctuation?.levels.length).toBeGreaterThan(0);
});
