/** The common horizon of MPC-L and MPC-O, and the value of what the link delivers after the horizon. */

import type { PlayerState } from '../controller.ts';
import { QOE_UNIT_SECONDS } from '../qoe/qoe.ts';
import { lastIndexAtMost } from './ladder.ts';

/** Segments beyond what the buffer holds, so that the plan sees the end of what it buffers. */
const BEYOND_BUFFER_SEGMENTS = 2;
/** RobustMPC's horizon. More than 16 segments take long and gain nothing (docs/findings.md). */
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
  { bufferCapSeconds, segmentSeconds }: PlayerState,
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
