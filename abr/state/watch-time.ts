/**
 * How long viewers watch. Most viewers leave early, and viewers who have stayed for a while are likely to stay: watch
 * times have a heavy tail (PPLive: exponential in the first minutes, then a power law; Chen et al., ICC 2014).
 */

import type { PlayerState } from '../controller.ts';

/**
 * Median watch time unless the page knows its own, below the median of most sites. Plans with 30 and 60 s play whole
 * sessions alike, and with 30 s the first half minute is better (docs/findings.md).
 */
export const DEFAULT_WATCH_SECONDS = 30;

/** Exponent of the tail. */
const TAIL = 0.66;
/** Scale of the distribution per median. */
const SCALE_PER_MEDIAN = 1 / (2 ** (1 / TAIL) - 1);

/**
 * Share of the viewers who still watch after `seconds`, by Lomax's distribution, (1 + seconds / scale) ^ -0.66. Half of
 * the viewers leave before `watchSeconds` (> 0; `Infinity`: nobody leaves).
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
  // A segment plays after the buffered media.
  const shareAt = (i: number) =>
    watchShare(nowSeconds + (bufferLevelSeconds + i * segmentSeconds) / playbackRate, watchSeconds);
  return Array.from({ length: 1 + later }, (_, i) => shareAt(i) / shareAt(0));
}
