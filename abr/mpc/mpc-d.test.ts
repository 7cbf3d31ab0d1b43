import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InFlight, PlayerState } from '../controller.ts';
import { between, forAll } from '../property.fixture.ts';
import { anyDownloads, anyState, downloadsOf, inFlightOf, stateOf } from '../random-states.fixture.ts';
import { robustThroughput } from '../state/robust-throughput.ts';
import { ConstantPath } from './capacity-path.ts';
import { createMpcD } from './mpc-d.ts';
import { bestPlan } from './plan-search.ts';

// plan-search.test.ts compares plans with brute force.
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
