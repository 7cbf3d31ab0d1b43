import { describe, expect, test } from '@jest/globals';
import { InputError } from '../abr/errors.ts';
import { CONTROLLER_NAMES } from './controllers.ts';
import { type LeoAbrOptions, resolveOptions } from './options.ts';

const decide = () => ({ representation: 0, controller: 'own', reason: 'none' });

describe('resolveOptions', () => {
  test('fills everything in', () => {
    const resolved = resolveOptions();
    expect(resolved).toMatchObject({ controllerName: 'mpc-d', horizon: 5, qoe: 'linear', seed: 1, logger: console });
    expect(resolved.forecaster).toBeUndefined();
    expect(resolved.sizes).toBeUndefined();
    const { utcMs, uncertaintySeconds } = resolved.timeSource.now();
    expect(Math.abs(utcMs - Date.now())).toBeLessThan(60_000);
    expect(uncertaintySeconds).toBe(2);
    expect(resolveOptions({ logger: null }).logger).toBeNull();
  });

  test('makes a named controller anew for each session, and shares one of the page', () => {
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
    ['a forecaster without latest()', { forecaster: { start() {}, observe() {} } }, 'options.forecaster'],
    ['a time source that is a function', { timeSource: () => 0 }, 'options.timeSource'],
    ['sizes that are a number', { sizes: 3 }, 'options.sizes'],
    ['a negative seed', { seed: -1 }, 'options.seed'],
    ['a logger that cannot warn', { logger: {} }, 'options.logger'],
  ];
  test.each(wrong)('refuses %s, naming it', (_, options, field) => {
    expect(() => resolveOptions(options as LeoAbrOptions)).toThrow(InputError);
    expect(thrown(() => resolveOptions(options as LeoAbrOptions))).toMatchObject({ field });
  });

  test('says what was expected and what came', () => {
    expect(() => resolveOptions({ horizon: 0 })).toThrow(
      'options.horizon: expected a whole number from 1 to 20, got 0',
    );
    expect(() => resolveOptions({ controller: 'mpc-x' as 'mpc-d' })).toThrow('expected mpc-d, ');
  });

  test('takes undefined for not given', () => {
    expect(resolveOptions({ horizon: undefined, seed: undefined } as unknown as LeoAbrOptions).horizon).toBe(5);
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
