/** A DASH presentation whose segments have the sizes that a scenario prescribes: its files by path. Pure. */

import { check, InputError, isFrom } from '../../abr/errors.ts';
import type { LiveStream } from '../scenarios.ts';
import { concatBytes, fullBox, u32, u64 } from './boxes.ts';
import { ByteRuns } from './byte-runs.ts';
import { audioClip, MAX_REPRESENTATIONS, videoClip } from './clips.ts';
import { composeSegment, naturalSegmentBytes, type Padding, type SegmentSpec, syncChunks } from './compose-segment.ts';
import type { Clip } from './fixture.ts';
import { manifest } from './manifest.ts';
import {
  type BlockingReload,
  MULTIVARIANT_PLAYLIST,
  mediaPlaylist,
  multivariantPlaylist,
  playlistExistsAtSeconds,
  playlistPath,
} from './playlists.ts';
import { existsAtSeconds, type PresentationTime, type Stream, type StreamTrack } from './stream.ts';

export interface PresentationOptions {
  /** Bit/s, ascending; at most `MAX_REPRESENTATIONS`. */
  ladderBps: readonly number[];
  segmentSeconds: number;
  /** `[segment][representation]`, whole bytes. */
  segmentSizesBits: readonly (readonly number[])[];
  /** A file per segment by number (default), or a single file with a `sidx` index (on demand, in one period). */
  addressing?: 'template' | 'base';
  /** Number of periods. Default: 1. */
  periods?: number;
  audio?: boolean;
  /** Per representation. Default: `videoClip`. */
  clips?: readonly Clip[];
  /** Default: `free-box`; of a live stream `mdat`. */
  padding?: Padding;
  /** Media time 0 is `timeShiftSeconds` before the join. Default: on demand. */
  live?: LiveStream;
}

export type PartKind = 'init' | 'index' | 'segment';

/** A file whose download takes time on the link. */
export interface MediaFile {
  contentType: string;
  body: ByteRuns;
  representationId: string;
  /** In order of their bytes, `end` exclusive; a segment's index counts from 0. */
  parts: readonly { kind: PartKind; start: number; end: number; segmentIndex?: number }[];
  /** In order; the bytes before `end` exist from this second of the session. Undefined: they always exist. */
  chunks?: readonly { end: number; existsAtSeconds: number }[];
}

export interface Presentation {
  /** The content of `manifest.mpd`; of a live stream at this time. Default: the session's start, at the epoch. */
  manifest(now?: PresentationTime): string;
  /** The content of `master.m3u8`, or of a track's `<id>.m3u8` at the same time; undefined for other paths. */
  playlist(path: string, now?: PresentationTime): string | undefined;
  /** Second of the session at which playlists have what a reload asks for; `-Infinity` if nothing will change. */
  playlistExistsAtSeconds(reload: BlockingReload): number;
  /** The content of `sizes.json`: bytes per segment, by Representation id. */
  sizes: { representations: Record<string, number[]> };
  find(path: string): MediaFile | undefined;
}

interface TrackSource {
  id: string;
  clip: Clip;
  bandwidthBps: number;
  sizeBytes(index: number): number;
  /** A segment in chunks; on demand in one chunk. */
  segment(index: number): ByteRuns[];
}

type Common = Pick<SegmentSpec, 'segmentSeconds' | 'padding'> & { chunkSeconds: number };

const SESSION_START: PresentationTime = { sessionSeconds: 0, utcMs: 0 };
const AUDIO_BPS = 32e3;
const SMALLEST_PADDING_BYTES = 8;

/** @throws {InputError} for a size smaller than the pictures, and for a ladder of more representations than clips. */
export function presentation(options: PresentationOptions): Presentation {
  const { ladderBps, segmentSeconds, segmentSizesBits, periods = 1, live } = options;
  const padding = options.padding ?? (live && 'mdat');
  const common: Common = {
    segmentSeconds,
    chunkSeconds: live?.chunkSeconds ?? segmentSeconds,
    ...(padding && { padding }),
  };
  const { length } = ladderBps;
  check(isFrom(length, 1, MAX_REPRESENTATIONS), 'ladderBps', `1 to ${MAX_REPRESENTATIONS} representations`, length);
  const videos = ladderBps.map((bandwidthBps, i) => {
    const clip = options.clips?.[i] ?? videoClip(i);
    return videoSource(i, { ...common, clip, bandwidthBps, segmentSizesBits });
  });
  const sources = [...videos, ...(options.audio ? [audioSource(common)] : [])];
  const files = new Map<string, () => MediaFile>();
  const stream: Stream = {
    ...{ segmentSeconds, segmentCount: segmentSizesBits.length, periods, live },
    ...{ chunkCount: Math.round(segmentSeconds / common.chunkSeconds), video: [], audio: [] },
  };
  const addTrack = options.addressing === 'base' ? wholeTrack : splitTrack;
  const described = sources.map((source) => addTrack(source, stream, files));
  stream.video = described.slice(0, videos.length);
  stream.audio = described.slice(videos.length);
  const tracks = new Map(described.map((track) => [playlistPath(track), track]));
  const sizesOf = ({ id, sizeBytes }: TrackSource) => [id, segmentSizesBits.map((_, i) => sizeBytes(i))];
  return {
    manifest: (now = SESSION_START) => manifest(stream, now),
    playlist(path, now = SESSION_START) {
      if (path === MULTIVARIANT_PLAYLIST) return multivariantPlaylist(stream);
      const track = tracks.get(path);
      return track && mediaPlaylist(track, stream, now);
    },
    playlistExistsAtSeconds: (reload) => playlistExistsAtSeconds(stream, reload),
    sizes: { representations: Object.fromEntries(videos.map(sizesOf)) },
    find: (path) => files.get(path)?.(),
  };
}

