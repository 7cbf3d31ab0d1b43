import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PlayerState } from '../controller.ts';
import { forAll, whole } from '../property.fixture.ts';
import { beginShare, sessionQoe } from '../qoe/qoe.ts';
import { anyPath, anyState, stateOf } from '../random-states.fixture.ts';
import { type CapacityPath, ConstantPath } from './capacity-path.ts';
import { bestPlan, type PlanOptions, TIE_TOLERANCE } from './plan-search.ts';

/**
 * Every plan in lexicographic order, in the terms of qoe.ts; the best value per first representation, and the first
 * plan that is better than all before it (by more than the tolerance).
 */
function bruteForce(
  state: PlayerState,
  path: CapacityPath,
  { horizon, bufferCap: knowsCap, bufferValuePerSecond = 0, watchShares = [] }: PlanOptions,
) {
  const { ladderBps, weights, upcomingSizesBits, previousBitrateBps, playbackRate, isPaused } = state;
  // Playing time of a segment and of a buffer at the cap.
  const segmentSeconds = state.segmentSeconds / playbackRate;
  const bufferCapSeconds = state.bufferCapSeconds / playbackRate;
  const depth = Math.min(horizon, state.segmentsRemaining);
  const q = ladderBps.map((bps) => weights.quality(bps));
  const qBefore = previousBitrateBps === undefined ? undefined : weights.quality(previousBitrateBps);
  const margin = TIE_TOLERANCE * Math.max(...q.map(Math.abs));
  const values = ladderBps.map(() => Number.NEGATIVE_INFINITY);
  let best = Number.NEGATIVE_INFINITY;
  let representation = 0;

  const plan: number[] = [];
  const go = (k: number, time: number, buffer: number, sum: number) => {
    if (k === depth) {
      const value = sum + bufferValuePerSecond * buffer;
      const first = plan[0]!;
      values[first] = Math.max(values[first]!, value);
      if (value > best + margin || (best === Number.NEGATIVE_INFINITY && value > best)) {
        best = value;
        representation = first;
      }
      return;
    }
    const isFree = k === 0 && isPaused;
    const isStill = isFree || (k === 0 && !state.started);
    const wait = knowsCap && !isStill ? Math.min(buffer, Math.max(0, buffer + segmentSeconds - bufferCapSeconds)) : 0;
    const level = buffer - wait;
    const before = k > 0 ? q[plan[k - 1]!] : qBefore;
    for (let r = 0; r < q.length; r++) {
      const size = upcomingSizesBits[Math.min(k, upcomingSizesBits.length - 1)]![r]!;
      const d = path.downloadSeconds(time + wait, size);
      if (d === Number.POSITIVE_INFINITY) continue;
      plan[k] = r;
      const stall = isFree ? 0 : isStill ? d : Math.max(d - level, 0);
      const price = q[r]! > (before ?? 0) ? (weights.rise ?? weights.lambda) : weights.lambda;
      const change = before === undefined ? 0 : price * Math.abs(q[r]! - before);
      const begin = k > 0 || state.started ? (weights.stall ?? 0) * beginShare(stall) : 0;
      const terms = (q[r]! * state.segmentSeconds) / 4 - weights.mu * stall - begin - change;
      const left = isStill ? level : Math.max(level - d, 0);
      go(k + 1, time + wait + d, left + segmentSeconds, sum + (watchShares[k] ?? 1) * terms);
    }
  };
  go(0, 0, state.bufferLevelSeconds / playbackRate, 0);
  return { representation, values };
}

const isClose = (a: number, b: number) => a === b || Math.abs(a - b) <= 1e-8 * (1 + Math.abs(b));

/** The largest horizon up to this one with at most 700 plans. */
function affordable(horizon: number, count: number): number {
  let depth = horizon;
  while (count ** depth > 700) depth--;
  return depth;
}

/** The value of a second of buffer after the plan, as a share of mu. */
const anyShare = fc.constantFrom(0, 0, 0.1, 1);
/** `stay`: share of the viewers who watch another segment. */
const anyWish = fc.record({ wished: whole(1, 8), share: anyShare, stay: fc.constantFrom(1, 1, 0.9, 0.5) });

