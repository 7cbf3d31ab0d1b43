import { expect, test } from '@jest/globals';
import type { LiveState, PlayerState } from '../../controller.ts';
import type { QuantileForecast } from '../../forecast.ts';
import { type CapacityPath, ConstantPath, PiecewisePath } from '../../mpc/capacity-path.ts';
import { createMpcD } from '../../mpc/mpc-d.ts';
import { MpcO } from '../../mpc/mpc-o.ts';
import { forAll } from '../../property.fixture.ts';
import {
  alongPath,
  anyDownloads,
  anyLive,
  anyState,
  DIP,
  downloadsOf,
  FLUCTUATION,
  inFlightOf,
  liveOf,
  quantilesOf,
  stateOf,
} from '../../random-states.fixture.ts';
import { DEFAULT_RISK } from '../options.ts';
import { createLiveMpcL } from './live-mpc-l.ts';
import { PathPlan } from './path-plan.ts';

const UTC_MS = Date.UTC(2025, 0, 1);

/** Around a rate, with fluctuation and a handover in 3 s. */
function forecastOf(bps: number, changes: Partial<QuantileForecast> = {}) {
  const quantiles = { stepEndsSeconds: [1, 4, 12, 40], factors: [1, 1.1, 0.9, 1], shares: [0.7, 1, 1.3] };
  const handovers = [{ atMs: UTC_MS + 3000, confidence: 0.8, dip: DIP }];
  return quantilesOf(bps, { ...quantiles, handovers, fluctuation: FLUCTUATION, ...changes });
}

const anyLiveState = anyState(anyDownloads(6)).chain((state) => anyLive(state).map((live) => ({ ...state, live })));

/** A stream of 2 s segments in chunks of 0.5 s on a link of 10 Mbit/s, at its target. */
function steadyState(changes: Partial<PlayerState> = {}, live: Partial<LiveState> = {}): PlayerState {
  const downloads = downloadsOf(8, 4e6, 8e6, 0.85).map((one) => ({ ...one, latencySeconds: 0.05 }));
  const player = { bufferLevelSeconds: 0.9, bufferCapSeconds: 8, segmentSeconds: 2, previousBitrateBps: 4e6 };
  return stateOf([1e6, 2e6, 4e6, 8e6], { utcMs: UTC_MS, ...player, downloads, ...changes, live: liveOf(live) });
}

test('the reason of a pace says when the next handover is', () => {
  const reason = (changes?: Partial<PlayerState>) =>
    createLiveMpcL().pace!(steadyState(changes), undefined, forecastOf(10e6)).reason;
  expect(reason()).toBe('test: latency 1.20 s of 1.20 s; handover in 3.0 s');
  expect(reason({ utcMs: undefined })).toBe('test: latency 1.20 s of 1.20 s');
  expect(reason({ utcMs: UTC_MS + 4000 })).toBe('test: latency 1.20 s of 1.20 s');
});

test('playback that is too late jumps to the target of the stream', () => {
  const pace = (latencySeconds: number) =>
    createLiveMpcL().pace!(steadyState({}, { latencySeconds }), undefined, forecastOf(10e6));
  expect([4, 4.01, 3600].map((latencySeconds) => pace(latencySeconds).jump)).toEqual([false, true, true]);
  for (const latencySeconds of [3.9, 4.1]) expect(pace(latencySeconds)).toMatchObject({ targetLatencySeconds: 1.2 });
});

test('playback does not jump while the link carries less than the lowest bitrate', () => {
  const state = steadyState({}, { latencySeconds: 60 });
  const jumpAt = (bps: number) =>
    createLiveMpcL().pace!(state, { ...inFlightOf(state, 2, 0.1), recent: { bps, seconds: 1 } }, forecastOf(10e6)).jump;
  expect([0.9e6, 1.1e6].map(jumpAt)).toEqual([false, true]);
});

