/** Look-ups of bitrates, and of the sizes, durations and qualities of upcoming segments. */

import type { PlayerState } from '../controller.ts';
import { changeCost } from '../qoe/qoe.ts';

/** Index of the highest bitrate that is at most `limitBps`; -1 if all are higher. */
export function lastIndexAtMost(ladderBps: readonly number[], limitBps: number): number {
  let r = ladderBps.length - 1;
  while (r >= 0 && ladderBps[r]! > limitBps) r--;
  return r;
}

/** Index of the highest bitrate that is at most `limitBps`; 0 if all are higher. */
export function highestWithin(ladderBps: readonly number[], limitBps: number): number {
  return Math.max(0, lastIndexAtMost(ladderBps, limitBps));
}

/** Sizes in bits of the k-th segment from now. Unknown sizes equal the last known segment's, or bitrate * duration. */
export function sizesAt({ upcomingSizesBits: rows, ladderBps, segmentSeconds }: PlayerState, k: number) {
  const row = rows[Math.min(k, rows.length - 1)];
  return row?.length === ladderBps.length ? row : ladderBps.map((bps) => bps * segmentSeconds);
}

/** Duration of the k-th segment from now, in seconds of media. */
export function secondsAt({ upcomingSeconds, segmentSeconds }: PlayerState, k: number): number {
  return (upcomingSeconds && upcomingSeconds[k]) || segmentSeconds;
}

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
