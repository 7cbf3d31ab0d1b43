/** Reads the inputs of a decision from hls.js, in the core's types. hls.js counts in seconds. */

import type Hls from 'hls.js';
import type { Fragment, HlsConfig, Level, LevelDetails } from 'hls.js';
import type { LivePosition, Period, Representation, SegmentRequest, Situation } from '../../session/player-port.ts';
import type { CatchUp } from './catch-up.ts';
import { liveTime, segmentDuration } from './live.ts';

/** HLS has discontinuities, but one sequence of segments. */
const PERIOD_ID = '0';
/** Browsers cut the ends of pictures to microseconds: a buffer ends up to 1 us before its last segment does. */
const ROUNDING_SECONDS = 1e-5;

/**
 * Levels within the page's limits, ascending in bitrate. As hls.js does, they keep to the codecs and the video range
 * that play (at the start: that hls.js chooses) and avoid levels that failed, for as long as hls.js avoids them.
 * `firstLevel`: what hls.js's own controller would play first.
 */
export function allowedLevels(hls: Hls, firstLevel: () => number): Level[] {
  const { levels, minAutoLevel, maxAutoLevel } = hls;
  const like = hls.loadLevelObj ?? levels[firstLevel()];
  const isLike = ({ codecSet, videoRange }: Level) =>
    !like || (codecSet === like.codecSet && videoRange === like.videoRange);
  return levels
    .slice(minAutoLevel, maxAutoLevel + 1)
    .filter((level) => level === like || (isLike(level) && isUsable(level, hls.config)))
    .sort((a, b) => a.averageBitrate - b.averageBitrate);
}

function isUsable(level: Level, { errorPenaltyExpireMs }: HlsConfig): boolean {
  const { supportedResult, loadError, fragmentError, loadErrorTime } = level;
  if (supportedResult?.decodingInfoResults?.some(({ smooth }) => smooth === false)) return false;
  // Before 1.7, hls.js never forgives.
  const isForgiven = loadError > 0 && performance.now() - loadErrorTime > (errorPenaltyExpireMs || Infinity);
  return isForgiven || loadError + fragmentError === 0;
}

/** HLS names no variants; the attribute `BANDWIDTH` tells those of one codec apart, whatever hls.js removes. */
export function representationOf({ bitrate, averageBitrate }: Level): Representation {
  return { id: String(bitrate), bitrateBps: averageBitrate };
}

/** `levels`: the allowed ones, ascending, at least one. `playlistSeconds`: time that a media playlist takes to load. */
export function readSituation(
  hls: Hls,
  levels: readonly Level[],
  { playlistSeconds, catchUp }: { playlistSeconds: number; catchUp: CatchUp },
): Situation {
  const { media, latestLevelDetails: details } = hls;
  const segmentSeconds = segmentDuration(details);
  const bufferLevelSeconds = hls.mainForwardBufferInfo?.len ?? 0;
  const endSeconds = (media?.currentTime ?? 0) + bufferLevelSeconds + ROUNDING_SECONDS;
  return {
    period: periodOf(details),
    ladder: levels.map(representationOf),
    playback: {
      segmentSeconds,
      bufferLevelSeconds,
      bufferCapSeconds: bufferTargetSeconds(hls.config, levels.at(-1)!) + segmentSeconds,
      playbackRate: media?.playbackRate || 1,
      isPaused: media?.paused ?? false,
      // On a live stream, hls.js loads the playlist again at every switch.
      setupSeconds: levels.map((level) =>
        level.details && (!level.details.live || level === hls.loadLevelObj) ? 0 : playlistSeconds,
      ),
    },
    bufferedUntilSeconds: endSeconds,
    playableUntilSeconds: endSeconds,
    live: livePosition(hls, catchUp),
    indexedBits(id, index) {
      const listed = levels.find(({ bitrate }) => String(bitrate) === id)?.details;
      return listed && listedBits(listed.fragments[index - listed.startSN]);
    },
  };
}

/** Undefined while the fragment's level is not known. */
export function segmentOf({ levels, latestLevelDetails }: Hls, frag: Fragment): SegmentRequest | undefined {
  const level = levels[frag.level];
  const segmentSeconds = wholeSeconds(frag, latestLevelDetails);
  return (
    level && {
      period: periodOf(latestLevelDetails),
      representation: representationOf(level),
      index: Number(frag.sn),
      segmentSeconds,
      endSeconds: frag.start + segmentSeconds,
      indexedBits: listedBits(frag),
    }
  );
}

/** Duration of a segment, also of one of which some parts exist so far. */
export function wholeSeconds({ sn, duration }: Fragment, details: LevelDetails | null): number {
  const isPartial = details?.partList && Number(sn) > details.endSN;
  return isPartial ? segmentDuration(details) : duration;
}

/**
 * hls.js requests a segment while the buffer level alone is below this. As it does for the level that plays; here for
 * the top one, so that the state does not change with the choice.
 */
function bufferTargetSeconds({ maxBufferSize, maxBufferLength, maxMaxBufferLength }: HlsConfig, top: Level): number {
  return Math.min(Math.max((8 * maxBufferSize) / top.maxBitrate, maxBufferLength), maxMaxBufferLength);
}

/** Indices are sequence numbers of the playlist; on demand, the core counts from the first segment. */
function periodOf(details: LevelDetails | null): Period {
  const { startSN = 0, endSN, live = false, fragments = [] } = details ?? {};
  const known = (live ? fragments.at(-1) : fragments[0]) ?? { start: 0, sn: startSN };
  return {
    id: PERIOD_ID,
    startSeconds: known.start - known.sn * segmentDuration(details),
    firstIndex: live ? 0 : -startSN,
    segmentCount: live || endSN === undefined ? Number.POSITIVE_INFINITY : endSN + 1,
    segmentsAfter: 0,
  };
}

function livePosition(hls: Hls, catchUp: CatchUp): LivePosition | undefined {
  const time = liveTime(hls);
  const { media } = hls;
  const targetLatencySeconds = hls.targetLatency ?? 0;
  return (
    time && {
      ...time,
      latencySeconds: media?.played.length ? time.nowSeconds - media.currentTime : targetLatencySeconds,
      targetLatencySeconds,
      ...catchUp.limits(hls),
    }
  );
}

/** By `EXT-X-BYTERANGE`, an earlier response or `EXT-X-BITRATE`; undefined without. */
function listedBits(frag: Fragment | undefined): number | undefined {
  return frag?.bitrate ? frag.bitrate * frag.duration : undefined;
}
