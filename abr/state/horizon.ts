/**
 * The horizon of MPC-L and MPC-O, and the value of what the link delivers after it: the oracle looks as far ahead as
 * the algorithm that is compared with it.
 */

import type { PlayerState } from '../controller.ts';
import { QOE_UNIT_SECONDS } from '../qoe/qoe.ts';
import { lastIndexAtMost } from './ladder.ts';

/** Two segments more than the buffer holds, so that the plan sees the end of what it buffers. */
const BEYOND_BUFFER_SEGMENTS = 2;
/** The least is RobustMPC's horizon. More than 16 segments take long and gain nothing (docs/findings.md). */
const LEAST_HORIZON = 5;
export const LARGEST_HORIZON = 16;
/** The longest that the option may ask for. */
export const MAX_HORIZON = 20;
/**
 * But a plan of a few seconds fills a large buffer at the lowest bitrate before it shows a better one. So with short
 * segments it is at least this long, if the buffer is; segments below a second count as one.
 */
const LEAST_SECONDS = 32;

/** Planned segments, including the one to decide on; the stream may end before. The option `horizon` overrides it. */
export function horizonOf(
  { bufferCapSeconds, segmentSeconds }: PlayerState,
  { horizon }: { horizon?: number | undefined } = {},
): number {
  const held = Math.ceil(bufferCapSeconds / segmentSeconds) + BEYOND_BUFFER_SEGMENTS;
  const largest = Math.max(LARGEST_HORIZON, Math.ceil(LEAST_SECONDS / Math.max(1, segmentSeconds)));
  return horizon ?? Math.min(largest, Math.max(LEAST_HORIZON, held));
}

/**
 * Value of a second of buffer to the segments after the horizon: what the bits that the link delivers in that second add
 * to the quality of media that plays anyway, at the slope between the ladder's bitrates around the link's. Below the lowest
 * they play media that would be missing. A link faster than the ladder has bits to spare.
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
  return ((slope * usedBps) / QOE_UNIT_SECONDS) * playbackRate;
}
