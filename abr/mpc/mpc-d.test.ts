import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Download, InFlight, PlayerState } from '../controller.ts';
import { between, forAll } from '../property.fixture.ts';
import {
  anyDownloads,
  anyState,
  inFlightOf as downloadOf,
  downloadsOf,
  stateOf as runningState,
} from '../random-states.fixture.ts';
import { robustThroughput } from '../state/robust-throughput.ts';
import { ConstantPath } from './capacity-path.ts';
import { createMpcD } from './mpc-d.ts';
import { bestPlan } from './plan-search.ts';

// plan-search.test.ts compares plans with brute force.
test('takes the best plan on the robust throughput, five segments ahead unless told otherwise', () => {
  const states = anyState(anyDownloads()).filter(({ downloads }) => downloads.length > 0);
  const horizons = fc.constantFrom(undefined, 1, 2, 3, 4);
  forAll([states, horizons, fc.boolean()], { numRuns: 1000, seed: 1 }, (state, horizon, bufferCap) => {
    const controller = createMpcD({ bufferCap, ...(horizon !== undefined && { horizon }) });
    const { representation, plannedThroughputBps } = controller.decide(state);
    const bps = robustThroughput(state.downloads)!.robustBps;
    expect(plannedThroughputBps).toBe(bps);
    const plan = bestPlan(state, new ConstantPath(bps), { horizon: horizon ?? 5, bufferCap });
    expect(representation).toBe(plan.representation);
  });
});

test('takes the lowest before the first measurement, with that reason', () => {
  expect(createMpcD().decide(stateOf({ downloads: [] }))).toEqual({
    representation: 0,
    controller: 'mpc-d',
    reason: 'nothing measured yet: lowest',
  });
});

test('abandons only with `abandon`', () => {
  expect(createMpcD().reconsider).toBeUndefined();
});

describe('mpc-d:abandon', () => {
  const controller = createMpcD({ abandon: true });
  const reconsider = (state: Partial<PlayerState>, inFlight: Partial<InFlight>) =>
    controller.reconsider!(stateOf({ bufferLevelSeconds: 3, ...state }), inFlightOf(inFlight));

  // 31 or 32 Mbit remain at 0.5 Mbit/s or less, with 3 s buffered.
  test.each<[string, Partial<PlayerState>, Partial<InFlight>]>([
    ['that would outlast the buffer', {}, { receivedBits: 1e6 }],
    ['on a dead link', {}, { receivedBits: 0 }],
    ['that replaces another', {}, { receivedBits: 0, abandonments: 1 }],
  ])('abandons a download %s, for the lowest', (_, state, inFlight) => {
    const answer = reconsider(state, inFlight);
    expect(answer).toMatchObject({ representation: 0, controller: 'mpc-d' });
  });

  test.each<[string, Partial<PlayerState>, Partial<InFlight>]>([
    ['that arrives in time', {}, { receivedBits: 20e6 }],
    ['with fewer bits left than any lower representation', { bufferLevelSeconds: 0.1 }, { receivedBits: 29e6 }],
    ['in its first half second', { nowSeconds: 10.4 }, {}],
    ['that replaces two others', {}, { abandonments: 2 }],
    ['whose bitrate has left the ladder', {}, { bitrateBps: 5e6 }],
  ])('keeps a download %s', (_, state, inFlight) => {
    expect(reconsider(state, inFlight)).toBe('keep');
  });

  test('only goes down, to a download with fewer bits, in any state', () => {
    // A higher representation, late, with little left in the buffer.
    const lowOnMedia = fc.tuple(anyState(anyDownloads()), between(0, 0.3)).map(([state, share]) => {
      return { ...state, started: true, isPaused: false, bufferLevelSeconds: share * state.bufferLevelSeconds };
    });
    const states = fc.oneof(anyState(anyDownloads()), { arbitrary: lowOnMedia, weight: 4 });
    let hits = 0;
    forAll(
      [states, fc.nat(5), between(0, 1), between(0, 20)],
      { numRuns: 2000, seed: 5 },
      (state, choice, share, elapsed) => {
        const current = state.ladderBps.length - 1 - (choice % state.ladderBps.length);
        const inFlight = downloadOf(state, current, share, elapsed);
        const decision = controller.reconsider!(state, inFlight);
        if (decision === 'keep') return;
        hits++;
        expect(state.ladderBps[decision.representation]!).toBeLessThanOrEqual(inFlight.bitrateBps);
        const bits = state.upcomingSizesBits[0]![decision.representation]!;
        expect(bits).toBeLessThan(inFlight.sizeBits - inFlight.receivedBits);
      },
    );
    expect(hits).toBeGreaterThan(200);
  });

  test('the next decision counts the abandoned attempt', () => {
    const [download] = stateOf({}).downloads as [Download];
    const attempt: Download = { ...download, segmentIndex: 3, receivedBits: 1e6, downloadSeconds: 2, abandoned: true };
    const repeated: Download = { ...download, segmentIndex: 3, receivedBits: 4e6, sizeBits: 4e6, downloadSeconds: 1 };
    const decision = controller.decide(stateOf({ downloads: [attempt, repeated] }));
    expect(decision.plannedThroughputBps).toBeCloseTo(5e6 / 3, 3);
  });
});

/** Three representations, one download at 4 Mbit/s behind it; second 12 of the session. */
function stateOf(changes: Partial<PlayerState>): PlayerState {
  const downloads = downloadsOf(4, 8e6, 32e6, 8).slice(3);
  const state = { nowSeconds: 12, segmentIndex: 4, segmentsRemaining: 10, previousBitrateBps: 8e6, downloads };
  return runningState([1e6, 4e6, 8e6], { ...state, ...changes });
}

/** The top representation, requested at second 10. */
function inFlightOf(overrides: Partial<InFlight>): InFlight {
  return { ...downloadOf(stateOf({}), 2, 0, 2), ...overrides };
}