test.each([false, true])('equals brute force in 2,000 random states, ties included; with a cap: %p', (bufferCap) => {
  let [ties, dead] = [0, 0];
  forAll([anyState(), anyPath(), anyWish], { numRuns: 2000, seed: 1 }, (state, path, { wished, share, stay }) => {
    const horizon = affordable(wished, state.ladderBps.length);
    const watchShares = Array.from({ length: horizon }, (_, k) => stay ** k);
    const bufferValuePerSecond = share * watchShares.at(-1)! * state.weights.mu;
    const options = { horizon, bufferCap, bufferValuePerSecond, watchShares };
    const expected = bruteForce(state, path, options);
    const best = Math.max(...expected.values);
    const equals = expected.values.filter((value) => isClose(value, best));
    if (best === Number.NEGATIVE_INFINITY) dead++;
    else if (equals.length > 1) ties++;
    const plan = bestPlan(state, path, options);
    const values = expected.values.map((_, first) => bestPlan(state, path, { ...options, first }).value);
    const isRight = isClose(plan.value, best) && expected.values.every((value, r) => isClose(values[r]!, value));
    if (!isRight) expect({ ...plan, values }).toEqual({ ...expected, value: best });
    expect(plan.representation).toBe(expected.representation);
  });
  expect(ties).toBeGreaterThan(100);
  expect(dead).toBeGreaterThan(100);
});

// Here the search prunes most, and plans as far as MPC-L and MPC-O.
test.each([
  { count: 6, horizon: 6, numRuns: 30 },
  { count: 2, horizon: 16, numRuns: 8 },
])('equals brute force: $count representations, $horizon segments', ({ count, horizon, numRuns }) => {
  const states = anyState().filter((state) => state.ladderBps.length === count && state.segmentsRemaining >= horizon);
  forAll([states, anyPath(), fc.boolean(), anyShare], { numRuns, seed: 5 }, (state, path, bufferCap, share) => {
    const options = { horizon, bufferCap, bufferValuePerSecond: share * state.weights.mu };
    const plan = bestPlan(state, path, options);
    const expected = bruteForce(state, path, options);
    expect(plan.representation).toBe(expected.representation);
    expect(isClose(plan.value, Math.max(...expected.values))).toBe(true);
  });
});

test('law: the value never falls with capacity or buffer, and never rises with a price', () => {
  // Before playback and in a pause, a slower first download is free, and the link may be faster after it.
  const playing = anyState().filter(({ started, isPaused }) => started && !isPaused);
  forAll([playing, anyPath(), whole(1, 6)], { numRuns: 500, seed: 6 }, (state, path, horizon) => {
    const { bufferLevelSeconds, upcomingSizesBits, weights } = state;
    const { value } = bestPlan(state, path, { horizon });
    const prices = ['mu', 'lambda', 'rise', 'stall'] as const;
    const better: Partial<PlayerState>[] = [
      { bufferLevelSeconds: bufferLevelSeconds + 2 },
      // More capacity.
      { upcomingSizesBits: upcomingSizesBits.map((row) => row.map((bits) => 0.7 * bits)) },
      ...prices.map((name) => ({ weights: { ...weights, [name]: weights[name] && 0.5 * weights[name] } })),
    ];
    const values = better.map((change) => bestPlan({ ...state, ...change }, path, { horizon }).value);
    for (const one of values) expect(isClose(one, value) || one > value).toBe(true);
  });
});

const LADDER_BPS = [1e6, 4e6];

test('reports the stalls of its plan', () => {
  const plan = bestPlan(stateOf(LADDER_BPS, { bufferLevelSeconds: 1 }), new ConstantPath(1e6), { horizon: 2 });
  // Each segment takes 4 s. The buffer covers 1 s of the first download, and the whole second download.
  expect(plan).toEqual({ representation: 0, value: 1 + 1 - 4 * 3, bufferValue: 0, stallSeconds: 3, segments: 2 });
});

test('charges the whole first download before the first picture', () => {
  const state = stateOf(LADDER_BPS, { started: false, bufferLevelSeconds: 0, previousBitrateBps: undefined });
  const plan = bestPlan(state, new ConstantPath(8e6, 0.25), { horizon: 1 });
  expect(plan).toEqual({ representation: 0, value: 1 - 4 * 0.75, bufferValue: 0, stallSeconds: 0.75, segments: 1 });
  // As in the session's QoE, startup counts like a stall.
  const session = { bitratesBps: [1e6], segmentSeconds: 4, startupSeconds: 0.75, stallSeconds: 0 };
  expect(plan.value).toBe(sessionQoe(session, state.weights).qoe);
});

test('without sizes it plans with bitrate * duration', () => {
  const plan = (upcomingSizesBits: number[][]) =>
    bestPlan(stateOf(LADDER_BPS, { upcomingSizesBits }), new ConstantPath(3e6), { horizon: 3 });
  expect(plan([])).toEqual(plan([[4e6, 16e6]]));
});
