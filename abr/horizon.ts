/**
 * The horizon of MPC-L and MPC-O, and the value of what the link delivers after it: the oracle looks as far ahead as
 * the algorithm that is compared with it.
 */

import type { PlayerState } from './controller.ts';
import { lastIndexAtMost } from './ladder.ts';

/** Two segments more than the buffer holds, so that the plan sees the end of what it buffers. */
const BEYOND_BUFFER_SEGMENTS = 2;
/** The least is RobustMPC's horizon. More than 16 segments take long and gain nothing (docs/findings.md). */
const LEAST_HORIZON = 5;
export const LARGEST_HORIZON = 16;

/** Planned segments, including the one to decide on; the stream may end before. The option `horizon` overrides it. */
export function horizonOf(
  { bufferCapSeconds, segmentSeconds }: PlayerState,
  { horizon }: { horizon?: number | undefined } = {},
): number {
  const held = Math.ceil(bufferCapSeconds / segmentSeconds) + BEYOND_BUFFER_SEGMENTS;
  return horizon ?? Math.min(LARGEST_HORIZON, Math.max(LEAST_HORIZON, held));
}

/**
 * The quality of a second of media that the link delivers in a second of it: between two bitrates of the ladder,
 * interpolated. A link faster than the ladder has bits to spare. `qualities` are those of `ladderBps`.
 */
export function qualityOfRate(ladderBps: readonly number[], qualities: ArrayLike<number>, bps: number): number {
  const top = ladderBps.length - 1;
  const at = lastIndexAtMost(ladderBps, bps);
  if (at < 0) return (qualities[0]! * bps) / ladderBps[0]!;
  if (at === top) return (qualities[top]! * ladderBps[top]!) / bps;
  const share = (bps - ladderBps[at]!) / (ladderBps[at + 1]! - ladderBps[at]!);
  return qualities[at]! + share * (qualities[at + 1]! - qualities[at]!);
}