/** A video track whose segments hold at least their pictures, in whole bytes. */
function videoSource(
  representation: number,
  options: Common & Pick<PresentationOptions, 'segmentSizesBits'> & { clip: Clip; bandwidthBps: number },
): TrackSource {
  const { clip, bandwidthBps, segmentSizesBits, ...common } = options;
  const sizeBytes = (index: number) => segmentSizesBits[index]![representation]! / 8;
  const { segmentSeconds, chunkSeconds } = common;
  const paddingBytes = Math.round(segmentSeconds / chunkSeconds) * SMALLEST_PADDING_BYTES;
  for (let index = 0; index < segmentSizesBits.length; index++) {
    const size = sizeBytes(index);
    const smallest = naturalSegmentBytes({ clip, index, ...common }) + paddingBytes;
    if (Number.isInteger(size) && size >= smallest) continue;
    const field = `segmentSizesBits[${index}][${representation}]`;
    const pictures = `${segmentSeconds} s of ${clip.width}x${clip.height}`;
    throw new InputError(field, `whole bytes, at least ${smallest} for ${pictures}`, size);
  }
  const segment = (index: number) => composeSegment({ clip, index, sizeBytes: sizeBytes(index), ...common });
  return { id: `video-${representation}`, clip, bandwidthBps, sizeBytes, segment };
}

function audioSource({ segmentSeconds, chunkSeconds }: Common): TrackSource {
  const clip = audioClip();
  const common = { clip, segmentSeconds, chunkSeconds };
  return {
    ...{ id: 'audio', clip, bandwidthBps: AUDIO_BPS },
    sizeBytes: (index) => naturalSegmentBytes({ index, ...common }),
    segment: (index) => composeSegment({ index, ...common }),
  };
}

type Files = Map<string, () => MediaFile>;

/** A file per segment. */
function splitTrack(source: TrackSource, stream: Stream, files: Files): StreamTrack {
  const { id, clip, bandwidthBps, sizeBytes } = source;
  const { segmentSeconds, segmentCount, chunkCount } = stream;
  const init = { path: `${id}/init.mp4`, bytes: clip.init.length };
  const initParts: MediaFile['parts'] = [{ kind: 'init', start: 0, end: init.bytes }];
  files.set(init.path, () => fileOf(source, new ByteRuns([clip.init]), initParts));
  const pathOf = (i: number) => `${id}/${i + 1}.m4s`;
  for (let i = 0; i < segmentCount; i++) files.set(pathOf(i), () => segmentFile(source, i, stream));
  return {
    ...{ id, clip, bandwidthBps, init, index: undefined },
    segment: (i) => ({ path: pathOf(i), bytes: sizeBytes(i) }),
    chunks(index) {
      const isSync = syncChunks({ clip, index, segmentSeconds, chunkSeconds: segmentSeconds / chunkCount });
      const { chunks = [] } = segmentFile(source, index, stream);
      return chunks.map(({ end }, k) => ({ end, isSync: isSync[k]! }));
    },
  };
}

function fileOf({ id, clip }: TrackSource, body: ByteRuns, parts: MediaFile['parts']): MediaFile {
  return { contentType: `${clip.kind}/mp4`, body, representationId: id, parts };
}

function segmentFile(source: TrackSource, segmentIndex: number, stream: Stream): MediaFile {
  const fragments = source.segment(segmentIndex);
  const body = ByteRuns.concat(fragments);
  const file = fileOf(source, body, [{ kind: 'segment', start: 0, end: body.length, segmentIndex }]);
  if (stream.live === undefined) return file;
  let end = 0;
  const chunks = fragments.map(({ length }, k) => {
    end += length;
    return { end, existsAtSeconds: existsAtSeconds(stream, segmentIndex, k) };
  });
  return { ...file, chunks };
}

/** Initialisation segment, `sidx` and all segments in one file (SegmentBase). */
function wholeTrack(source: TrackSource, { segmentSeconds, segmentCount }: Stream, files: Files): StreamTrack {
  const { id, clip, bandwidthBps } = source;
  const segments = Array.from({ length: segmentCount }, (_, i) => ByteRuns.concat(source.segment(i)));
  const ticksAt = (index: number) => Math.round(index * segmentSeconds * clip.timescale);
  const references = segments.map((segment, i) =>
    // reference type 0 (media) and size; duration; begins with a stream access point of type 1
    concatBytes([u32(segment.length), u32(ticksAt(i + 1) - ticksAt(i)), u32(0x90000000)]),
  );
  // 16 bits reserved, 16 bits reference count
  const counts = [u64(0), u64(0), u32(segmentCount)];
  const sidx = fullBox('sidx', 1, 0, u32(clip.trackId), u32(clip.timescale), ...counts, ...references);
  const path = `${id}.mp4`;
  let end = 0;
  const resources = [clip.init, sidx, ...segments].map(({ length: bytes }) => {
    end += bytes;
    return { path, bytes, start: end - bytes };
  });
  const parts = resources.map(({ bytes, start }, i) => ({
    ...{ start, end: start + bytes },
    ...(i < 2 ? { kind: (['init', 'index'] as const)[i]! } : { kind: 'segment' as const, segmentIndex: i - 2 }),
  }));
  const file = fileOf(source, ByteRuns.concat([new ByteRuns([clip.init, sidx]), ...segments]), parts);
  files.set(path, () => file);
  const [init, index] = resources;
  return {
    ...{ id, clip, bandwidthBps, init: init!, index },
    segment: (i) => resources[i + 2]!,
    chunks: () => [],
  };
}
