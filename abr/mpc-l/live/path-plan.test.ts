import { describe, expect, test } from '@jest/globals';
import { createController } from '../../algorithms.ts';
import { type CapacityPath, ConstantPath } from '../../capacity-path.ts';
import type { Download, InFlight, PlayerState } from '../../controller.ts';
import { qoeWeights } from '../../qoe.ts';
import { validForecast } from '../../valid-forecast.ts';

const LADDER_BPS = [1, 2.5, 5, 8, 12, 16, 22, 30].map((mbps) => mbps * 1e6);
const SEGMENT_SECONDS = 2;
const RATE_BPS = 25e6;

/** A second behind the edge, on a link whose downloads all had `RATE_BPS`. */
function liveState(changes: Partial<PlayerState> = {}): PlayerState {
  const downloads = Array.from({ length: 8 }, (_, i): Download => {
    const sizeBits = 16e6 * SEGMENT_SECONDS;
    const downloadSeconds = sizeBits / RATE_BPS;
    return {
      segmentIndex: i,
      bitrateBps: 16e6,
      receivedBits: sizeBits,
      sizeBits,
      requestedAtSeconds: 2 * i,
      downloadSeconds,
      latencySeconds: 0.04,
      abandoned: false,
    };
  });
  return {
    nowSeconds: 16,
    utcMs: 0,
    started: true,
    playbackRate: 1,
    isPaused: false,
    bufferLevelSeconds: 0.5,
    bufferCapSeconds: 2.5,
    segmentSeconds: SEGMENT_SECONDS,
    segmentIndex: 8,
    segmentsRemaining: Number.POSITIVE_INFINITY,
    ladderBps: LADDER_BPS,
    upcomingSizesBits: [LADDER_BPS.map((bps) => bps * SEGMENT_SECONDS)],
    previousBitrateBps: 16e6,
    downloads,
    weights: qoeWeights('linear', LADDER_BPS),
    live: {
      latencySeconds: 1,
      targetLatencySeconds: 1,
      chunkSeconds: 0.25,
      playbackRates: { min: 0.95, max: 1.05 },
      maxLatencySeconds: 5,
      firstChunkAtSeconds: 16,
    },
    ...changes,
  };
}

const forecastOf = (path: CapacityPath) =>
  validForecast({ kind: 'paths', issuedAtMs: 16e3, source: 'test', paths: [{ weight: 1, path }], handovers: [] });
const pathOf = (bps: number) => forecastOf(new ConstantPath(bps));

describe('MPC-D a second behind the edge', () => {
  test('plays what the link carries, because playback begins with the first chunk', () => {
    const { representation, reason, candidates } = createController('mpc-d').decide(
      liveState({ previousBitrateBps: 5e6 }),
    );
    expect(LADDER_BPS[representation]).toBe(22e6);
    expect(reason).toMatch(/^25\.0 Mbit\/s .*: QoE .* stall 0\.00 s$/);
    expect(candidates![7]!.expectedStallSeconds).toBeGreaterThan(0.3);
  });

  test('as the textbook has it, fears that each download drains the half second of buffer', () => {
    const { representation } = createController('mpc-d:textbook').decide(liveState({ previousBitrateBps: 5e6 }));
    expect(LADDER_BPS[representation]).toBeLessThanOrEqual(5e6);
  });

  test('is the textbook on demand', () => {
    const { live: _, ...state } = liveState({ bufferLevelSeconds: 3, bufferCapSeconds: 16 });
    const { controller, ...decision } = createController('mpc-d').decide(state);
    expect({ ...decision, controller: `${controller}:textbook` }).toEqual(
      createController('mpc-d:textbook').decide(state),
    );
  });

  test('abandons a dead download, and keeps one that is late by a second', () => {
    const controller = createController('mpc-d:abandon');
    const inFlight: InFlight = {
      segmentIndex: 8,
      bitrateBps: 22e6,
      sizeBits: 44e6,
      requestedAtSeconds: 13.5,
      receivedBits: 1e6,
      firstByteAtSeconds: 13.6,
      abandonments: 0,
    };
    const decision = controller.reconsider!(liveState(), inFlight);
    expect(decision).toMatchObject({ representation: 0 });
    expect(controller.reconsider!(liveState(), { ...inFlight, receivedBits: 25e6 })).toBe('keep');
  });
});

describe('MPC-O at the live edge', () => {
  const controller = createController('mpc-o');

  test.each([6e6, 14e6, 25e6])('plays what the true path of %d bit/s carries, whatever was measured', (bps) => {
    const { representation, forecastSource } = controller.decide(
      liveState({ previousBitrateBps: undefined }),
      pathOf(bps),
    );
    const carried = LADDER_BPS.filter((one) => one <= bps).pop();
    expect(LADDER_BPS[representation]).toBe(carried);
    expect(forecastSource).toBe('test');
  });

  test('slows down before an outage on its path, and keeps the rate on a steady one', () => {
    const dead = {
      ...new ConstantPath(25e6),
      cumulativeBits: (seconds: number) => 25e6 * (seconds - Math.min(0.6, Math.max(0, seconds - 4))),
      downloadSeconds: () => 0,
    };
    const outage = forecastOf(dead);
    const state = liveState({ previousBitrateBps: 16e6 });
    expect(controller.pace!(state, undefined, outage).playbackRate).toBeLessThan(1);
    expect(controller.pace!(state, undefined, pathOf(25e6)).playbackRate).toBe(1);
  });

  test('returns to the target without a path', () => {
    const state = liveState();
    const late = { ...state, live: { ...state.live!, latencySeconds: 1.5 } };
    expect(controller.pace!(late, undefined).playbackRate).toBeGreaterThan(1);
    expect(controller.decide(state).reason).toMatch(/^no path: mpc-d/);
  });
});
