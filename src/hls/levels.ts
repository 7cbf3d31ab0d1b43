/** The levels (variants) that the plugin may choose. */

import type Hls from 'hls.js';
import type { Level } from 'hls.js';
import type { Representation } from '../core/player-port.ts';

/**
 * Levels within the page's limits, ascending in bitrate. As hls.js does, they keep to the codecs and the video range
 * that play (at the start: that hls.js chooses) and avoid levels that failed, for as long as hls.js avoids them.
 * `firstLevel`: what hls.js's own controller would play first.
 */
export function allowedLevels(hls: Hls, firstLevel: () => number): Level[] {
  const { levels, minAutoLevel, maxAutoLevel } = hls;
  const like = hls.loadLevelObj ?? levels[firstLevel()];
  return levels
    .slice(minAutoLevel, maxAutoLevel + 1)
    .filter((level) => level === like || (isLike(level, like) && isUsable(level, hls)))
    .sort((a, b) => a.averageBitrate - b.averageBitrate);
}

/** HLS names no variants; the attribute `BANDWIDTH` tells those of one codec apart, whatever hls.js removes. */
export function representationOf({ bitrate, averageBitrate }: Level): Representation {
  return { id: String(bitrate), bitrateBps: averageBitrate };
}

const isLike = (level: Level, like: Level | undefined) =>
  !like || (level.codecSet === like.codecSet && level.videoRange === like.videoRange);

function isUsable({ supportedResult, loadError, fragmentError, loadErrorTime }: Level, { config }: Hls): boolean {
  if (supportedResult?.decodingInfoResults?.some(({ smooth }) => smooth === false)) return false;
  // Before 1.7, hls.js never forgives.
  const isForgiven = loadError > 0 && performance.now() - loadErrorTime > (config.errorPenaltyExpireMs || Infinity);
  return isForgiven || loadError + fragmentError === 0;
}
