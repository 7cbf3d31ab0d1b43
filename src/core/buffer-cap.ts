/** The buffer level up to which a player requests segments. */

import type { LivePosition } from './player-port.ts';

/** At the live edge, the next segment cannot be requested before its first chunk exists: that caps the buffer too. */
export function bufferCapSeconds(
  capSeconds: number,
  segmentSeconds: number,
  live: Pick<LivePosition, 'latencySeconds' | 'firstChunkSeconds'> | undefined,
): number {
  return live ? Math.min(capSeconds, live.latencySeconds - live.firstChunkSeconds + segmentSeconds) : capSeconds;
}
