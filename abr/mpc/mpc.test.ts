import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CandidateOutlook, Controller, InFlight, PlayerState } from '../controller.ts';
import { createLiveMpcL } from '../mpc-l/live/live-mpc-l.ts';
import { between, forAll, whole } from '../property.fixture.ts';
import { beginShare } from '../qoe/qoe.ts';
import {
  alongPath,
  anyDownloads,
  anyNumber,
  anyPath,
  anyState,
  downloadsOf,
  inFlightOf,
  quantilesOf,
  runningSums,
  stateOf,
} from '../random-states.fixture.ts';
import { horizonOf, LARGEST_HORIZON, watchShares } from '../state/facts.ts';
import { robustThroughput } from '../state/robust-throughput.ts';
import {
  type CapacityPath,
  ConstantPath,
  PiecewisePath,
  type PiecewisePathOptions,
  ShiftedPath,
} from './capacity-path.ts';
import { createMpcD } from './mpc-d.ts';
import { MpcO } from './mpc-o.ts';
import { outlookOnPath } from './path-planner.ts';
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

const LADDER_BPS = [1e6, 4e6];

test('reports the stalls of its plan', () => {
  const plan = bestPlan(stateOf(LADDER_BPS, { bufferLevelSeconds: 1 }), new ConstantPath(1e6), { horizon: 2 });
  // Each segment takes 4 s. The buffer covers 1 s of the first download, and the whole second download.
  expect(plan).toEqual({ representation: 0, value: 1 + 1 - 4 * 3, bufferValue: 0, stallSeconds: 3, segments: 2 });
});

test('without sizes it plans with bitrate * duration', () => {
  const plan = (upcomingSizesBits: number[][]) =>
    bestPlan(stateOf(LADDER_BPS, { upcomingSizesBits }), new ConstantPath(3e6), { horizon: 3 });
  expect(plan([])).toEqual(plan([[4e6, 16e6]]));
});

test('takes the best plan on the robust throughput, five segments ahead unless told otherwise', () => {
  const states = anyState(anyDownloads()).filter(({ downloads }) => downloads.length > 0);
  const horizons = fc.constantFrom(undefined, 1, 2, 3, 4);
  forAll([states, horizons, fc.boolean()], { numRuns: 500, seed: 1 }, (state, horizon, bufferCap) => {
    const controller = createMpcD({ bufferCap, ...(horizon !== undefined && { horizon }) });
    const { representation, plannedThroughputBps } = controller.decide(state);
    const bps = robustThroughput(state.downloads)!.robustBps;
    expect(plannedThroughputBps).toBe(bps);
    const plan = bestPlan(state, new ConstantPath(bps), { horizon: horizon ?? 5, bufferCap });
    expect(representation).toBe(plan.representation);
  });
});

test('takes the lowest before the first measurement, with that reason, and never abandons without `abandon`', () => {
  const lowest = { representation: 0, controller: 'mpc-d', reason: 'nothing measured yet: lowest' };
  expect(createMpcD().decide(stateOf([1e6, 4e6, 8e6]))).toEqual(lowest);
  expect(createMpcD().reconsider).toBeUndefined();
});

const controller = createMpcD({ abandon: true });
/** Second 12, with 3 s buffered and one download at 4 Mbit/s. The top representation was requested at second 10. */
const downloads = downloadsOf(4, 8e6, 32e6, 8).slice(3);
const session = { nowSeconds: 12, segmentIndex: 4, segmentsRemaining: 10, bufferLevelSeconds: 3, downloads };
const running = stateOf([1e6, 4e6, 8e6], { ...session, previousBitrateBps: 8e6 });
const lowest = expect.objectContaining({ representation: 0, controller: 'mpc-d' });

