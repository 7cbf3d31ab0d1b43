/** Expected QoE and stall of one segment at each representation, on one capacity path. */

import type { CapacityPath } from './capacity-path.ts';
import type { CandidateOutlook, PlayerState } from './controller.ts';
import { sizesAt } from './ladder.ts';
import { QOE_UNIT_SECONDS, switchCost } from './qoe.ts';

/** The outlook of the segment to decide on if it is requested now. */
export function outlookOnPath(state: PlayerState, path: CapacityPath): CandidateOutlook[] {
  const { ladderBps, weights, segmentSeconds, previousBitrateBps } = state;
  const sizesBits = sizesAt(state, 0);
  const playableSeconds = state.started ? state.bufferLevelSeconds / state.playbackRate : 0;
  return ladderBps.map((bitrateBps, r) => {
    const downloadSeconds = path.downloadSeconds(0, sizesBits[r]!);
    const isEndless = downloadSeconds === Number.POSITIVE_INFINITY;
    const expectedStallSeconds = state.isPaused ? 0 : Math.max(0, downloadSeconds - playableSeconds);
    const costs = switchCost(weights, previousBitrateBps, bitrateBps) + weights.mu * expectedStallSeconds;
    const qoe = weights.quality(bitrateBps) - (costs * QOE_UNIT_SECONDS) / segmentSeconds;
    return { bitrateBps, expectedQoe: isEndless ? Number.NEGATIVE_INFINITY : qoe, expectedStallSeconds };
  });
}
