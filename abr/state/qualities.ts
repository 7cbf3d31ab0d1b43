/** The qualities of a ladder's representations, segment by segment, and what a switch to each of them costs. */

import type { PlayerState } from '../controller.ts';
import { changeCost } from '../qoe/qoe.ts';

/**
 * Quality of each representation in the k-th segment from now. Unknown qualities equal the last known
 * segment's. If none is known, they equal the bitrates'.
 */
export function qualitiesAt({ upcomingQualities: rows, ladderBps, weights }: PlayerState, k: number) {
  const row = rows?.[Math.min(k, rows.length - 1)];
  return row?.length === ladderBps.length ? row : ladderBps.map((bps) => weights.quality(bps));
}

/**
 * Cost of the switch to each representation, in units of quality: against the previous one's quality in the segment to
 * decide on, so that a change of scene is not a switch. 0 without a previous bitrate.
 */
export function switchCosts(state: PlayerState): number[] {
  const { previousBitrateBps, ladderBps, weights } = state;
  const qualities = qualitiesAt(state, 0);
  if (previousBitrateBps === undefined) return qualities.map(() => 0);
  const from = qualities[ladderBps.indexOf(previousBitrateBps)] ?? weights.quality(previousBitrateBps);
  return qualities.map((to) => changeCost(weights, from, to));
}
