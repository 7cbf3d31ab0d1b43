import { expect, test } from '@jest/globals';
import type { PlayerState } from '../../controller.ts';
import { type CapacityPath, ConstantPath, PiecewisePath } from '../../mpc/capacity-path.ts';
import { createMpcD } from '../../mpc/mpc-d.ts';
import { MpcO } from '../../mpc/mpc-o.ts';
import { alongPath, downloadsOf, inFlightOf, liveOf, stateOf } from '../../random-states.fixture.ts';
import { DEFAULT_RISK } from '../options.ts';
import { PathPlan } from './path-plan.ts';

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

const forecastOf = (path: CapacityPath) => alongPath(path, 16);

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
  const { representation, forecastSource } = controller.decide(state, forecastOf(new ConstantPath(bps)));
  const carried = LADDER_BPS.filter((one) => one <= bps).pop();
  expect([LADDER_BPS[representation], forecastSource]).toEqual([carried, 'oracle']);
});

test('at the live edge MPC-O slows down before an outage on its path, at rate 2 sooner, and never on a steady one', () => {
  const rateOn = (path: CapacityPath, state = liveState()) =>
    controller.pace!(state, undefined, forecastOf(path)).playbackRate;
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
