import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CapacityPath } from './capacity-path.ts';
import type { PlayerState } from './controller.ts';
import { Planner, TIE_TOLERANCE } from './planner.ts';
import { anyPath, anyState } from './random-states.fixture.ts';

/**
 * Every plan in lexicographic order, by the recurrence in qoe.ts's terms; the best value per first representation and
 * the first plan that is better than all before it (beyond the tolerance).
 */
function bruteForce(state: PlayerState, path: CapacityPath, horizon: number, knowsCap: boolean) {
  const { ladderBps, weights, segmentSeconds, bufferCapSeconds, upcomingSizesBits } = state;
  const depth = Math.min(horizon, state.segmentsRemaining);
  const q = ladderBps.map((bps) => weights.quality(bps));
  const margin = TIE_TOLERANCE * Math.max(...q.map(Math.abs));
  const values = ladderBps.map(() => Number.NEGATIVE_INFINITY);
  let best = Number.NEGATIVE_INFINITY;
  let representation = 0;
  const plan: number[] = [];

  const go = (k: number, time: number, buffer: number, rebuffer: number, quality: number, changes: number) => {
    if (k === depth) {
      const value = quality - weights.mu * rebuffer - weights.lambda * changes;
      const first = plan[0]!;
      if (value > values[first]!) values[first] = value;
      if (value > best + margin || best === Number.NEGATIVE_INFINITY) {
        if (value > Number.NEGATIVE_INFINITY) {
          best = value;
          representation = first;
        }
      }
      return;
    }
    for (let r = 0; r < q.length; r++) {
      plan[k] = r;
      const isStartup = k === 0 && !state.started;
      const wait =
        knowsCap && !isStartup ? Math.min(buffer, Math.max(0, buffer + segmentSeconds - bufferCapSeconds)) : 0;
      const row = upcomingSizesBits[Math.min(k, upcomingSizesBits.length - 1)]!;
      const d = path.downloadSeconds(time + wait, row[r]!);
      const level = buffer - wait;
      const rebuf = isStartup ? d : Math.max(d - level, 0);
      const after = (isStartup ? level : Math.max(level - d, 0)) + segmentSeconds;
      const before = k > 0 ? q[plan[k - 1]!]! : state.previousBitrateBps && weights.quality(state.previousBitrateBps);
      const change = before === undefined ? 0 : Math.abs(q[r]! - before);
      go(
        k + 1,
        time + wait + d,
        after,
        d === Number.POSITIVE_INFINITY ? d : rebuffer + rebuf,
        quality + (q[r]! * segmentSeconds) / 4,
        changes + change,
      );
    }
  };
  go(0, 0, state.bufferLevelSeconds, 0, 0, 0);
  return { representation, values };
}

describe('Planner', () => {
  for (const bufferCap of [false, true]) {
    test(`equals brute force in 10,000 random states, ties included, ${bufferCap ? 'with' : 'without'} a cap`, () => {
      const planners = [1, 2, 3, 4, 5].map((horizon) => new Planner({ horizon, bufferCap }));
      fc.assert(
        fc.property(anyState(), anyPath(), fc.integer({ min: 1, max: 5 }), (state, path, horizon) => {
          const depth = state.ladderBps.length > 4 ? Math.min(horizon, 4) : horizon;
          const planner = planners[depth - 1]!;
          const expected = bruteForce(state, path, depth, bufferCap);
          const plan = planner.plan(state, path);
          expect(plan.representation).toBe(expected.representation);
          const best = Math.max(...expected.values);
          const scale = 1 + Math.abs(best);
          if (best === Number.NEGATIVE_INFINITY) expect(plan.value).toBe(best);
          else expect(Math.abs(plan.value - best) / scale).toBeLessThan(1e-8);
          const { values } = planner.weigh(path);
          expected.values.forEach((value, r) => {
            if (value === Number.NEGATIVE_INFINITY) expect(values[r]).toBe(value);
            else expect(Math.abs(values[r]! - value) / (1 + Math.abs(value))).toBeLessThan(1e-8);
          });
        }),
        { numRuns: 10_000, seed: 1 },
      );
    });
  }
});