test('without a forecast MPC-D decides, and the pace leads to the target', () => {
  const [controller, mpcD] = [createLiveMpcL(), createMpcD({ live: new PathPlan() })];
  forAll([anyLiveState], { seed: 20260101, numRuns: 60 }, (state) => {
    expect(controller.decide(state).representation).toBe(mpcD.decide(state).representation);
    expect(controller.reconsider!(state, inFlightOf(state, state.ladderBps.length - 1, 0))).toBe('keep');
    const { latencySeconds, targetLatencySeconds, playbackRates } = state.live;
    const { playbackRate, reason } = controller.pace!(state, undefined);
    expect(reason).toMatch(/^(no usable forecast|nothing measured yet): /);
    const late = latencySeconds - targetLatencySeconds;
    if (late > 2) expect(playbackRate).toBe(playbackRates.max);
    if (late > 0.1) expect(playbackRate >= 1).toBe(true);
    if (late < -0.1) expect(playbackRate <= 1).toBe(true);
  });
  const rateAt = (latencySeconds: number) =>
    controller.pace!(steadyState({}, { latencySeconds }), undefined).playbackRate;
  expect([1, 1.2, 1.4].map((latencySeconds) => Math.sign(rateAt(latencySeconds) - 1))).toEqual([-1, 0, 1]);
});

test('abandons a download that would stall for long, and keeps one that comes in time', () => {
  const controller = createLiveMpcL();
  const downloads = steadyState().downloads.map((one) => ({ ...one, downloadSeconds: 8 }));
  const state = steadyState({ downloads, previousBitrateBps: 8e6 }, { firstChunkAtSeconds: 99 });
  const late = inFlightOf(state, 3, 0.05);
  const change = controller.reconsider!(state, late, forecastOf(1.2e6));
  expect(change).toMatchObject({ representation: expect.any(Number), reason: expect.stringContaining('abandoned') });
  const fast = steadyState({}, { firstChunkAtSeconds: 99 });
  expect(controller.reconsider!(fast, inFlightOf(fast, 2, 0.4), forecastOf(12e6))).toBe('keep');
  // A stall that is too short on average over the futures is no reason, though a lower segment would come sooner.
  const withLeast = (liveLateSeconds: number) =>
    createLiveMpcL({ tuning: { liveLateSeconds } }).reconsider!(state, inFlightOf(state, 3, 0.2), forecastOf(5e6));
  expect([withLeast(0.3), withLeast(0.6)]).toEqual([expect.objectContaining({ representation: 2 }), 'keep']);
});

test.each([1e308, -1e308])('for a segment at second %f no plan exists: the player decides', (firstChunkAtSeconds) => {
  const state = steadyState({}, { firstChunkAtSeconds });
  expect(() => createLiveMpcL().decide(state, forecastOf(10e6))).toThrow('no plan has a value');
});

test('goes down for a handover, and says so', () => {
  const atMs = UTC_MS + 1200;
  const state = steadyState({ previousBitrateBps: 8e6 });
  const reasonAt = (bps: number, confidence: number) => {
    const handovers = [{ atMs, confidence, dip: { ...DIP, depth: 0.7, levels: [0.5], seconds: [1] } }];
    return createLiveMpcL().decide(state, forecastOf(bps, { handovers })).reason;
  };
  const rates = Array.from({ length: 60 }, (_, i) => 4e6 + 0.1e6 * i);
  const lowered = rates.filter((bps) => reasonAt(bps, 0.99).includes('lower: handover expected in 1.2 s, 99 %; '));
  expect(lowered.length).toBeGreaterThan(0);
  for (const bps of lowered) expect(reasonAt(bps, 0)).not.toContain('lower: handover');
});

const mpcD = createMpcD({ live: new PathPlan() });
const LADDER_BPS = [1, 2.5, 5, 8, 12, 16, 22, 30].map((mbps) => mbps * 1e6);

