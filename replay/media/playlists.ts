/** Writes HLS playlists (RFC 8216bis) of the files that the MPD describes: on demand, live, and live in parts. */

import type { LiveStream } from '../scenarios.ts';
import {
  existingSegments,
  existsAtSeconds,
  isoUtc,
  type PresentationTime,
  rounded,
  type Stream,
  type StreamTrack,
  startUtcMs,
} from './stream.ts';

export const MULTIVARIANT_PLAYLIST = 'master.m3u8';

/** `EXT-X-PART` tags stay for this many target durations, and a live playlist has at least as many segments. */
const TARGET_DURATIONS = 3;

const AUDIO_RENDITION =
  '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES';

export const playlistPath = ({ id }: { id: string }): string => `${id}.m3u8`;

/** The variants, each with its peak and its mean bitrate, the audio included. */
export function multivariantPlaylist({ video, audio, segmentCount, segmentSeconds }: Stream): string {
  const rates = (track: StreamTrack) => {
    const bits = Array.from({ length: segmentCount }, (_, i) => track.segment(i).bytes * 8);
    const total = bits.reduce((sum, one) => sum + one, 0);
    return { peakBps: Math.max(...bits) / segmentSeconds, meanBps: total / (segmentCount * segmentSeconds) };
  };
  const sum = (numbers: readonly number[]) => Math.ceil(numbers.reduce((total, one) => total + one, 0));
  return text([
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...audio.map((track) => `${AUDIO_RENDITION},URI="${playlistPath(track)}"`),
    ...video.flatMap((track) => {
      const all = [track, ...audio].map(rates);
      const codecs = [track, ...audio].map(({ clip }) => clip.codec).join();
      return [
        `#EXT-X-STREAM-INF:BANDWIDTH=${sum(all.map(({ peakBps }) => peakBps))},` +
          `AVERAGE-BANDWIDTH=${sum(all.map(({ meanBps }) => meanBps))},CODECS="${codecs}",` +
          `RESOLUTION=${track.clip.width}x${track.clip.height},FRAME-RATE=24.000${audio.length > 0 ? ',AUDIO="audio"' : ''}`,
        playlistPath(track),
      ];
    }),
  ]);
}

/** Lists a track's segments; of a live stream, the segments that exist now. Numbers are segment indexes. */
export function mediaPlaylist(track: StreamTrack, stream: Stream, now: PresentationTime): string {
  const { segmentSeconds, segmentCount, chunkCount, live } = stream;
  const complete = existingSegments(stream, chunkCount - 1, now);
  const oldest = live ? Math.floor(now.sessionSeconds / segmentSeconds) : 0;
  const first = Math.max(0, Math.min(oldest, complete - TARGET_DURATIONS));
  const { init } = track;
  const lines = [
    `#EXT-X-TARGETDURATION:${targetDurationSeconds(stream)}`,
    ...(live ? serverControl(live, stream) : ['#EXT-X-PLAYLIST-TYPE:VOD']),
    `#EXT-X-MEDIA-SEQUENCE:${first}`,
    '#EXT-X-INDEPENDENT-SEGMENTS',
    `#EXT-X-MAP:URI="${init.path}"${init.start === undefined ? '' : `,BYTERANGE="${range(init)}"`}`,
  ];
  if (live) lines.push(`#EXT-X-PROGRAM-DATE-TIME:${isoUtc(startUtcMs(live, now) + first * segmentSeconds * 1000)}`);
  for (let index = first; index < complete; index++) {
    const segment = track.segment(index);
    if (index >= complete - TARGET_DURATIONS) lines.push(...parts(track, index, stream, now));
    if (segment.start !== undefined) lines.push(`#EXT-X-BYTERANGE:${range(segment)}`);
    else lines.push(`#EXT-X-BITRATE:${Math.ceil((segment.bytes * 8) / segmentSeconds / 1000)}`);
    lines.push(`#EXTINF:${rounded(segmentSeconds)},`, segment.path);
  }
  if (complete === segmentCount) lines.push('#EXT-X-ENDLIST');
  else lines.push(...parts(track, complete, stream, now), ...renditionReports(track, stream));
  return text(lines);
}

/** A blocking request for a live playlist: the segment or part that the playlist must have (RFC 8216bis, 6.2.5.2). */
export interface BlockingReload {
  mediaSequence: number;
  part?: number;
}

/** Second of the session at which a playlist has the requested media; -Infinity if it will not change. */
export function playlistExistsAtSeconds(stream: Stream, { mediaSequence, part }: BlockingReload): number {
  const last = stream.chunkCount - 1;
  // A part number after the segment's last part means the first part of the next segment.
  if (part !== undefined && part > last) return existsAtSeconds(stream, mediaSequence + 1, 0);
  return existsAtSeconds(stream, mediaSequence, part ?? last);
}

const text = (lines: readonly string[]): string => ['#EXTM3U', '#EXT-X-VERSION:7', ...lines, ''].join('\n');

const range = ({ bytes, start = 0 }: { bytes: number; start?: number }): string => `${bytes}@${start}`;

const targetDurationSeconds = ({ segmentSeconds }: { segmentSeconds: number }): number =>
  Math.max(1, Math.round(segmentSeconds));

/** Hold-backs count from the newest media in the playlist, which was captured `encoderLatencySeconds` before. */
function serverControl(live: LiveStream, stream: Stream): string[] {
  const { targetLatencySeconds, encoderLatencySeconds, chunkSeconds } = live;
  const wished = targetLatencySeconds - encoderLatencySeconds;
  const holdBack = rounded(Math.max(wished, TARGET_DURATIONS * targetDurationSeconds(stream)));
  const control = `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,HOLD-BACK=${holdBack}`;
  if (stream.chunkCount === 1) return [control];
  // The least that RFC 8216bis allows.
  const partHoldBack = rounded(Math.max(wished, 2 * chunkSeconds));
  return [`${control},PART-HOLD-BACK=${partHoldBack}`, `#EXT-X-PART-INF:PART-TARGET=${rounded(chunkSeconds)}`];
}

/** Names the other tracks of a stream in parts, without values that equal the playlist's own (RFC 8216bis). */
function renditionReports({ id }: StreamTrack, { video, audio, chunkCount }: Stream): string[] {
  if (chunkCount === 1) return [];
  const others = [...video, ...audio].filter((track) => track.id !== id);
  return others.map((track) => `#EXT-X-RENDITION-REPORT:URI="${playlistPath(track)}"`);
}

/** Lists the chunks that exist, and hints at the next. Without the last part's tag hls.js counts a segment twice. */
function parts(track: StreamTrack, segmentIndex: number, stream: Stream, now: PresentationTime): string[] {
  if (stream.chunkCount === 1) return [];
  const { path } = track.segment(segmentIndex);
  const duration = rounded(stream.segmentSeconds / stream.chunkCount);
  const lines: string[] = [];
  let start = 0;
  for (const [chunkIndex, { end, isSync }] of track.chunks(segmentIndex).entries()) {
    const bytes = end - start;
    if (existsAtSeconds(stream, segmentIndex, chunkIndex) > now.sessionSeconds) {
      lines.push(`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${path}",BYTERANGE-START=${start},BYTERANGE-LENGTH=${bytes}`);
      break;
    }
    const independent = isSync ? ',INDEPENDENT=YES' : '';
    lines.push(`#EXT-X-PART:DURATION=${duration},URI="${path}",BYTERANGE="${range({ bytes, start })}"${independent}`);
    start = end;
  }
  return lines;
}
