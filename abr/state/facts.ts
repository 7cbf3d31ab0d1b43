/** Look-ups of bitrates, and of the sizes, durations and qualities of upcoming segments. */

import { type Decision, type PlayerState, RECENT_DOWNLOADS } from '../controller.ts';
import { changeCost, QOE_UNIT_SECONDS } from '../qoe/qoe.ts';

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
  return upcomingSeconds?.[k] || segmentSeconds;
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
  // If this condition changes, `laterSegments` (segment-outcomes.ts) needs the same change.
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

/* The common horizon of MPC-L and MPC-O, and the value of what the link delivers after the horizon. */

/** Segments beyond what the buffer holds, so that the plan sees the end of what it buffers. */
const BEYOND_BUFFER_SEGMENTS = 2;
/** RobustMPC's horizon. More than 16 segments take long and gained nothing. */
const LEAST_HORIZON = 5;
export const LARGEST_HORIZON = 16;
/** Upper limit of the option `horizon`. */
export const MAX_HORIZON = 20;
/**
 * A plan of a few seconds fills a large buffer at the lowest bitrate before it shows a better bitrate. So 16 segments
 * may become more, up to this duration. Segments below a second count as a second.
 */
const LEAST_SECONDS = 32;

/** Planned segments, including the segment to decide on. The stream may end before. The option `horizon` overrides it. */
export function horizonOf(
  { bufferCapSeconds, segmentSeconds }: Pick<PlayerState, 'bufferCapSeconds' | 'segmentSeconds'>,
  { horizon }: { horizon?: number | undefined } = {},
): number {
  const held = Math.ceil(bufferCapSeconds / segmentSeconds) + BEYOND_BUFFER_SEGMENTS;
  const largest = Math.max(LARGEST_HORIZON, Math.ceil(LEAST_SECONDS / Math.max(1, segmentSeconds)));
  return horizon ?? Math.min(largest, Math.max(LEAST_HORIZON, held));
}

/**
 * Value of a second of buffer to the segments after the horizon: the quality that the bits of a second on this link
 * add, at the slope between the ladder's bitrates around the link's rate. On a link below the lowest bitrate the bits
 * play media that would be missing. A link faster than the ladder, or than what its bits are worth, has bits to spare.
 */
export function bufferedSecondValue(
  { ladderBps, playbackRate }: PlayerState,
  qualities: readonly number[],
  linkBps: number,
): number {
  const top = ladderBps.length - 1;
  // A player at rate 2 shares the second's bits between two seconds of media.
  const bps = linkBps / playbackRate;
  const at = Math.min(lastIndexAtMost(ladderBps, bps), top - 1);
  const next = at + 1;
  // Representations may share a bitrate.
  const slope =
    at < 0
      ? qualities[0]! / ladderBps[0]!
      : (qualities[next]! - qualities[at]!) / Math.max(1, ladderBps[next]! - ladderBps[at]!);
  const usedBps = bps > ladderBps[top]! ? ladderBps[top]! ** 2 / bps : bps;
  return ((Math.max(0, slope) * usedBps) / QOE_UNIT_SECONDS) * playbackRate;
}

/* The latency that a plan expects of its requests. */

/** Request latency before the first measurement. */
const DEFAULT_LATENCY_SECONDS = 0.05;
/** Measurements in a median, as in RobustMPC's mean. */
const LATENCIES = 5;

/** Median of the last known latencies. */
export function recentLatencySeconds({ downloads }: PlayerState): number {
  const latencies = downloads
    .slice(-RECENT_DOWNLOADS)
    .map(({ latencySeconds = Number.NaN }) => latencySeconds)
    .filter((latency) => latency >= 0)
    .slice(-LATENCIES)
    .sort((a, b) => a - b);
  return latencies[latencies.length >> 1] ?? DEFAULT_LATENCY_SECONDS;
}

/*
 * How long viewers watch. Most viewers leave early, and viewers who have stayed for a while are likely to stay:
 * watch times have a heavy tail (PPLive: exponential in the first minutes, then a power law; Chen et al., ICC 2014).
 */

/**
 * Median watch time unless the page knows its own, below the median of most sites. docs/findings.md compares it with
 * plans as if nobody left.
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

/* The first choice of a session, while nothing has been measured. */

/** The first picture comes within this time, if the link is as fast as browser or player assume. */
const FIRST_PICTURE_SECONDS = 1;

/**
 * The player's own first choice, the highest bitrate within the rate that it assumes; lower if its segment would take
 * over a second. The browser may know a faster link than the player assumes.
 */
export function firstChoice(state: PlayerState): Pick<Decision, 'representation' | 'reason'> {
  const { assumed } = state;
  const playerBps = assumed?.playerBps || 0;
  const mostBits = FIRST_PICTURE_SECONDS * Math.max(playerBps, assumed?.browserBps || 0);
  const sizesBits = sizesAt(state, 0);
  let representation = highestWithin(state.ladderBps, playerBps);
  while (representation > 0 && sizesBits[representation]! > mostBits) representation--;
  const why = representation > 0 ? `the player assumes ${playerBps / 1e6} Mbit/s` : 'lowest';
  return { representation, reason: `nothing measured yet: ${why}` };
}
