/** The qualities of a ladder's representations, and the costs of switches to them. */

import type { PlayerState } from '../controller.ts';
import { changeCost } from '../qoe/qoe.ts';

/** Qualities of the k-th segment from now. Unknown qualities equal the last known segment's, or the bitrates'. */
export function qualitiesAt({ upcomingQualities: rows, ladderBps, weights }: PlayerState, k: number) {
  const row = rows?.[Math.min(k, rows.length - 1)];
  return row?.length === ladderBps.length ? row : ladderBps.map((bps) => weights.quality(bps));
}

/**
 * Cost of the switch to each representation, in units of quality; 0 without a previous bitrate. Both qualities are of
 * the segment to decide on, so that a change of scene is not a switch.
 */
export function switchCosts(state: PlayerState): number[] {
  const { previousBitrateBps, ladderBps, weights } = state;
  const qualities = qualitiesAt(state, 0);
  if (previousBitrateBps === undefined) return qualities.map(() => 0);
  const from = qualities[ladderBps.indexOf(previousBitrateBps)] ?? weights.quality(previousBitrateBps);
  return qualities.map((to) => changeCost(weights, from, to));
}
