/** Reads the inputs of a decision from hls.js, in the core's types. hls.js counts in seconds. */

import type Hls from 'hls.js';
import type { Fragment, HlsConfig, Level, LevelDetails } from 'hls.js';
import { bufferCapSeconds } from '../core/buffer-cap.ts';
import type { LivePosition, LiveRequest, Period, SegmentRequest, Situation } from '../core/player-port.ts';
import { type CatchUp, nowSeconds } from './catch-up.ts';
import { representationOf } from './levels.ts';

/** HLS has discontinuities, but one sequence of segments. */
const PERIOD_ID = '0';
/** Apple's recommendation for authors, until a media playlist is loaded. */
const USUAL_SEGMENT_SECONDS = 6;
/** Browsers cut the ends of pictures to microseconds: a buffer ends up to 1 us before its last segment does. */
const ROUNDING_SECONDS = 1e-5;

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
  const live = details?.live ? livePosition(hls, details, catchUp) : undefined;
  const capSeconds = bufferTargetSeconds(hls.config, levels.at(-1)!) + segmentSeconds;
  return {
    period: periodOf(details),
    ladder: levels.map(representationOf),
    playback: {
      segmentSeconds,
      bufferLevelSeconds,
      bufferCapSeconds: bufferCapSeconds(capSeconds, segmentSeconds, live),
      playbackRate: media?.playbackRate || 1,
      isPaused: media?.paused ?? false,
      // On a live stream, hls.js loads the playlist again at every switch.
      setupSeconds: levels.map((level) =>
        level.details && (!level.details.live || level === hls.loadLevelObj) ? 0 : playlistSeconds,
      ),
    },
    bufferedUntilSeconds: endSeconds,
    playableUntilSeconds: endSeconds,
    live,
    indexedBits(id, index) {
      const listed = levels.find(({ bitrate }) => String(bitrate) === id)?.details;
      return listed && listedBits(listed.fragments[index - listed.startSN]);
    },
  };
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

export function liveRequestOf(hls: Hls, frag: Fragment): LiveRequest | undefined {
  const { latestLevelDetails: details } = hls;
  if (!details?.live) return undefined;
  const segmentSeconds = wholeSeconds(frag, details);
  const chunkSeconds = Math.min(segmentSeconds, firstChunkSeconds(hls, details));
  return { secondsToFirstChunk: frag.start + chunkSeconds - nowSeconds(details), segmentSeconds, chunkSeconds };
}

/** Duration of a segment, also of one of which some parts exist so far. */
export function wholeSeconds({ sn, duration }: Fragment, details: LevelDetails | null): number {
  const isPartial = details?.partList && Number(sn) > details.endSN;
  return isPartial ? segmentDuration(details) : duration;
}

/** The mean over the playlist. */
function segmentDuration(details: LevelDetails | null): number {
  return details?.averagetargetduration || details?.targetduration || USUAL_SEGMENT_SECONDS;
}

function livePosition(hls: Hls, details: LevelDetails, catchUp: CatchUp): LivePosition {
  const { media } = hls;
  const targetLatencySeconds = hls.targetLatency ?? 0;
  const now = nowSeconds(details);
  return {
    latencySeconds: media?.played.length ? now - media.currentTime : targetLatencySeconds,
    targetLatencySeconds,
    nowSeconds: now,
    firstChunkSeconds: firstChunkSeconds(hls, details),
    ...catchUp.limits(hls, details),
  };
}

/** A part exists when it is listed, and so does a segment without parts. */
const firstChunkSeconds = ({ config }: Hls, details: LevelDetails) =>
  (config.lowLatencyMode && details.partTarget) || segmentDuration(details);

/** By `EXT-X-BYTERANGE`, an earlier response or `EXT-X-BITRATE`; undefined without. */
function listedBits(frag: Fragment | undefined): number | undefined {
  return frag?.bitrate ? frag.bitrate * frag.duration : undefined;
}
