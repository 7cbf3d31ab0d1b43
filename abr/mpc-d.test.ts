import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Download, InFlight, PlayerState } from './controller.ts';
import { createMpcD } from './mpc-d.ts';
import { anyDownloads, anyState, downloadsOf, stateOf as runningState } from './random-states.fixture.ts';

/**
 * RobustMPC as in Pensieve's artifact, independent of the implementation: errors and means over the whole history, then
 * all plans in the order of nested loops; the first best plan wins.
 */
function reference(state: PlayerState, horizon: number): number {
  if (state.downloads.length === 0) return 0;
  const C: number[] = [];
  const est: number[] = [];
  const err: number[] = [];
  for (const { sizeBits, downloadSeconds } of state.downloads) {
    const c = sizeBits / downloadSeconds;
    err.push(est.length === 0 ? 0 : Math.abs(est.at(-1)! - c) / c);
    C.push(c);
    const last = C.slice(-5);
    est.push(last.length / last.reduce((sum, x) => sum + 1 / x, 0));
  }
  const chat = est.at(-1)! / (1 + Math.max(...err.slice(-5)));

  const q = state.ladderBps.map((bps) => state.weights.quality(bps));
  const steps = Math.min(horizon, state.segmentsRemaining);
  const sizes = Array.from({ length: steps }, (_, k) => state.upcomingSizesBits[k] ?? state.upcomingSizesBits.at(-1)!);
  const qBefore = state.previousBitrateBps === undefined ? undefined : state.weights.quality(state.previousBitrateBps);
  const tolerance = 1e-9 * Math.max(...q.map(Math.abs));
  const total = q.length ** steps;
  let bestValue = Number.NEGATIVE_INFINITY;
  let bestFirst = 0;
  for (let code = 0; code < total; code++) {
    let B = state.bufferLevelSeconds / state.playbackRate;
    let value = 0;
    let before = qBefore;
    // The plan is the number's digits in base q.length, the first segment's the most significant.
    let rest = code;
    let place = total;
    for (let k = 0; k < steps; k++) {
      place /= q.length;
      const r = Math.floor(rest / place);
      rest -= r * place;
      const d = sizes[k]![r]! / chat;
      const isFree = k === 0 && state.isPaused;
      value += (q[r]! * state.segmentSeconds) / 4 - (isFree ? 0 : state.weights.mu * Math.max(d - B, 0));
      if (before !== undefined) value -= state.weights.lambda * Math.abs(q[r]! - before);
      B = (isFree ? B : Math.max(B - d, 0)) + state.segmentSeconds / state.playbackRate;
      before = q[r]!;
    }
    if (value > bestValue + tolerance) {
      bestValue = value;
      bestFirst = Math.floor((code * q.length) / total);
    }
  }
  return bestFirst;
}

describe('mpc-d', () => {
  test('equals the reference in 10,000 random states, ties included', () => {
    const controllers = Array.from({ length: 5 }, (_, i) => createMpcD({ horizon: i + 1 }));
    fc.assert(
      fc.property(anyState({ downloads: anyDownloads() }), fc.integer({ min: 1, max: 5 }), (state, wished) => {
        let horizon = wished;
        while (state.ladderBps.length ** horizon > 700) horizon--;
        const { representation } = controllers[horizon - 1]!.decide(state);
        if (representation !== reference(state, horizon)) expect(representation).toBe(reference(state, horizon));
      }),
      { numRuns: 10_000, seed: 1 },
    );
  });

  test('equals the reference at its own horizon and ladder: 7,776 plans each', () => {
    const states = anyState({ downloads: anyDownloads() }).filter(
      (state) => state.ladderBps.length === 6 && state.segmentsRemaining >= 5,
    );
    const controller = createMpcD();
    fc.assert(
      fc.property(states, (state) => {
        expect(controller.decide(state).representation).toBe(reference(state, 5));
      }),
      { numRuns: 150, seed: 2 },
    );
  });

  test('takes the lowest before the first measurement, with that reason', () => {
    expect(createMpcD().decide(stateOf({ downloads: [] }))).toEqual({
      representation: 0,
      controller: 'mpc-d',
      reason: 'nothing measured yet: lowest',
    });
  });

  test('is free of scale: bits and quality by 2 or by 1/2 change no decision', () => {
    for (const options of [{}, { bufferCap: true }]) {
      const controller = createMpcD(options);
      fc.assert(
        fc.property(anyState({ downloads: anyDownloads() }), fc.constantFrom(2, 0.5), (state, factor) => {
          const { quality, mu, lambda } = state.weights;
          const scaled: PlayerState = {
            ...state,
            ladderBps: state.ladderBps.map((bps) => bps * factor),
            upcomingSizesBits: state.upcomingSizesBits.map((row) => row.map((bits) => bits * factor)),
            previousBitrateBps: state.previousBitrateBps && state.previousBitrateBps * factor,
            downloads: state.downloads.map((download) => ({
              ...download,
              bitrateBps: download.bitrateBps * factor,
              receivedBits: download.receivedBits * factor,
              sizeBits: download.sizeBits * factor,
            })),
            weights: { quality: (bps) => factor * quality(bps / factor), mu: factor * mu, lambda },
          };
          expect(controller.decide(scaled).representation).toBe(controller.decide(state).representation);
        }),
        { numRuns: 1000, seed: 4 },
      );
    }
  });

  test('reports an outlook of each representation with `outlook`', () => {
    const { candidates, representation } = createMpcD({ outlook: true }).decide(stateOf({}));
    expect(candidates!.map(({ bitrateBps }) => bitrateBps)).toEqual([1e6, 4e6, 8e6]);
    const best = Math.max(...candidates!.map(({ expectedQoe }) => expectedQoe));
    expect(candidates![representation]!.expectedQoe).toBe(best);
  });

  test('plays a ladder of one', () => {
    const state = stateOf({ ladderBps: [4e6], upcomingSizesBits: [[16e6]] });
    for (const options of [{}, { bufferCap: true }, { abandon: true }]) {
      expect(createMpcD(options).decide(state).representation).toBe(0);
    }
    const inFlight = inFlightOf({ bitrateBps: 4e6, sizeBits: 16e6 });
    expect(createMpcD({ abandon: true }).reconsider!(state, inFlight)).toBe('keep');
  });

  test('names its ablations; only `abandon` abandons', () => {
    expect(createMpcD().name).toBe('mpc-d');
    expect(createMpcD().reconsider).toBeUndefined();
    expect(createMpcD({ bufferCap: true }).name).toBe('mpc-d:cap');
    expect(createMpcD({ abandon: true }).name).toBe('mpc-d:abandon');
  });
});

