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

/** Qualities of the k-th segment from now. Unknown ones equal the last known segment's, or the bitrates'. */
export function qualitiesAt({ upcomingQualities: rows, ladderBps, weights }: PlayerState, k: number) {
  const row = rows?.[Math.min(k, rows.length - 1)];
  return row?.length === ladderBps.length ? row : ladderBps.map((bps) => weights.quality(bps));
}

/** `qualitiesAt`, less the price of the bits. Viewers see no price, so changes count by the qualities. */
export function worthsAt(state: PlayerState, k: number): readonly number[] {
  const { weights } = state;
  const qualities = qualitiesAt(state, k);
  if (!weights.pricePerMbps) return qualities;
  const perBit = weights.pricePerMbps / 1e6 / secondsAt(state, k);
  const sizesBits = sizesAt(state, k);
  return qualities.map((quality, r) => quality - perBit * sizesBits[r]!);
}

/**
 * Cost of the switch to each representation, in units of quality; 0 without a previous bitrate. Both qualities are of
 * the segment to decide on, so that a change of scene is not a switch.
 */
export function switchCosts(state: PlayerState): number[] {
  const qualities = qualitiesAt(state, 0);
  const from = previousQuality(state, qualities);
  return qualities.map((to) => changeCost(state.weights, from, to));
}

/** Quality of the previous bitrate; NaN without one. */
export function previousQuality(
  { previousBitrateBps: bps, ladderBps, weights }: PlayerState,
  qualities: readonly number[],
): number {
  if (bps === undefined) return Number.NaN;
  return qualities[ladderBps.indexOf(bps)] ?? weights.quality(bps);
}
