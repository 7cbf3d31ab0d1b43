/** A DASH presentation whose segments have the sizes that a scenario prescribes: its files by path. Pure. */

import { InputError } from '../../abr/errors.ts';
import { chunkExistsAtSeconds, encoderEdgeSeconds, type LiveStream } from '../scenarios.ts';
import { concatBytes, fullBox, u32, u64 } from './boxes.ts';
import { ByteRuns } from './byte-runs.ts';
import { audioClip, MAX_REPRESENTATIONS, videoClip } from './clips.ts';
import {
  composeChunks,
  composeSegment,
  naturalSegmentBytes,
  type Padding,
  type SegmentRequest,
  segmentStartTicks,
  syncChunks,
} from './compose-segment.ts';
import type { Clip } from './fixture.ts';
import { type ManifestTrack, manifest, type PresentationTime } from './manifest.ts';
import {
  type BlockingReload,
  MULTIVARIANT_PLAYLIST,
  mediaPlaylist,
  multivariantPlaylist,
  type PlaylistTrack,
  playlistExistsAtSeconds,
  playlistPath,
} from './playlists.ts';

export interface PresentationOptions {
  /** Bit/s, ascending; at most `MAX_REPRESENTATIONS`. */
  ladderBps: readonly number[];
  segmentSeconds: number;
  /** `[segment][representation]`, whole bytes. */
  segmentSizesBits: readonly (readonly number[])[];
  /**
   * `template` (default): a file per segment, by number; `timeline`: the same by time, listed in the manifest; `base`:
   * one file per representation with a `sidx` index.
   */
  addressing?: Addressing;
  /**
   * Number of periods, with nearly equal numbers of segments; more than one not with `base`, in a live stream only with
   * `template`. Default: 1.
   */
  periods?: number;
  /** Adds an audio track. Default: false. */
  audio?: boolean;
  /** Default: `free-box`; of a live stream `mdat`. */
  padding?: Padding;
  /** Media time 0 is `timeShiftSeconds` before the join. Default: on demand. */
  live?: LiveStream;
}

export const ADDRESSINGS = ['template', 'timeline', 'base'] as const;
export type Addressing = (typeof ADDRESSINGS)[number];

export type PartKind = 'init' | 'index' | 'segment';

/** A file whose download takes time on the link. */
export interface MediaFile {
  contentType: string;
  body: ByteRuns;
  representationId: string;
  /** In order of their bytes, `end` exclusive; a segment's index counts from 0. */
  parts: readonly { kind: PartKind; start: number; end: number; segmentIndex?: number }[];
  /** In order: the bytes before `end` exist from this second of the session. Undefined: always. */
  chunks?: readonly { end: number; existsAtSeconds: number }[];
}

export interface Presentation {
  /** The content of `manifest.mpd`; of a live stream at this time. Default: the session's start, at the epoch. */
  manifest(now?: PresentationTime): string;
  /** The content of `master.m3u8`, or of a track's `<id>.m3u8` at the same time; undefined for other paths. */
  playlist(path: string, now?: PresentationTime): string | undefined;
  /** When playlists have what a blocking reload asks for: a second of the session, `-Infinity` if nothing will change. */
  playlistExistsAtSeconds(reload: BlockingReload): number;
  /** The content of `sizes.json`: bytes per segment, by Representation id. */
  sizes: { representations: Record<string, number[]> };
  /** A media file by its path relative to the manifest. */
  find(path: string): MediaFile | undefined;
  /** Representation ids, ascending by bitrate. */
  videoIds: readonly string[];
}

interface Track {
  id: string;
  clip: Clip;
  bandwidthBps: number;
  sizeBytes: (index: number) => number;
  /** In chunks; one unless live. */
  segment: (index: number) => ByteRuns[];
}

const SESSION_START: PresentationTime = { sessionSeconds: 0, utcMs: 0 };
const AUDIO_BPS = 32e3;
const SMALLEST_PADDING_BYTES = 8;
/** Longer than a picture (1/24 s) and an audio frame. */
const SHORTEST_CHUNK_SECONDS = 0.05;

