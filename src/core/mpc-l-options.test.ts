import { describe, expect, test } from '@jest/globals';
import { InputError } from '../../abr/errors.ts';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { Events } from './events.ts';
import { resolveLiveOptions } from './live-options.ts';
import { resolveMpcDOptions } from './mpc-d-options.ts';
import { CONTROLLER_NAMES, type LeoAbrOptions, resolveOptions } from './mpc-l-options.ts';

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

  const wrong: [string, unknown, field: string][] = [
    ['no object', 7, 'options'],
    ['null', null, 'options'],
    ['an option that there is not', { horison: 5 }, 'options.horison'],
    ['a name that objects have', { toString: 5 }, 'options.toString'],
    ['an unknown controller', { controller: 'mpc-x' }, 'options.controller'],
    ['a controller that decides nothing', { controller: { name: 'x' } }, 'options.controller'],
    ['a horizon of 0', { horizon: 0 }, 'options.horizon'],
    ['a horizon of 21', { horizon: 21 }, 'options.horizon'],
    ['half a horizon', { horizon: 2.5 }, 'options.horizon'],
    ['a horizon that is no number', { horizon: Number.NaN }, 'options.horizon'],
    ['an unknown quality', { qoe: 'hd' }, 'options.qoe'],
    ['a risk above 1', { risk: 1.1 }, 'options.risk'],
    ['a risk in words', { risk: '0.5' }, 'options.risk'],
    ['a risk that is no number', { risk: Number.NaN }, 'options.risk'],
    ['abandoning a little', { abandon: 0.5 }, 'options.abandon'],
    ['a negative share of waste', { maxWastedShare: -0.1 }, 'options.maxWastedShare'],
    ['a startup in seconds', { startup: 3 }, 'options.startup'],
    ['a handover in seconds', { handover: 15 }, 'options.handover'],
    ['a prior of its own', { prior: { rate: 3 } }, 'options.prior'],
    ['one forecaster', { forecasters: forecaster }, 'options.forecasters'],
    ['a forecaster without latest()', { forecasters: [{ start() {}, observe() {} }] }, 'options.forecasters[0]'],
    ['a risk beside another controller', { controller: 'mpc-d', risk: 0.5 }, 'options.risk'],
    ['a prior beside an object', { controller: { name: 'own', decide }, prior: false }, 'options.prior'],
    ['a time source that is a function', { timeSource: () => 0 }, 'options.timeSource'],
    ['sizes that are a number', { sizes: 3 }, 'options.sizes'],
    ['sizes without representations', { sizes: { a: 1 } }, 'sizes.representations'],
    ['live streams in words', { live: 'fast' }, 'options.live'],
    ['a rate that is slow for the fastest', { live: { maxPlaybackRate: 0.9 } }, 'options.live.maxPlaybackRate'],
    ['a rate in words', { live: { minPlaybackRate: '0.9' } }, 'options.live.minPlaybackRate'],
    ['a target in the future', { live: { targetLatencySeconds: -1 } }, 'options.live.targetLatencySeconds'],
    ['another word than auto', { live: { targetLatencySeconds: 'low' } }, 'options.live.targetLatencySeconds'],
    [
      'no limit of latency',
      { live: { maxLatencySeconds: Number.POSITIVE_INFINITY } },
      'options.live.maxLatencySeconds',
    ],
    ['an option for live streams that there is not', { live: { rate: 1 } }, 'options.live.rate'],
    ['a negative seed', { seed: -1 }, 'options.seed'],
    ['a logger that cannot warn', { logger: {} }, 'options.logger'],
  ];
  test.each(wrong)('refuses %s with the field', (_, options, field) => {
    expect(() => resolveOptions(options as LeoAbrOptions)).toThrow(InputError);
    expect(thrown(() => resolveOptions(options as LeoAbrOptions))).toMatchObject({ field });
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
