import { describe, expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { Events } from './events.ts';
import { CONTROLLER_NAMES, type LeoAbrOptions, resolveLiveOptions, resolveOptions } from './mpc-l-options.ts';
import { resolveMpcDOptions } from './resolved-options.ts';

const decide = () => ({ representation: 0, controller: 'own', reason: 'none' });
const forecaster = { name: 'own', start() {}, observe() {}, latest: () => undefined };

describe('resolveOptions', () => {
  test('fills in all defaults', () => {
    const resolved = resolveOptions();
    expect(resolved).toMatchObject({ controllerName: 'mpc-l', horizon: 16, qoe: 'linear', seed: 1, logger: console });
    expect(resolved.newForecasting).toBeDefined();
    expect(resolved.sizes).toBeUndefined();
    const { utcMs, uncertaintySeconds } = resolved.timeSource.now();
    expect(Math.abs(utcMs - Date.now())).toBeLessThan(60_000);
    expect(uncertaintySeconds).toBe(2);
    expect(resolveOptions({ logger: null }).logger).toBeNull();
  });

  test("makes a named controller anew for each session, and shares the page's own", () => {
    for (const controller of CONTROLLER_NAMES) {
      const { newController, controllerName } = resolveOptions({ controller });
      expect(newController().name).toBe(controller);
      expect(controllerName).toBe(controller);
      expect(newController()).not.toBe(newController());
    }
    const own = { name: 'own', decide };
    const { newController, controllerName } = resolveOptions({ controller: own });
    expect(newController()).toBe(own);
    expect(controllerName).toBe('own');
  });

  test("only mpc-l has built-in forecasters; other controllers have the page's", () => {
    for (const controller of ['mpc-d', { name: 'own', decide }] as const) {
      expect(resolveOptions({ controller }).newForecasting).toBeUndefined();
      expect(resolveOptions({ controller, forecasters: [] }).newForecasting).toBeUndefined();
      expect(resolveOptions({ controller, forecasters: [forecaster] }).newForecasting).toBeDefined();
    }
  });

  test('accepts every option of mpc-l', () => {
    const options: LeoAbrOptions = {
      horizon: 7,
      risk: 1,
      abandon: false,
      maxWastedShare: 0,
      startup: false,
      handover: false,
      prior: false,
      forecasters: [forecaster],
      live: { minPlaybackRate: 0.5, maxPlaybackRate: 2, targetLatencySeconds: 'auto', maxLatencySeconds: 4 },
    };
    const { newController, horizon } = resolveOptions(options);
    expect(horizon).toBe(7);
    expect(newController().name).toBe('mpc-l');
  });

  test.each<[string, unknown]>([
    ['options', 7],
    ['options', null],
    ['options.horison', { horison: 5 }],
    // A name that objects have.
    ['options.toString', { toString: 5 }],
    ['options.controller', { controller: 'mpc-x' }],
    ['options.controller', { controller: { name: 'x' } }],
    ['options.horizon', { horizon: 0 }],
    ['options.horizon', { horizon: 21 }],
    ['options.horizon', { horizon: 2.5 }],
    ['options.qoe', { qoe: 'hd' }],
    ['options.risk', { risk: 1.1 }],
    ['options.risk', { risk: '0.5' }],
    ['options.risk', { risk: Number.NaN }],
    ['options.watchSeconds', { watchSeconds: 0 }],
    ['options.watchSeconds', { watchSeconds: Number.NaN }],
    ['options.abandon', { abandon: 0.5 }],
    ['options.maxWastedShare', { maxWastedShare: -0.1 }],
    ['options.startup', { startup: 3 }],
    ['options.handover', { handover: 15 }],
    ['options.prior', { prior: { rate: 3 } }],
    ['options.forecasters', { forecasters: forecaster }],
    ['options.forecasters[0]', { forecasters: [{ start() {}, observe() {} }] }],
    ['options.risk', { controller: 'mpc-d', risk: 0.5 }],
    ['options.prior', { controller: { name: 'own', decide }, prior: false }],
    ['options.timeSource', { timeSource: () => 0 }],
    ['options.sizes', { sizes: 3 }],
    ['sizes.representations', { sizes: { a: 1 } }],
    ['options.live', { live: 'fast' }],
    ['options.live.maxPlaybackRate', { live: { maxPlaybackRate: 0.9 } }],
    ['options.live.minPlaybackRate', { live: { minPlaybackRate: '0.9' } }],
    ['options.live.targetLatencySeconds', { live: { targetLatencySeconds: -1 } }],
    ['options.live.targetLatencySeconds', { live: { targetLatencySeconds: 'low' } }],
    ['options.live.maxLatencySeconds', { live: { maxLatencySeconds: Number.POSITIVE_INFINITY } }],
    ['options.live.rate', { live: { rate: 1 } }],
    ['options.seed', { seed: -1 }],
    ['options.logger', { logger: {} }],
  ])('names %s in the error of %j', (field, options) => {
    expect(thrown(() => resolveOptions(options as LeoAbrOptions))).toMatchObject({ name: 'InputError', field });
  });

  test('the message has expected and received', () => {
    expect(() => resolveOptions({ horizon: 0 })).toThrow(
      'options.horizon: expected a whole number from 1 to 20, got 0',
    );
    expect(() => resolveOptions({ controller: 'mpc-x' as 'mpc-d' })).toThrow(
      'expected mpc-l, mpc-d, mpc-d:abandon, mpc-d:cap or an object with decide(), got "mpc-x"',
    );
    expect(() => resolveOptions({ controller: 'mpc-d', risk: 0.5 })).toThrow(
      'options.risk: expected controller mpc-l beside it, got "mpc-d"',
    );
  });

  test('treats undefined as not given', () => {
    const options = { horizon: undefined, seed: undefined, risk: undefined } as unknown as LeoAbrOptions;
    const { horizon, newController } = resolveOptions(options);
    expect(horizon).toBe(16);
    expect(newController().name).toBe('mpc-l');
  });
});

describe('resolveLiveOptions', () => {
  test('has an MPC-L that paces, and pacing; the main entry has neither', () => {
    const [live, main] = [resolveLiveOptions(), resolveOptions()];
    expect([live.newController().name, main.newController().name]).toEqual(['mpc-l', 'mpc-l']);
    expect(live.newController().pace).toBeDefined();
    expect(live.newPacing).toBeDefined();
    expect(main.newController().pace).toBeUndefined();
    expect(main.newPacing).toBeUndefined();
  });

  test("forecasts what the link does within a second; the main entry's forecasts are otherwise the same", () => {
    const forecastOf = (resolve: typeof resolveOptions) => {
      const surroundings = { events: new Events({ logger: null }), origin: () => undefined };
      const forecasting = resolve({ prior: false }).newForecasting!(surroundings);
      forecasting.start({ read: () => ({ nowSeconds: 0 }) });
      const request = forecasting.meter.requestSent(0);
      forecasting.meter.firstByte(request, 0.05);
      forecasting.meter.received(request, 0.3, 2e6);
      return forecasting.latest({ nowSeconds: 0.3 }) as QuantileForecast;
    };
    const { fluctuation, ...live } = forecastOf(resolveLiveOptions);
    expect(fluctuation?.levels.length).toBeGreaterThan(0);
    expect(live).toEqual(forecastOf(resolveOptions));
  });

  test('refuses what the main entry refuses', () => {
    expect(() => resolveLiveOptions({ risk: 2 })).toThrow('options.risk');
  });
});

describe('resolveMpcDOptions', () => {
  test('has MPC-D by default, and no forecasts', () => {
    const { controllerName, newController, horizon, newForecasting } = resolveMpcDOptions();
    expect([controllerName, newController().name, horizon]).toEqual(['mpc-d', 'mpc-d', 5]);
    expect(newForecasting).toBeUndefined();
    expect(resolveMpcDOptions({ controller: 'mpc-d:cap', horizon: 3 })).toMatchObject({
      controllerName: 'mpc-d:cap',
      horizon: 3,
    });
  });

  test.each([
    ['mpc-l', { controller: 'mpc-l' }, 'options.controller'],
    ['options of mpc-l', { risk: 0.5 }, 'options.risk'],
    ['a horizon of 0', { horizon: 0 }, 'options.horizon'],
    ['a rate of 0', { live: { minPlaybackRate: 0 } }, 'options.live.minPlaybackRate'],
  ])('refuses %s', (_, options, field) => {
    expect(thrown(() => resolveMpcDOptions(options as object))).toMatchObject({ field });
  });
});

function thrown(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
