import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Controller } from '../controller.ts';
import { between, forAll, whole } from '../property.fixture.ts';
import { alongPath, anyDownloads, anyPath, anyState, quantilesOf, stateOf } from '../random-states.fixture.ts';
import { horizonOf, LARGEST_HORIZON } from '../state/horizon.ts';
import { watchShares } from '../state/watch-time.ts';
import { PiecewisePath } from './capacity-path.ts';
import { createMpcD } from './mpc-d.ts';
import { MpcO } from './mpc-o.ts';
import { bestPlan } from './plan-search.ts';

const controller: Controller = new MpcO({ watchSeconds: Number.POSITIVE_INFINITY });

test('plans all segments that are left, if they are few, on the true path, by the viewers who still watch', () => {
  let changed = 0;
  const anyTime = fc.constantFrom(1, Number.POSITIVE_INFINITY);
  forAll([anyState(), anyPath(), anyTime], { numRuns: 300, seed: 1 }, (any, path, watchSeconds) => {
    fc.pre(any.segmentsRemaining <= LARGEST_HORIZON);
    // Most viewers leave at the start.
    const state = { ...any, nowSeconds: 0 };
    const options = { horizon: LARGEST_HORIZON, bufferCap: true };
    const shares = watchShares(state, state.segmentsRemaining - 1, watchSeconds);
    const { representation } = bestPlan(state, path, { ...options, watchShares: shares });
    const decision = new MpcO({ watchSeconds }).decide(state, alongPath(path, 0));
    const source = { controller: 'mpc-o', forecastSource: 'oracle', forecastAgeSeconds: 0 };
    expect(decision).toMatchObject({ representation, ...source });
    if (representation !== bestPlan(state, path, options).representation) changed++;
  });
  expect(changed).toBeGreaterThan(0);
});

test('values a buffered second after the horizon by what the link delivers in it', () => {
  let changed = 0;
  for (const mbps of [0.5, 1.5, 2.5, 3.5, 8, 30]) {
    // The path is fast at first, so that only what follows the 6 segments of 4 s counts.
    const path = new PiecewisePath({ stepEndsSeconds: [24, 160], ratesBps: [2.2e6, mbps * 1e6] });
    // With linear quality; a link above the ladder has bits to spare.
    const bufferValuePerSecond = (mbps > 4 ? (4 * 4) / mbps : mbps) / 4;
    for (let bufferLevelSeconds = 2; bufferLevelSeconds <= 12; bufferLevelSeconds++) {
      const session = { bufferLevelSeconds, bufferCapSeconds: 16, segmentsRemaining: 40, previousBitrateBps: 2e6 };
      const state = stateOf([1e6, 2e6, 4e6], session);
      const plan = (options: object) => bestPlan(state, path, { horizon: 6, bufferCap: true, ...options });
      const { representation } = controller.decide(state, alongPath(path, state.nowSeconds));
      expect(representation).toBe(plan({ bufferValuePerSecond }).representation);
      if (representation !== plan({}).representation) changed++;
    }
  }
  expect(changed).toBeGreaterThan(0);
});

test('plans as many segments as mpc-l does, or the option', () => {
  const forecast = alongPath(new PiecewisePath({ stepEndsSeconds: [5, 10], ratesBps: [5e6, 2e6] }));
  forAll([fc.constantFrom(1, 2, 4), between(2, 60)], { seed: 4 }, (segmentSeconds, bufferCapSeconds) => {
    const state = stateOf([1e6, 4e6], { segmentSeconds, bufferCapSeconds, segmentsRemaining: 48 });
    const reasonOf = (planner: Controller) => planner.decide(state, forecast).reason;
    expect(reasonOf(controller)).toMatch(new RegExp(`over ${horizonOf(state)} segments$`));
    expect(reasonOf(new MpcO({ horizon: 3 }))).toMatch(/over 3 segments$/);
  });
});

test('plans from now on a path of an earlier forecast', () => {
  forAll([anyState(), whole(0, 60)], { numRuns: 200, seed: 2 }, (state, age) => {
    const path = new PiecewisePath({ stepEndsSeconds: [7, 15, 31], ratesBps: [9e6, 1e6, 4e6] });
    const old = controller.decide(state, alongPath(path, state.nowSeconds - age));
    const fresh = controller.decide(state, alongPath(path.from(age), state.nowSeconds));
    expect(old.representation).toBe(fresh.representation);
    expect(old.forecastAgeSeconds).toBe(age);
  });
});

test('decides as mpc-d unless the forecast is a path, and never abandons', () => {
  expect(controller.reconsider).toBeUndefined();
  const noPath = fc.constantFrom(undefined, quantilesOf(1e6));
  forAll([anyState(anyDownloads()), noPath], { numRuns: 200, seed: 3 }, (state, forecast) => {
    const decision = controller.decide(state, forecast);
    expect(decision.representation).toBe(createMpcD().decide(state).representation);
    expect(decision.controller).toBe('mpc-o');
    expect(decision.reason).toMatch(/^no path: mpc-d/);
  });
});