test.each<[string, unknown, Partial<InFlight>, Partial<PlayerState>]>([
  // 31 or 32 Mbit remain at 0.5 Mbit/s or less.
  ['that would outlast the buffer, for the lowest', lowest, { receivedBits: 1e6 }, {}],
  ['on a dead link, for the lowest', lowest, { receivedBits: 0 }, {}],
  ['that replaces another, for the lowest', lowest, { receivedBits: 0, abandonments: 1 }, {}],
  ['unless it arrives in time', 'keep', { receivedBits: 20e6 }, {}],
  ['unless any lower one has more bits', 'keep', { receivedBits: 29e6 }, { bufferLevelSeconds: 0.1 }],
  ['unless it is in its first half second', 'keep', {}, { nowSeconds: 10.4 }],
  ['unless it replaces two others', 'keep', { abandonments: 2 }, {}],
  ['unless its bitrate has left the ladder', 'keep', { bitrateBps: 5e6 }, {}],
])('mpc-d:abandon abandons a download %s', (_, expected, inFlight, state) => {
  const download = { ...inFlightOf(running, 2, 0, 2), ...inFlight };
  expect(controller.reconsider!({ ...running, ...state }, download)).toEqual(expected);
});

test('mpc-d:abandon only goes down, to a download with fewer bits, in any state', () => {
  // A higher representation, late, with little left in the buffer.
  const lowOnMedia = fc.tuple(anyState(anyDownloads()), between(0, 0.3)).map(([state, share]) => {
    return { ...state, started: true, isPaused: false, bufferLevelSeconds: share * state.bufferLevelSeconds };
  });
  const states = fc.oneof(anyState(anyDownloads()), { arbitrary: lowOnMedia, weight: 4 });
  let hits = 0;
  const any = [states, fc.nat(5), between(0, 1), between(0, 20)] as const;
  forAll([...any], { numRuns: 1000, seed: 5 }, (state, choice, share, elapsed) => {
    const current = state.ladderBps.length - 1 - (choice % state.ladderBps.length);
    const inFlight = inFlightOf(state, current, share, elapsed);
    const decision = controller.reconsider!(state, inFlight);
    if (decision === 'keep') return;
    hits++;
    expect(state.ladderBps[decision.representation]!).toBeLessThanOrEqual(inFlight.bitrateBps);
    const bits = state.upcomingSizesBits[0]![decision.representation]!;
    expect(bits).toBeLessThan(inFlight.sizeBits - inFlight.receivedBits);
  });
  expect(hits).toBeGreaterThan(100);
});

describe('mpc-o', () => {
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
});

function closeTo(outlook: readonly CandidateOutlook[]) {
  const near = (value: number) =>
    Number.isFinite(value) ? expect.closeTo(value, 6 - Math.log10(1 + Math.abs(value))) : value;
  return outlook.map(({ bitrateBps, expectedQoe, expectedStallSeconds }) => {
    return { bitrateBps, expectedQoe: near(expectedQoe), expectedStallSeconds: near(expectedStallSeconds) };
  });
}

test('the outlook of a dead link is an endless stall', () => {
  const endless = { expectedQoe: Number.NEGATIVE_INFINITY, expectedStallSeconds: Number.POSITIVE_INFINITY };
  expect(outlookOnPath(stateOf([1e6]), new ConstantPath(0))).toMatchObject([endless]);
});

test('the outlook means the same in MPC-D, MPC-O and MPC-L', () => {
  const mpcD = createMpcD({ outlook: true, horizon: 1 });
  const mpcO = new MpcO({ outlook: true, horizon: 1 });
  const mpcL = createLiveMpcL({ abandon: false, horizon: 1, tuning: { stallLevelSeconds: 0 } });
  forAll([anyState(anyDownloads()), whole(1, 40)], { numRuns: 200, seed: 1 }, (state, mbps) => {
    fc.pre(state.downloads.length > 0);
    const ofD = mpcD.decide(state);
    expect(ofD.candidates).toEqual(outlookOnPath(state, new ConstantPath(ofD.plannedThroughputBps!)));
    // Without a measured latency, MPC-L expects 0.05 s.
    const path = new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [mbps * 1e6], latencySeconds: 0.05 });
    const ofO = mpcO.decide(state, alongPath(path));
    expect(ofO.candidates).toEqual(outlookOnPath(state, path));
    const downloads = downloadsOf(3, state.ladderBps[0]!, mbps * 1e6, 1);
    const ofL = mpcL.decide({ ...state, downloads }, quantilesOf(mbps * 1e6));
    expect(ofL.candidates!).toEqual(closeTo(ofO.candidates!));
    const all = [...ofD.candidates!, ...ofO.candidates!, ...ofL.candidates!];
    const gains = all.map(({ bitrateBps, expectedQoe }) => expectedQoe - state.weights.quality(bitrateBps));
    expect(Math.max(...gains)).toBeLessThanOrEqual(1e-9);
  });
});

