/** The table of the zoo: a row per kind of stream, what is particular to a player, and what no player does alone. */

import type { Clip } from '../../replay/media/fixture.ts';
import { liveStream, type StreamOptions } from '../playback/playback-test.ts';
import { KEY } from './containers.ts';
import { LADDER_BPS, type ZooStream } from './streams.ts';

export type Format = 'DASH' | 'HLS';
export type ZooPlayer = 'dash' | 'dash live' | 'hls.js' | 'Shaka 5';

export interface Row {
  kind: string;
  /** The kind of the zoo, or one of the origin's own streams. */
  stream: ZooStream | { origin: StreamOptions };
  /** Default: both. */
  format?: Format;
  /** A live stream has no end: seconds to play. */
  playSeconds?: number;
  /** Settings of a player. */
  settings?: Partial<Record<ZooPlayer, object>>;
  /** Why a player alone cannot play the kind in a format; it is not played there. */
  cannot?: Partial<Record<`${ZooPlayer} ${Format}`, string>>;
  /** Why the row is not measured against a link: the player alone does not adapt it either. */
  unadapted?: Partial<Record<`${ZooPlayer} ${Format}`, string>>;
  /** Firefox and WebKit play it, too. */
  isCore?: true;
}

const seconds = (count: number, each = 1) => Array<number>(count).fill(each);
const geometric = (count: number) =>
  Array.from({ length: count }, (_, i) => Math.round(250e3 * 18 ** (i / (count - 1))));
/** The same pictures in quicker succession. */
const faster = (clip: Clip, times: number): Clip => ({
  ...clip,
  samples: clip.samples.map((sample) => ({ ...sample, durationTicks: sample.durationTicks / times })),
});

const AUDIO_BPS = [50e3, 130e3, 222e3];
const keys = { keyId: KEY.id.toString('hex'), key: KEY.key.toString('hex') };
const OF_ORIGIN: StreamOptions = { ladderBps: LADDER_BPS, segmentCount: 12 };
const LIVE: StreamOptions = { ladderBps: LADDER_BPS, segmentCount: 60 };

export const ROWS: readonly Row[] = [
  { kind: 'numbers', format: 'DASH', isCore: true, stream: { origin: { ...OF_ORIGIN, media: { audio: true } } } },
  { kind: 'a timeline', format: 'DASH', stream: {} },
  {
    kind: 'SegmentBase',
    format: 'DASH',
    stream: { origin: { ...OF_ORIGIN, media: { audio: true, addressing: 'base' } } },
  },
  { kind: 'SegmentList', format: 'DASH', stream: { addressing: 'list' } },
  { kind: 'fragmented MP4', format: 'HLS', isCore: true, stream: {} },
  { kind: 'byte ranges', stream: { addressing: 'ranges' } },
  { kind: 'transport streams', format: 'HLS', isCore: true, stream: { container: 'ts' } },
  { kind: 'one variant', isCore: true, stream: { videoBps: [250e3] } },
  { kind: 'audio only', stream: { videoBps: [], audioBps: AUDIO_BPS } },
  { kind: 'video only', stream: { audioBps: [] } },
  { kind: 'several audio bitrates', stream: { audioBps: AUDIO_BPS } },
  { kind: 'an audio group per quality', format: 'HLS', stream: { audioBps: AUDIO_BPS, audioGroups: 'each' } },
  { kind: 'languages', stream: { languages: ['en', 'de', 'fr'], audioBps: AUDIO_BPS.slice(0, 2) } },
  { kind: 'frame rates', stream: { clip: (clip, i) => faster(clip, [0.5, 1, 1, 2][i]!) } },
  { kind: 'periods, discontinuities', stream: { secondLadderBps: [300e3, 1e6, 2e6, 4e6] } },
  { kind: 'periods of other lengths', format: 'DASH', stream: { secondLadderBps: [300e3, 1.5e6] } },
  { kind: 'a gap', stream: { gapAt: 6 } },
  { kind: 'twelve representations', stream: { videoBps: geometric(12) } },
  { kind: 'sixty representations', stream: { videoBps: geometric(60) } },
  { kind: 'unsorted', stream: { videoBps: [2.2e6, 250e3, 4.5e6, 900e3] } },
  { kind: 'equal bitrates', stream: { videoBps: [250e3, 250e3, 900e3, 900e3] } },
  { kind: 'no bitrates', stream: { declaredBps: () => undefined } },
  { kind: 'a bitrate of zero', stream: { declaredBps: (bps, i) => (i === 0 ? 0 : bps) } },
  { kind: 'bitrates declared by half', stream: { declaredBps: (bps) => bps / 2 } },
  { kind: 'bitrates declared twice', stream: { declaredBps: (bps) => bps * 2 } },
  { kind: 'segments of 0.5 s', stream: { durations: seconds(24, 0.5) } },
  { kind: 'segments of 0.8 to 9 s', stream: { durations: [0.8, 3, 1.2, 2, 0.8, 9, 1.2] } },
  {
    kind: 'a clear key',
    stream: { encryption: 'clearkey' },
    settings: {
      'Shaka 5': { drm: { clearKeys: { [keys.keyId]: keys.key } } },
      'hls.js': { emeEnabled: true, drmSystems: { 'org.w3.clearkey': { licenseUrl: '/license' } } },
    },
  },
  { kind: 'AES-128', format: 'HLS', stream: { container: 'ts', encryption: 'aes-128' } },
  { kind: 'subtitles and thumbnails', stream: { extras: true } },
  {
    kind: 'low latency',
    isCore: true,
    stream: { origin: { ...LIVE, live: liveStream(3), media: { audio: true } } },
    playSeconds: 8,
  },
  {
    kind: 'a black opening',
    stream: { videoBps: [300e3, ...LADDER_BPS.slice(1)], durations: seconds(36), black: { segments: 24, bytes: 2000 } },
  },
];

export const CLEAR_KEYS = keys;