/** A second behind the edge, on a link whose downloads all had 25 Mbit/s. */
function liveState(changes: Partial<PlayerState> = {}): PlayerState {
  const player = { nowSeconds: 16, utcMs: 0, bufferLevelSeconds: 0.5, bufferCapSeconds: 2.5 };
  const media = { segmentSeconds: 2, segmentIndex: 8, previousBitrateBps: 16e6 };
  const downloads = downloadsOf(8, 16e6, 32e6, 32 / 25).map((one) => ({ ...one, latencySeconds: 0.04 }));
  const atTarget = { latencySeconds: 1, targetLatencySeconds: 1, maxLatencySeconds: 5 };
  const live = liveOf({ ...atTarget, chunkSeconds: 0.25, firstChunkAtSeconds: 16 });
  return stateOf(LADDER_BPS, { ...player, ...media, downloads, live, ...changes });
}

const forecastAlong = (path: CapacityPath) => alongPath(path, 16);

test('MPC-D a second behind the edge plays what the link carries; the textbook fears to drain the half second of buffer', () => {
  const state = liveState({ previousBitrateBps: 5e6 });
  const { representation, reason, candidates } = mpcD.decide(state);
  expect(LADDER_BPS[representation]).toBe(22e6);
  expect(reason).toMatch(/^25\.0 Mbit\/s .*: QoE .* stall 0\.00 s$/);
  expect(candidates![7]!.expectedStallSeconds).toBeGreaterThan(0.3);
  const textbook = createMpcD({ name: 'mpc-d:textbook' }).decide(state);
  expect(LADDER_BPS[textbook.representation]).toBeLessThanOrEqual(5e6);
});

test('MPC-D a second behind the edge is the textbook on demand', () => {
  const { live: _, ...state } = liveState({ bufferLevelSeconds: 3, bufferCapSeconds: 16 });
  const { controller, ...decision } = mpcD.decide(state);
  const textbook = createMpcD({ name: 'mpc-d:textbook' }).decide(state);
  expect({ ...decision, controller: `${controller}:textbook` }).toEqual(textbook);
});

test('MPC-D a second behind the edge abandons a dead download, and keeps one that is late by a second', () => {
  const controller = createMpcD({ abandon: true, live: new PathPlan() });
  const state = liveState();
  const inFlight = inFlightOf(state, 6, 1 / 44, 2.5);
  expect(controller.reconsider!(state, inFlight)).toMatchObject({ representation: 0 });
  expect(controller.reconsider!(state, { ...inFlight, receivedBits: 25e6 })).toBe('keep');
});

const controller = new MpcO({ live: new PathPlan({ risk: DEFAULT_RISK }) });

test.each([6e6, 14e6, 25e6])('at the live edge MPC-O plays what the true path of %d bit/s carries', (bps) => {
  const state = liveState({ previousBitrateBps: undefined });
  const { representation, forecastSource } = controller.decide(state, forecastAlong(new ConstantPath(bps)));
  const carried = LADDER_BPS.filter((one) => one <= bps).pop();
  expect([LADDER_BPS[representation], forecastSource]).toEqual([carried, 'oracle']);
});

test('at the live edge MPC-O slows down before an outage on its path, at rate 2 sooner, and never on a steady one', () => {
  const rateOn = (path: CapacityPath, state = liveState()) =>
    controller.pace!(state, undefined, forecastAlong(path)).playbackRate;
  const ratesBps = [25e6, 0, 25e6];
  const outage = (...ends: number[]) => new PiecewisePath({ stepEndsSeconds: [...ends, 60], ratesBps });
  expect(rateOn(outage(4, 4.6))).toBeLessThan(1);
  expect(rateOn(outage(6, 8), liveState({ playbackRate: 2, bufferLevelSeconds: 4 }))).toBeLessThan(1);
  expect(rateOn(new ConstantPath(25e6))).toBe(1);
});

test('at the live edge MPC-O returns to the target without a path', () => {
  const late = liveState({ live: { ...liveState().live!, latencySeconds: 1.5 } });
  expect(controller.pace!(late, undefined).playbackRate).toBeGreaterThan(1);
  expect(controller.decide(late).reason).toMatch(/^no path: mpc-d/);
});
