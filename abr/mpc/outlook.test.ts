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

const LATENCY_SECONDS = 0.05;

const forecastOf = (bps: number, latencySeconds: number) => alongPath(new ConstantPath(bps, latencySeconds));

function expectClose(actual: readonly CandidateOutlook[], expected: readonly CandidateOutlook[]): void {
  expect(actual).toHaveLength(expected.length);
  const near = (value: number) =>
    Number.isFinite(value) ? expect.closeTo(value, 6 - Math.log10(1 + Math.abs(value))) : value;
  for (const [r, { bitrateBps, expectedQoe, expectedStallSeconds }] of expected.entries()) {
    const close = { bitrateBps, expectedQoe: near(expectedQoe), expectedStallSeconds: near(expectedStallSeconds) };
    expect(actual[r]).toEqual(close);
  }
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
  const mpcD = createMpcD({ outlook: true });
  const mpcO = new MpcO({ outlook: true });
  const mpcL = createLiveMpcL({ abandon: false, tuning: { stallLevelSeconds: 0 } });
  forAll([anyState(anyDownloads()), whole(1, 40)], { numRuns: 500, seed: 1 }, (state, mbps) => {
    fc.pre(state.downloads.length > 0);
    const ofD = mpcD.decide(state);
    expect(ofD.candidates).toEqual(outlookOnPath(state, new ConstantPath(ofD.plannedThroughputBps!)));
    const ofO = mpcO.decide(state, forecastOf(mbps * 1e6, LATENCY_SECONDS));
    expect(ofO.candidates).toEqual(outlookOnPath(state, new ConstantPath(mbps * 1e6, LATENCY_SECONDS)));
    // MPC-L adds the measured latency itself.
    const downloads = downloadsOf(3, state.ladderBps[0]!, mbps * 1e6, 1);
    const ofL = mpcL.decide({ ...state, downloads }, quantilesOf(mbps * 1e6));
    expectClose(ofL.candidates!, ofO.candidates!);
    for (const { bitrateBps, expectedQoe } of [...ofD.candidates!, ...ofO.candidates!, ...ofL.candidates!]) {
      expect(expectedQoe).toBeLessThanOrEqual(state.weights.quality(bitrateBps) + 1e-9);
    }
  });
});
