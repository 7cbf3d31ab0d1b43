import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CandidateOutlook } from '../controller.ts';
import { createLiveMpcL } from '../mpc-l/live/live-mpc-l.ts';
import { forAll, whole } from '../property.fixture.ts';
import { sessionQoe } from '../qoe/qoe.ts';
import { alongPath, anyDownloads, anyState, downloadsOf, quantilesOf, stateOf } from '../random-states.fixture.ts';
import { ConstantPath } from './capacity-path.ts';
import { createMpcD } from './mpc-d.ts';
import { MpcO } from './mpc-o.ts';
import { outlookOnPath } from './path-planner.ts';

function closeTo(outlook: readonly CandidateOutlook[]) {
  const near = (value: number) =>
    Number.isFinite(value) ? expect.closeTo(value, 6 - Math.log10(1 + Math.abs(value))) : value;
  return outlook.map(({ bitrateBps, expectedQoe, expectedStallSeconds }) => {
    return { bitrateBps, expectedQoe: near(expectedQoe), expectedStallSeconds: near(expectedStallSeconds) };
  });
}

test('the outlook of a segment is the QoE of a session of this segment alone', () => {
  const ladderBps = [1e6, 3e6];
  const state = stateOf(ladderBps, { bufferLevelSeconds: 2, segmentSeconds: 2, previousBitrateBps: 3e6 });
  const outlook = outlookOnPath(state, new ConstantPath(2e6));
  // 6 Mbit take 3 s and 2 s are buffered: 1 s of stall costs 3 Mbit/s x s in half a unit of 4 s.
  expect(outlook).toEqual([
    { bitrateBps: 1e6, expectedQoe: 1 - 2 / 0.5, expectedStallSeconds: 0 },
    { bitrateBps: 3e6, expectedQoe: 3 - 3 / 0.5, expectedStallSeconds: 1 },
  ]);
  const session = { bitratesBps: [3e6], segmentSeconds: 2, startupSeconds: 0, stallSeconds: 1 };
  expect(outlook[1]!.expectedQoe).toBe(sessionQoe(session, state.weights).qoe);
  expect(outlookOnPath(state, new ConstantPath(0))[1]).toMatchObject({
    expectedQoe: Number.NEGATIVE_INFINITY,
    expectedStallSeconds: Number.POSITIVE_INFINITY,
  });
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
    const path = new ConstantPath(mbps * 1e6, 0.05);
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
