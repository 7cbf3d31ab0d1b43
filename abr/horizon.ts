/** The horizon of MPC-L and MPC-O: the oracle looks as far ahead as the algorithm that is compared with it. */

import type { PlayerState } from './controller.ts';

/** Two segments more than the buffer holds, so that the plan sees the end of what it buffers. */
const BEYOND_BUFFER_SEGMENTS = 2;
/** The least is RobustMPC's horizon. More than 16 segments take long and gain nothing (docs/findings.md). */
const LEAST_HORIZON = 5;
const LARGEST_HORIZON = 16;

/** Planned segments, including the one to decide on; the stream may end before. The option `horizon` overrides it. */
export function horizonOf(
  { bufferCapSeconds, segmentSeconds }: PlayerState,
  { horizon }: { horizon?: number | undefined } = {},
): number {
  const held = Math.ceil(bufferCapSeconds / segmentSeconds) + BEYOND_BUFFER_SEGMENTS;
  return horizon ?? Math.min(LARGEST_HORIZON, Math.max(LEAST_HORIZON, held));
}