describe('mpc-d:abandon', () => {
  const controller = createMpcD({ abandon: true });
  const reconsider = (state: Partial<PlayerState>, inFlight: Partial<InFlight>) =>
    controller.reconsider!(stateOf(state), inFlightOf(inFlight));

  test('abandons a download that would outlast the buffer', () => {
    // 1 Mbit in 2 s, 31 Mbit to go: a minute, with 3 s buffered.
    expect(reconsider({ bufferLevelSeconds: 3 }, { receivedBits: 1e6 })).toMatchObject({
      representation: 0,
      controller: 'mpc-d:abandon',
    });
  });

  test('keeps a download that arrives in time', () => {
    expect(reconsider({ bufferLevelSeconds: 3 }, { receivedBits: 20e6 })).toBe('keep');
  });

  test('keeps a download with fewer bits left than any lower representation', () => {
    expect(reconsider({ bufferLevelSeconds: 0.1 }, { receivedBits: 29e6 })).toBe('keep');
  });

  test('abandons for the lowest on a dead link', () => {
    expect(reconsider({ bufferLevelSeconds: 3 }, { receivedBits: 0 })).toMatchObject({ representation: 0 });
  });

  test('abandons nothing in the first half second', () => {
    expect(reconsider({ nowSeconds: 10.4 }, { receivedBits: 0 })).toBe('keep');
  });

  test('abandons a segment twice at most', () => {
    expect(reconsider({ bufferLevelSeconds: 3 }, { receivedBits: 0, abandonments: 1 })).not.toBe('keep');
    expect(reconsider({ bufferLevelSeconds: 3 }, { receivedBits: 0, abandonments: 2 })).toBe('keep');
  });

  test('keeps a download whose bitrate has left the ladder', () => {
    expect(reconsider({}, { bitrateBps: 5e6, receivedBits: 0 })).toBe('keep');
  });

  test('only goes down, to a download with fewer bits, in any state', () => {
    fc.assert(
      fc.property(
        anyState({ downloads: anyDownloads() }),
        fc.nat(5),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 20, noNaN: true }),
        (state, choice, share, elapsed) => {
          const current = choice % state.ladderBps.length;
          const sizeBits = state.upcomingSizesBits[0]![current]!;
          const inFlight = inFlightOf({
            bitrateBps: state.ladderBps[current]!,
            sizeBits,
            receivedBits: share * sizeBits,
            requestedAtSeconds: state.nowSeconds - elapsed,
          });
          const decision = controller.reconsider!(state, inFlight);
          if (decision === 'keep') return;
          expect(state.ladderBps[decision.representation]!).toBeLessThanOrEqual(inFlight.bitrateBps);
          const bits = state.upcomingSizesBits[0]![decision.representation]!;
          expect(bits).toBeLessThan(sizeBits - inFlight.receivedBits);
        },
      ),
      { numRuns: 2000, seed: 5 },
    );
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
  return {
    segmentIndex: 4,
    bitrateBps: 8e6,
    sizeBits: 32e6,
    requestedAtSeconds: 10,
    receivedBits: 0,
    abandonments: 0,
    ...overrides,
  };
}
