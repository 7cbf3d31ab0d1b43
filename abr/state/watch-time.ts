/**
 * How long viewers watch. Most leave early, and viewers who have stayed for a while are likely to stay: watch times have a heavy
 * tail (PPLive: exponential in the first minutes, then a power law; Chen et al., ICC 2014). A plan that knows this shows
 * quality first to those who are there.
 */

import type { PlayerState } from '../controller.ts';

/**
 * The plan's median of watch times, unless the page knows its own. It is below the median of most sites: plans with 30 and 60 s
 * play whole sessions alike, and with 30 the first half minute is better (docs/findings.md).
 */
export const DEFAULT_WATCH_SECONDS = 30;

/** Exponent of the tail. */
const TAIL = 0.66;
/** Scale of the distribution per median. */
const SCALE_PER_MEDIAN = 1 / (2 ** (1 / TAIL) - 1);

/**
 * Share of the viewers who still watch after `seconds`, where half of them leave before `watchSeconds` (> 0; `Infinity`:
 * nobody leaves): Lomax's distribution, (1 + seconds / scale) ^ -0.66, whose hazard falls as the power law's does.
 */
export function watchShare(seconds: number, watchSeconds: number): number {
  return (1 + seconds / (watchSeconds * SCALE_PER_MEDIAN)) ** -TAIL;
}

/** Share of the segment's viewers who watch it (1) and each of the `later` segments after it. */
export function watchShares(
  { nowSeconds, bufferLevelSeconds, segmentSeconds, playbackRate }: PlayerState,
  later: number,
  watchSeconds: number,
): number[] {
  // A segment plays when what is buffered has played.
  const shareAt = (i: number) =>
    watchShare(nowSeconds + (bufferLevelSeconds + i * segmentSeconds) / playbackRate, watchSeconds);
  return Array.from({ length: 1 + later }, (_, i) => shareAt(i) / shareAt(0));
}
