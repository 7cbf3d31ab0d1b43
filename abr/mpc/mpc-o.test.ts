import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Controller } from '../controller.ts';
import { CapacityRanks } from '../mpc-l/capacity-ranks.ts';
import { ForecastSteps } from '../mpc-l/forecast-steps.ts';
import { laterSegments } from '../mpc-l/later-segments.ts';
import { resolveMpcLOptions } from '../mpc-l/options.ts';
import { between, forAll, whole } from '../property.fixture.ts';
import { alongPath, anyDownloads, anyPath, anyState, quantilesOf, stateOf } from '../random-states.fixture.ts';
import { LARGEST_HORIZON } from '../state/horizon.ts';
import { watchShares } from '../state/watch-time.ts';
import { PiecewisePath } from './capacity-path.ts';
import { createMpcD } from './mpc-d.ts';
import { MpcO } from './mpc-o.ts';
import { bestPlan } from './plan-search.ts';

const controller: Controller = new MpcO({ watchSeconds: Number.POSITIVE_INFINITY });

test('plans all segments that are left on the true path with the buffer cap, if they are few', () => {
  forAll([anyState(), anyPath()], { numRuns: 500, seed: 1 }, (state, path) => {
    fc.pre(state.segmentsRemaining <= LARGEST_HORIZON);
    const plan = bestPlan(state, path, { horizon: LARGEST_HORIZON, bufferCap: true });
    const decision = controller.decide(state, alongPath(path, state.nowSeconds));
    expect(decision.representation).toBe(plan.representation);
    expect(decision).toMatchObject({ controller: 'mpc-o', forecastSource: 'oracle', forecastAgeSeconds: 0 });
  });
});

test('counts later segments by the viewers who still watch', () => {
  let changed = 0;
  forAll([anyState(), anyPath()], { numRuns: 200, seed: 1 }, (any, path) => {
    fc.pre(any.segmentsRemaining <= LARGEST_HORIZON);
    // Most viewers leave at the start.
    const state = { ...any, nowSeconds: 0 };
    const options = { horizon: state.segmentsRemaining, bufferCap: true };
    const shares = watchShares(state, state.segmentsRemaining - 1, 1);
    const plan = bestPlan(state, path, { ...options, watchShares: shares });
    const decision = new MpcO({ watchSeconds: 1 }).decide(state, alongPath(path, state.nowSeconds));
    expect(decision.representation).toBe(plan.representation);
    if (plan.representation !== bestPlan(state, path, options).representation) changed++;
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
      const state = stateOf([1e6, 2e6, 4e6], {
        ...{ bufferLevelSeconds, bufferCapSeconds: 16, segmentsRemaining: 40, previousBitrateBps: 2e6 },
      });
      const plan = (options: object) => bestPlan(state, path, { horizon: 6, bufferCap: true, ...options });
      const { representation } = controller.decide(state, alongPath(path, state.nowSeconds));
      expect(representation).toBe(plan({ bufferValuePerSecond }).representation);
      if (representation !== plan({}).representation) changed++;
    }
  }
  expect(changed).toBeGreaterThan(0);
});

test('plans as many segments as mpc-l does, or the option', () => {
  const ranks = new CapacityRanks(8, { weight: 0, tail: 1 });
  const path = new PiecewisePath({ stepEndsSeconds: [5, 10], ratesBps: [5e6, 2e6] });
  forAll([anyState(), between(2, 60)], { numRuns: 100, seed: 4 }, (any, bufferCapSeconds) => {
    const state = { ...any, bufferCapSeconds, segmentsRemaining: 48 };
    const forecast = alongPath(path, state.nowSeconds);
    const steps = new ForecastSteps(quantilesOf(1e6), 0);
    const { stages } = laterSegments(state, resolveMpcLOptions({}), steps, ranks, 0);
    const { reason } = controller.decide(state, forecast);
    expect(reason).toMatch(new RegExp(`over ${stages.length + 1} segments$`));
    expect(new MpcO({ horizon: 3 }).decide(state, forecast).reason).toMatch(/over 3 segments$/);
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