/** @throws {InputError} for a size smaller than the pictures, and for impossible options. */
export function presentation(options: PresentationOptions): Presentation {
  const { ladderBps, segmentSeconds, segmentSizesBits, addressing = 'template', periods = 1, live } = options;
  const segmentCount = segmentSizesBits.length;
  expectOptions(options);
  const chunkSeconds = live?.chunkSeconds ?? segmentSeconds;
  const chunkCount = Math.round(segmentSeconds / chunkSeconds);
  const compose = (request: Omit<SegmentRequest, 'segmentSeconds'>) =>
    chunkCount === 1
      ? [composeSegment({ ...request, segmentSeconds })]
      : composeChunks({ ...request, segmentSeconds, chunkSeconds });

  const videos = ladderBps.map((_, representation) => videoTrack(compose, representation, options));
  expectSizes(videos, options, chunkSeconds);
  const audios = options.audio ? [audioTrack(compose, { segmentSeconds, chunkSeconds })] : [];

  const files = new Map<string, () => MediaFile>();
  const described = [...videos, ...audios].map((track): ManifestTrack & PlaylistTrack => {
    const { id, bandwidthBps, clip, sizeBytes } = track;
    const { width, height, timescale, codec } = clip;
    const about = { id, bandwidthBps, width, height, timescale, codec, chunks: () => [] };
    if (addressing === 'base') {
      const { file, ranges } = wholeFile(track, segmentSeconds, segmentCount);
      const path = `${id}.mp4`;
      files.set(path, () => file);
      const [init, , ...segments] = file.parts.map(({ start, end }) => ({ path, bytes: end - start, start }));
      return { ...about, ranges, startTicks: undefined, init: init!, segment: (i) => segments[i]! };
    }
    const init = { path: `${id}/init.mp4`, bytes: clip.init.length };
    files.set(init.path, () => initFile(track));
    const ticksAt = (_: unknown, index: number) => segmentStartTicks({ clip, index, segmentSeconds });
    const startTicks = addressing === 'timeline' ? Array.from({ length: segmentCount + 1 }, ticksAt) : undefined;
    const pathOf = (i: number) => `${id}/${startTicks ? `t${startTicks[i]}` : i + 1}.m4s`;
    const fileOf = (i: number) => segmentFile(track, i, live && { segmentSeconds, live });
    for (let i = 0; i < segmentCount; i++) files.set(pathOf(i), () => fileOf(i));
    const segment = (i: number) => ({ path: pathOf(i), bytes: sizeBytes(i) });
    const chunks = (index: number) => {
      const isSync = syncChunks({ clip, index, segmentSeconds, chunkSeconds });
      return (fileOf(index).chunks ?? []).map(({ end }, k) => ({ end, isSync: isSync[k]! }));
    };
    return { ...about, ranges: undefined, startTicks, init, segment, chunks };
  });
  const stream = {
    segmentSeconds,
    segmentCount,
    periods,
    live,
    video: described.slice(0, videos.length),
    audio: described.slice(videos.length),
  };
  const playlists = new Map(described.map((track) => [playlistPath(track), track]));
  return {
    manifest: (now = SESSION_START) => manifest(stream, now),
    playlist(path, now = SESSION_START) {
      if (path === MULTIVARIANT_PLAYLIST) return multivariantPlaylist(stream);
      const track = playlists.get(path);
      return track && mediaPlaylist(track, stream, now);
    },
    playlistExistsAtSeconds: (reload) =>
      live ? playlistExistsAtSeconds({ segmentSeconds, segmentCount, live }, reload) : Number.NEGATIVE_INFINITY,
    sizes: {
      representations: Object.fromEntries(
        videos.map((track) => [track.id, segmentSizesBits.map((_, i) => track.sizeBytes(i))]),
      ),
    },
    find: (path) => files.get(path)?.(),
    videoIds: videos.map(({ id }) => id),
  };
}

function expectOptions(options: PresentationOptions): void {
  const { ladderBps, segmentSeconds, segmentSizesBits, addressing, periods = 1, live } = options;
  const segmentCount = segmentSizesBits.length;
  expect(
    ladderBps.length >= 1 && ladderBps.length <= MAX_REPRESENTATIONS,
    'ladderBps',
    `1 to ${MAX_REPRESENTATIONS} representations`,
    ladderBps.length,
  );
  expect(segmentSeconds > 0, 'segmentSeconds', 'a number > 0', segmentSeconds);
  expect(segmentCount >= 1, 'segmentSizesBits', 'a segment or more', segmentCount);
  const periodsFit = Number.isInteger(periods) && periods >= 1 && periods <= segmentCount;
  expect(periodsFit, 'periods', `1 to ${segmentCount}`, periods);
  expect(periods === 1 || addressing !== 'base', 'periods', '1 with addressing "base"', periods);
  if (live) expectLive(live, options);
}

/** Segments hold at least their pictures, in whole bytes. */
function expectSizes(videos: readonly Track[], options: PresentationOptions, chunkSeconds: number): void {
  const { segmentSeconds, segmentSizesBits } = options;
  const paddingBytes = Math.round(segmentSeconds / chunkSeconds) * SMALLEST_PADDING_BYTES;
  videos.forEach(({ clip, sizeBytes }, representation) => {
    for (let index = 0; index < segmentSizesBits.length; index++) {
      const size = sizeBytes(index);
      const natural = naturalSegmentBytes({ clip, index, segmentSeconds, chunkSeconds });
      const smallest = natural + paddingBytes;
      expect(
        Number.isInteger(size) && size >= smallest,
        `segmentSizesBits[${index}][${representation}]`,
        `whole bytes, at least ${smallest} for ${segmentSeconds} s of ${clip.width}x${clip.height}`,
        size,
      );
    }
  });
}

function videoTrack(
  compose: (request: Omit<SegmentRequest, 'segmentSeconds'>) => ByteRuns[],
  representation: number,
  { ladderBps, segmentSizesBits, live, padding = live && 'mdat' }: PresentationOptions,
): Track {
  const clip = videoClip(representation);
  const sizeBytes = (index: number) => segmentSizesBits[index]![representation]! / 8;
  return {
    id: `video-${representation}`,
    clip,
    bandwidthBps: ladderBps[representation]!,
    sizeBytes,
    segment: (index) => compose({ clip, index, sizeBytes: sizeBytes(index), ...(padding && { padding }) }),
  };
}

