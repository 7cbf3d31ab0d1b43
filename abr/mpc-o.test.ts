import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CapacityPath, PiecewisePath } from './capacity-path.ts';
import type { PathForecast } from './forecast.ts';
import { createMpcD } from './mpc-d.ts';
import { createMpcO } from './mpc-o.ts';
import { Planner } from './planner.ts';
import { anyDownloads, anyPath, anyState } from './random-states.fixture.ts';

function forecastOf(path: CapacityPath, issuedAtSeconds: number): PathForecast {
  const paths = [{ weight: 1, path }];
  return { kind: 'paths', issuedAtMs: issuedAtSeconds * 1000, source: 'oracle', paths, handovers: [] };
}

describe('mpc-o', () => {
  const controller = createMpcO();

  test('plans on the true path with the buffer cap', () => {
    fc.assert(
      fc.property(anyState(), anyPath(), (state, path) => {
        const plan = new Planner({ horizon: 5, bufferCap: true }).plan(state, path);
        const decision = controller.decide(state, forecastOf(path, state.nowSeconds));
        expect(decision.representation).toBe(plan.representation);
        expect(decision).toMatchObject({ controller: 'mpc-o', forecastSource: 'oracle', forecastAgeSeconds: 0 });
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  test('a forecast that was made before is seen from now', () => {
    fc.assert(
      fc.property(anyState(), fc.integer({ min: 0, max: 60 }), (state, age) => {
        const path = new PiecewisePath({ stepEndsSeconds: [7, 15, 31], ratesBps: [9e6, 1e6, 4e6], tail: 'repeat' });
        const old = controller.decide(state, forecastOf(path, state.nowSeconds - age));
        const fresh = controller.decide(state, forecastOf(path.from(age), state.nowSeconds));
        expect(old.representation).toBe(fresh.representation);
        expect(old.forecastAgeSeconds).toBe(age);
      }),
      { numRuns: 500, seed: 2 },
    );
  });

  test('without one path it decides as mpc-d', () => {
    const several = forecastOf(new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [1e6] }), 0);
    several.paths = [...several.paths, ...several.paths];
    fc.assert(
      fc.property(anyState({ downloads: anyDownloads() }), fc.constantFrom(undefined, several), (state, forecast) => {
        const decision = controller.decide(state, forecast);
        expect(decision.representation).toBe(createMpcD().decide(state).representation);
        expect(decision.controller).toBe('mpc-o');
        expect(decision.reason).toMatch(/^no path: mpc-d/);
      }),
      { numRuns: 200, seed: 3 },
    );
  });

  test('never abandons', () => {
    expect(controller.reconsider).toBeUndefined();
  });
});
