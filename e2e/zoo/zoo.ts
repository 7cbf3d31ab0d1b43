/** The table of the zoo: a row per kind of stream, with settings and faults of players. */

import type { Clip } from '../../replay/media/fixture.ts';
import { type LabPlayerName, liveStream, type StreamOptions } from '../playback/playback-test.ts';
import { KEY } from './containers.ts';
import { DURATIONS, LADDER_BPS, type ZooStream } from './streams.ts';

export type ZooFormat = 'DASH' | 'HLS';
export type PlayerFormat = 'dash DASH' | 'hls.js HLS' | 'Shaka 5 DASH' | 'Shaka 5 HLS';

export interface ZooRow {
  kind: string;
  /** A stream of the zoo, or one of the origin's own. */
  stream: ZooStream | { origin: StreamOptions };
  /** Default: both. */
  format?: ZooFormat;
  /** Shaka makes the same variants from both formats, so it plays rows with a value here in this one only. */
  inShaka?: ZooFormat;
  live?: true;
  /** Settings by player. */
  settings?: Partial<Record<LabPlayerName, object>>;
  /**
   * The player's own fault with the kind. Then the plugin must only have no fault, and play as far as the player alone
   * with no more stalls.
   */
  alone?: Partial<Record<PlayerFormat, string>>;
  /** The reason why several players with the plugin in a busy page may stall or stay low, unlike the player alone. */
  busy?: Partial<Record<PlayerFormat, string>>;
  /** Firefox also plays the row. WebKit plays it if the value is 'every engine'. */
  core?: 'every engine' | 'not WebKit';
}

const seconds = (count: number, each = 1) => Array<number>(count).fill(each);
const SIXTY_BPS = Array.from({ length: 60 }, (_, i) => Math.round(250e3 * 18 ** (i / 59)));
/** The same pictures in quicker succession. */
const faster = (clip: Clip, times: number): Clip => ({
  ...clip,
  samples: clip.samples.map((sample) => ({ ...sample, durationTicks: sample.durationTicks / times })),
});

const SEVERAL_BPS = [50e3, 130e3, 222e3];
const keys = { keyId: KEY.id.toString('hex'), key: KEY.key.toString('hex') };
const OWN: StreamOptions = { ladderBps: LADDER_BPS, segmentCount: DURATIONS.length };

export const ROWS: readonly ZooRow[] = [
  { kind: 'numbers', format: 'DASH', core: 'every engine', stream: { origin: { ...OWN, media: { audio: true } } } },
  { kind: 'SegmentBase', format: 'DASH', stream: { origin: { ...OWN, media: { audio: true, addressing: 'base' } } } },
  { kind: 'fragmented MP4', format: 'HLS', core: 'every engine', stream: {} },
  // In DASH, ranges are in a SegmentList.
  { kind: 'byte ranges', inShaka: 'HLS', stream: { addressing: 'ranges' } },
  // At each new level, hls.js loads the last segment of a transport stream again. WebKitGTK may stop for good when a
  // segment just ahead of the playhead is replaced.
  { kind: 'transport streams', format: 'HLS', core: 'not WebKit', stream: { container: 'ts' } },
  { kind: 'one variant', core: 'every engine', stream: { videoBps: [250e3] } },
  { kind: 'audio only', inShaka: 'HLS', stream: { videoBps: [], audioBps: SEVERAL_BPS } },
  { kind: 'an audio group per quality', format: 'HLS', stream: { audioBps: SEVERAL_BPS, audioGroups: 'each' } },
  { kind: 'languages', inShaka: 'DASH', stream: { languages: ['en', 'de', 'fr'], audioBps: SEVERAL_BPS } },
  { kind: 'two codecs', inShaka: 'HLS', stream: { hasVp9: true } },
  { kind: 'frame rates', inShaka: 'HLS', stream: { clip: (clip, i) => faster(clip, [0.5, 1, 1, 2][i]!) } },
  {
    kind: 'discontinuities',
    format: 'HLS',
    stream: { secondLadderBps: [300e3, 1e6, 2e6, 4e6] },
    // With short buffers, hls.js alone may stop at a discontinuity.
    settings: { 'hls.js': { maxBufferLength: 30, maxMaxBufferLength: 600 } },
    busy: {
      'hls.js HLS':
        'playback may stall for 1.4 to 2.8 s where the discontinuity is, whatever plans maximise; alone, at lower bitrates, it does not',
    },
  },
  { kind: 'periods with ladders of other lengths', format: 'DASH', stream: { secondLadderBps: [300e3, 1.5e6] } },
  {
    kind: 'a gap',
    stream: { gapAt: 6 },
    alone: {
      'dash DASH': 'dash.js ends the stream at a hole of its timeline',
      'hls.js HLS': 'hls.js avoids the levels in which it met the gap',
      'Shaka 5 HLS': 'Shaka plays only some of what follows a gap',
    },
  },
  { kind: 'sixty representations', inShaka: 'DASH', stream: { videoBps: SIXTY_BPS } },
  { kind: 'unsorted', inShaka: 'HLS', stream: { videoBps: [2.2e6, 250e3, 4.5e6, 900e3] } },
  { kind: 'one bitrate for all', inShaka: 'HLS', stream: { declaredBps: () => 3e6 } },
  // In HLS, Shaka refuses a playlist without BANDWIDTH.
  { kind: 'no bitrates', inShaka: 'DASH', stream: { declaredBps: () => undefined } },
  {
    kind: 'a bitrate of zero',
    inShaka: 'DASH',
    stream: { declaredBps: (bps, i) => (i === 0 ? 0 : bps) },
    alone: { 'hls.js HLS': 'hls.js never plays that variant' },
  },
  { kind: 'bitrates declared by half', inShaka: 'DASH', stream: { declaredBps: (bps) => bps / 2 } },
  { kind: 'bitrates declared twice', inShaka: 'HLS', stream: { declaredBps: (bps) => bps * 2 } },
  { kind: 'segments of 0.5 s', inShaka: 'DASH', stream: { durations: seconds(24, 0.5) } },
  { kind: 'segments of 0.8 to 9 s', inShaka: 'HLS', stream: { durations: [0.8, 3, 1.2, 2, 9, 0.8, 1.2, 2] } },
  {
    kind: 'a clear key',
    inShaka: 'DASH',
    stream: { encryption: 'clearkey' },
    settings: {
      'Shaka 5': { drm: { clearKeys: { [keys.keyId]: keys.key } } },
      'hls.js': { emeEnabled: true, drmSystems: { 'org.w3.clearkey': { licenseUrl: '/license' } } },
    },
  },
  { kind: 'AES-128', format: 'HLS', stream: { container: 'ts', encryption: 'aes-128' } },
  {
    kind: 'low latency',
    inShaka: 'DASH',
    live: true,
    busy: {
      'hls.js HLS': 'the plugin measures late parts of a busy page as a slow link; on an idle host it reaches the top',
    },
    stream: { origin: { ...OWN, segmentSeconds: 2, segmentCount: 40, live: liveStream(3), media: { audio: true } } },
  },
  {
    kind: 'a black opening',
    inShaka: 'DASH',
    stream: {
      videoBps: [300e3, ...LADDER_BPS.slice(1)],
      durations: seconds(24),
      black: { segments: 18, bytes: 2000 },
      clip: (clip) => faster(clip, 1 / 12),
    },
  },
];

/** Seconds of media, or for a live stream the seconds to play. */
export function mediaSeconds({ stream, live }: ZooRow): number {
  if (live) return 16;
  const { durations = DURATIONS } = 'origin' in stream ? {} : stream;
  return durations.reduce((sum, one) => sum + one, 0);
}
