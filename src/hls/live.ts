/** The time of a live stream. */

import type Hls from 'hls.js';
import type { LevelDetails } from 'hls.js';
import type { LiveTime } from '../../session/player-port.ts';

/** Apple's recommendation for authors, until a media playlist is loaded. */
const USUAL_SEGMENT_SECONDS = 6;

/** Undefined on demand, and before there is a playlist. */
export function liveTime({ config, latestLevelDetails: details }: Hls): LiveTime | undefined {
  if (!details?.live) return undefined;
  // A part exists when it is listed, and so does a segment without parts.
  const firstChunkSeconds = (config.lowLatencyMode && details.partTarget) || segmentDuration(details);
  // hls.js's own estimate of what is captured now: the end of the playlist, plus the time since it grew.
  return { nowSeconds: details.edge + details.age, firstChunkSeconds };
}

/** The mean over the playlist. */
export function segmentDuration(details: LevelDetails | null): number {
  return details?.averagetargetduration || details?.targetduration || USUAL_SEGMENT_SECONDS;
}
