/** Reads the inputs of a decision from hls.js, in the flow's types. hls.js counts in seconds. */

import type Hls from 'hls.js';
import type { Fragment, HlsConfig, Level, LevelDetails, LoaderStats } from 'hls.js';
import type { ListedSegment, LivePosition, Period, Segment, Situation } from '../../session/player-port.ts';
import { firstEndingAfter } from '../../session/state.ts';
import { displayedLines, isPaused } from '../adapter-kit.ts';
import { type Rung, rungsOf } from './levels.ts';
import { type CatchUp, liveTime, segmentDuration } from './live.ts';

/** Browsers cut the ends of pictures to microseconds: a buffer ends up to 1 us before its last segment does. */
const ROUNDING_SECONDS = 1e-5;

/** `ladder`: of the allowed levels, at least one. `playlistSeconds`: time that a media playlist takes to load. */
export function readSituation(
  hls: Hls,
  ladder: readonly Rung[],
  { playlistSeconds, catchUp }: { playlistSeconds: number; catchUp: CatchUp },
): Situation {
  const { media, latestLevelDetails: details } = hls;
  const segmentSeconds = segmentDuration(details);
  const bufferLevelSeconds = hls.mainForwardBufferInfo?.len || 0;
  const endSeconds = (media?.currentTime || 0) + bufferLevelSeconds + ROUNDING_SECONDS;
  const detailsOf = (id: string) => ladder.find((rung) => rung.id === id)?.level.details;
  return {
    period: periodOf(details),
    ladder,
    displayedLines: displayedLines(hls.media),
    playback: {
      segmentSeconds,
      bufferLevelSeconds,
      bufferCapSeconds: bufferTargetSeconds(hls.config, ladder[ladder.length - 1]!.level) + segmentSeconds,
      playbackRate: media?.playbackRate || 1,
      isPaused: isPaused(media),
      // On a live stream, hls.js loads the playlist again at every switch.
      setupSeconds: ladder.map(({ level }) =>
        level.details && (!level.details.live || level === hls.loadLevelObj) ? 0 : playlistSeconds,
      ),
    },
    bufferedUntilSeconds: endSeconds,
    playableUntilSeconds: endSeconds,
    live: livePosition(hls, catchUp),
    indexedBits(id, index) {
      const listed = detailsOf(id);
      return listed && listedBits(listed.fragments[index - listed.startSN]);
    },
    ...(details && !details.live && { segmentAt: (seconds, id) => fragmentAt(id ? detailsOf(id) : details, seconds) }),
  };
}

function fragmentAt(details: LevelDetails | undefined, seconds: number): ListedSegment | undefined {
  const { fragments = [], startSN = 0 } = details || {};
  const found = firstEndingAfter(seconds, fragments, ({ start, duration }) => [start, duration]);
  return found && { ...found, index: startSN + found.index };
}

/** Undefined while the fragment's level is not known. */
export function segmentOf({ levels, latestLevelDetails }: Hls, frag: Fragment): Segment | undefined {
  const representation = rungsOf(levels)?.[frag.level];
  const segmentSeconds = wholeSeconds(frag, latestLevelDetails);
  return (
    representation && {
      period: periodOf(latestLevelDetails),
      representation,
      index: Number(frag.sn),
      segmentSeconds,
      endSeconds: frag.start + segmentSeconds,
      indexedBits: listedBits(frag),
    }
  );
}

/** Duration of a whole segment, even while only some of its parts exist. */
export function wholeSeconds({ sn, duration }: Fragment, details: LevelDetails | null): number {
  const isPartial = details?.partList && Number(sn) > details.endSN;
  return isPartial ? segmentDuration(details) : duration;
}

/**
 * hls.js requests a segment while the buffer level alone is below this. hls.js computes it for the level that plays; here
 * the top level counts, so that the state does not change with the choice.
 */
function bufferTargetSeconds({ maxBufferSize, maxBufferLength, maxMaxBufferLength }: HlsConfig, top: Level): number {
  const sizeSeconds = top.maxBitrate > 0 ? (8 * maxBufferSize) / top.maxBitrate : 0;
  return Math.min(Math.max(sizeSeconds, maxBufferLength), maxMaxBufferLength);
}

/** The buffer has as much as hls.js loads ahead. */
export function isFull({ mainForwardBufferInfo, maxBufferLength }: Hls): boolean {
  return (mainForwardBufferInfo?.len || 0) >= maxBufferLength;
}

/** Indices are sequence numbers of the playlist; on demand, the flow counts from the first segment. */
function periodOf(details: LevelDetails | null): Period {
  const { startSN = 0, endSN, live = false, fragments = [] } = details || {};
  const known = fragments[live ? fragments.length - 1 : 0] ?? { start: 0, sn: startSN };
  return {
    // HLS has discontinuities, but one sequence of segments. The first playlist begins it, so that the flow decides again.
    id: details ? '0' : '',
    startSeconds: known.start - known.sn * segmentDuration(details),
    firstIndex: live ? 0 : -startSN,
    segmentCount: live || endSN === undefined ? Number.POSITIVE_INFINITY : endSN + 1,
    segmentsAfter: 0,
  };
}

function livePosition(hls: Hls, catchUp: CatchUp): LivePosition | undefined {
  const time = liveTime(hls);
  const { media } = hls;
  const targetLatencySeconds = hls.targetLatency || 0;
  if (!time) return undefined;
  const latencySeconds = time.nowSeconds - (media?.currentTime || 0);
  return {
    ...time,
    latencySeconds: media?.played.length ? latencySeconds : Math.min(latencySeconds, targetLatencySeconds),
    targetLatencySeconds,
    ...catchUp.limits(hls),
  };
}

/** Bits by `EXT-X-BYTERANGE`, an earlier response or `EXT-X-BITRATE`; undefined without these. */
function listedBits(frag: Fragment | undefined): number | undefined {
  if (!frag) return undefined;
  if (!frag.hasStats || !isPretended(frag.stats)) return frag.bitrate ? frag.bitrate * frag.duration : undefined;
  const { byteRangeStartOffset: from = 0, byteRangeEndOffset: to = 0 } = frag;
  return to > from ? (to - from) * 8 : undefined;
}

/** Some loaders say "1 of 1 byte" until the end, so that hls.js does not watch them. */
export function isPretended({ loaded, total, loading }: LoaderStats): boolean {
  return total > 0 && loaded >= total && !loading.end;
}
