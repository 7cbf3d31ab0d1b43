/** A stream as its MPD and its HLS playlists describe it. */

import { chunkExistsAtSeconds, type LiveStream } from '../scenarios.ts';
import type { Clip } from './fixture.ts';

/** Bytes at a path relative to the manifest; with `start` they are a range of the file. */
export interface Resource {
  path: string;
  bytes: number;
  start?: number;
}

export interface StreamTrack {
  id: string;
  clip: Clip;
  bandwidthBps: number;
  init: Resource;
  /** Index of the file with all segments. Undefined: a file per segment. */
  index: Resource | undefined;
  segment(index: number): Resource;
  /** The chunks of a live segment: where each ends in its file, in bytes, and whether it begins with a sync sample. */
  chunks(index: number): readonly { end: number; isSync: boolean }[];
}

export interface Stream {
  segmentSeconds: number;
  segmentCount: number;
  /** Chunks per segment. */
  chunkCount: number;
  periods: number;
  video: readonly StreamTrack[];
  audio: readonly StreamTrack[];
  live: LiveStream | undefined;
}

export interface PresentationTime {
  sessionSeconds: number;
  utcMs: number;
}

export const rounded = (value: number): number => Number(value.toFixed(6));
export const isoUtc = (utcMs: number): string => new Date(Math.round(utcMs)).toISOString();

/** UTC of a live stream's media time 0. */
export function startUtcMs({ timeShiftSeconds }: LiveStream, now: PresentationTime): number {
  return now.utcMs - (now.sessionSeconds + timeShiftSeconds) * 1000;
}

/** The second of the session at which a chunk comes into being; -Infinity on demand, and beyond the stream's end. */
export function existsAtSeconds(stream: Stream, segmentIndex: number, chunkIndex: number): number {
  const { segmentSeconds, segmentCount, live } = stream;
  if (!live || segmentIndex >= segmentCount) return Number.NEGATIVE_INFINITY;
  return chunkExistsAtSeconds({ segmentSeconds, live }, { segmentIndex, chunkIndex });
}

export function existingSegments(stream: Stream, chunkIndex: number, now: PresentationTime): number {
  let count = 0;
  while (count < stream.segmentCount && existsAtSeconds(stream, count, chunkIndex) <= now.sessionSeconds) count++;
  return count;
}