const seconds = anyNumber(0, 60);
const sizeBits = anyNumber(1, 200).map((megabits) => megabits * 1e6);

/** Steps of integer and fractional length, also with rate 0. */
const anySteps: fc.Arbitrary<PiecewisePathOptions> = fc
  .array(fc.tuple(fc.oneof(fc.constant(1), anyNumber(0.1, 20)), fc.oneof(fc.constant(0), anyNumber(0.1, 50))), {
    minLength: 1,
    maxLength: 60,
  })
  .map((steps) => {
    const stepEndsSeconds = runningSums(steps.map(([length]) => length));
    return { stepEndsSeconds, ratesBps: steps.map(([, mbps]) => mbps * 1e6) };
  });

test('ConstantPath delivers rate * time, and bits flow from the first byte on', () => {
  const path = new ConstantPath(4e6);
  expect(path.cumulativeBits(2)).toBe(8e6);
  expect(path.downloadSeconds(7, 2e6)).toBe(0.5);
  const late = new PiecewisePath({ stepEndsSeconds: [1, 2], ratesBps: [0, 1e6], latencySeconds: 1.5 });
  expect(late.downloadSeconds(0, 0.5e6)).toBeCloseTo(2, 12);
});

test('cumulativeBits is the sum of the steps, again and again', () => {
  forAll([anySteps, seconds], { numRuns: 1000, seed: 2 }, ({ stepEndsSeconds, ratesBps }, at) => {
    const lengths = Array.from(stepEndsSeconds, (end, i) => end - (stepEndsSeconds[i - 1] ?? 0));
    let passed = 0;
    for (let i = 0, left = at; left > 0; left -= lengths[i]!, i = (i + 1) % lengths.length) {
      passed += ratesBps[i]! * Math.min(left, lengths[i]!);
    }
    const found = new PiecewisePath({ stepEndsSeconds, ratesBps }).cumulativeBits(at);
    expect(found / (passed || 1)).toBeCloseTo(passed > 0 ? 1 : 0, 9);
  });
});

test('downloadSeconds is the inverse of cumulativeBits, and the least', () => {
  forAll([anySteps, seconds, sizeBits], { numRuns: 1000, seed: 1 }, (steps, at, bits) => {
    const path = new PiecewisePath(steps);
    const end = at + path.downloadSeconds(at, bits);
    if (end === Number.POSITIVE_INFINITY) return;
    const arrived = path.cumulativeBits(end) - path.cumulativeBits(at);
    expect(Math.abs(arrived - bits)).toBeLessThan(1e-9 * path.cumulativeBits(end) + 1e-3);
    expect(path.cumulativeBits(end - 1e-4) - path.cumulativeBits(at)).toBeLessThan(bits - 1e-3);
  });
});

test('a path from a later origin is the same link, and origins add up', () => {
  forAll([anySteps, seconds, seconds, sizeBits], { numRuns: 300, seed: 5 }, (steps, origin, at, bits) => {
    const path = new PiecewisePath({ ...steps, latencySeconds: 0.04 });
    for (const seen of [path.from(origin), path.from(origin, 1).from(0, 0.04), new ShiftedPath(path, origin)]) {
      expect(seen.cumulativeBits(at)).toBe(path.cumulativeBits(origin + at) - path.cumulativeBits(origin));
      expect(seen.downloadSeconds(at, bits)).toBe(path.downloadSeconds(origin + at, bits));
    }
    const again = path.from(1).from(origin);
    expect(again.cumulativeBits(at)).toBe(path.from(1 + origin).cumulativeBits(at));
  });
});