function audioTrack(
  compose: (request: Omit<SegmentRequest, 'segmentSeconds'>) => ByteRuns[],
  durations: { segmentSeconds: number; chunkSeconds: number },
): Track {
  const clip = audioClip();
  const sizeBytes = (index: number) => naturalSegmentBytes({ clip, index, ...durations });
  return { id: 'audio', clip, bandwidthBps: AUDIO_BPS, sizeBytes, segment: (index) => compose({ clip, index }) };
}

function expectLive(live: LiveStream, { segmentSeconds, addressing, periods = 1 }: PresentationOptions): void {
  const { chunkSeconds, encoderLatencySeconds, targetLatencySeconds, timeShiftSeconds } = live;
  const count = segmentSeconds / chunkSeconds;
  const divides = Math.abs(count - Math.round(count)) < 1e-9 && chunkSeconds >= SHORTEST_CHUNK_SECONDS;
  const chunks = `a divisor of ${segmentSeconds} s, at least ${SHORTEST_CHUNK_SECONDS}`;
  expect(divides, 'live.chunkSeconds', chunks, chunkSeconds);
  expect(encoderLatencySeconds >= 0, 'live.encoderLatencySeconds', 'a number >= 0', encoderLatencySeconds);
  const least = encoderEdgeSeconds(live);
  const target = `more than the latency of a chunk, ${least} s`;
  expect(targetLatencySeconds > least, 'live.targetLatencySeconds', target, targetLatencySeconds);
  expect(timeShiftSeconds >= 0, 'live.timeShiftSeconds', 'a number >= 0', timeShiftSeconds);
  expect(addressing !== 'base', 'addressing', 'template or timeline in a live stream', addressing);
  expect(addressing !== 'timeline' || periods === 1, 'periods', '1 in a live timeline', periods);
  const isWhole = Math.round(count) === 1;
  expect(addressing !== 'timeline' || isWhole, 'addressing', 'template with chunks', addressing);
}

function expect(holds: boolean, field: string, expected: string, got: unknown): void {
  if (!holds) throw new InputError(field, expected, got);
}

const fileOfTrack = ({ id, clip }: Track, body: ByteRuns, parts: MediaFile['parts']): MediaFile => ({
  contentType: `${clip.kind}/mp4`,
  body,
  representationId: id,
  parts,
});

function initFile(track: Track): MediaFile {
  const { init } = track.clip;
  return fileOfTrack(track, new ByteRuns([init]), [{ kind: 'init', start: 0, end: init.length }]);
}

function segmentFile(
  track: Track,
  segmentIndex: number,
  stream: { segmentSeconds: number; live: LiveStream } | undefined,
): MediaFile {
  const fragments = track.segment(segmentIndex);
  const body = ByteRuns.concat(fragments);
  let end = 0;
  const chunks =
    stream &&
    fragments.map(({ length }, chunkIndex) => {
      end += length;
      return { end, existsAtSeconds: chunkExistsAtSeconds(stream, { segmentIndex, chunkIndex }) };
    });
  const parts: MediaFile['parts'] = [{ kind: 'segment', start: 0, end: body.length, segmentIndex }];
  return { ...fileOfTrack(track, body, parts), ...(chunks && { chunks }) };
}

/** Initialisation segment, `sidx` and all segments in one file (SegmentBase). */
function wholeFile(track: Track, segmentSeconds: number, segmentCount: number) {
  const { clip } = track;
  const segments = Array.from({ length: segmentCount }, (_, i) => ByteRuns.concat(track.segment(i)));
  const ticksAt = (index: number) => Math.round(index * segmentSeconds * clip.timescale);
  const references = segments.map((segment, i) =>
    // reference type 0 (media) and size; duration; begins with a stream access point of type 1
    concatBytes([u32(segment.length), u32(ticksAt(i + 1) - ticksAt(i)), u32(0x90000000)]),
  );
  const sidx = fullBox(
    'sidx',
    1,
    0,
    u32(clip.trackId),
    u32(clip.timescale),
    u64(0),
    u64(0),
    u32(segmentCount), // 16 bits reserved, 16 bits reference count
    ...references,
  );
  const indexStart = clip.init.length;
  const mediaStart = indexStart + sidx.length;
  const parts: MediaFile['parts'][number][] = [
    { kind: 'init', start: 0, end: indexStart },
    { kind: 'index', start: indexStart, end: mediaStart },
  ];
  let at = mediaStart;
  segments.forEach((segment, segmentIndex) => {
    parts.push({ kind: 'segment', start: at, end: at + segment.length, segmentIndex });
    at += segment.length;
  });
  const file = fileOfTrack(track, ByteRuns.concat([new ByteRuns([clip.init, sidx]), ...segments]), parts);
  return { file, ranges: { init: `0-${indexStart - 1}`, index: `${indexStart}-${mediaStart - 1}` } };
}
