/** Makes streams of any kind from the composer's clips: segments, a DASH manifest and HLS playlists. */

import { ByteRuns } from '../../replay/media/byte-runs.ts';
import { audioClip, MAX_REPRESENTATIONS, videoClip } from '../../replay/media/clips.ts';
import { composeSegment, type SegmentSpec, segmentStartTicks } from '../../replay/media/compose-segment.ts';
import type { Clip } from '../../replay/media/fixture.ts';
import type { MediaFile, Presentation } from '../../replay/media/presentation.ts';
import * as containers from './containers.ts';

const { encryptedFile, encryptedFragment, encryptedInit, KEY, padded, SEGMENT_IV, tsSegment } = containers;

export const DURATIONS: readonly number[] = Array<number>(12).fill(1);
export const LADDER_BPS = [250e3, 900e3, 2.2e6, 4.5e6];
export const AUDIO_BPS = [64e3];
const LANGUAGES = { en: 'English', de: 'Deutsch', fr: 'Français' };
type Language = keyof typeof LANGUAGES;

/** Default: twelve segments of 1 s, a ladder of four, and one audio track. */
export interface ZooStream {
  /** True bitrates in bit/s, in the manifest's order. */
  videoBps?: readonly number[];
  audioBps?: readonly number[];
  languages?: readonly Language[];
  /** Durations of the segments in seconds. */
  durations?: readonly number[];
  /** The first segments have this size in all representations. */
  black?: { segments: number; bytes: number };
  /** The declared bitrate of a video representation, or undefined for none. Default: the true bitrate. */
  declaredBps?(bps: number, index: number): number | undefined;
  /** Changes a representation's clip. */
  clip?(clip: Clip, index: number): Clip;
  /** Clips of a second ladder with the same bitrates and another codec. */
  others?: readonly Clip[];
  /** The spec has Chromium encode the clips of the second ladder. */
  hasVp9?: true;
  /** With byte ranges, DASH has a list of segments. Default: a timeline, and a file per segment. */
  addressing?: 'ranges';
  container?: 'ts';
  encryption?: 'clearkey' | 'aes-128';
  /** HLS has a group per audio bitrate. With `each`, a quality has one group. Default: a quality has all groups. */
  audioGroups?: 'each';
  /**
   * The second half is a period with other pictures. In HLS it follows a discontinuity and needs as many
   * representations as the first half.
   */
  secondLadderBps?: readonly number[];
  /** This segment does not exist. The timeline has a hole, and HLS marks a gap. */
  gapAt?: number;
}

interface ZooSegment {
  path: string;
  /** First byte, if the track has a single file. */
  start?: number;
  startSeconds: number;
  seconds: number;
  isMissing: boolean;
  body(): ByteRuns;
}

interface ZooTrack {
  id: string;
  clip: Clip;
  declaredBps: number | undefined;
  language: Language;
  init: { path: string; body: ByteRuns };
  segments: ZooSegment[];
}

interface Part {
  startSeconds: number;
  seconds: number;
  video: ZooTrack[];
  audio: ZooTrack[];
}

export function zooPresentation(stream: ZooStream): Presentation {
  const parts = partsOf(stream);
  const files = new Map<string, () => MediaFile>();
  for (const track of parts.flatMap(({ video, audio }) => [...video, ...audio])) addFiles(files, track, stream);
  if (stream.encryption) files.set('key', () => file('binary/octet-stream', new ByteRuns([KEY.key])));
  return {
    manifest: () => mpd(parts, stream),
    playlist: (path) => playlist(path, parts, stream),
    playlistExistsAtSeconds: () => Number.NEGATIVE_INFINITY,
    sizes: { representations: {} },
    find: (path) => files.get(path)?.(),
  };
}

// ---- Media ----

function partsOf(stream: ZooStream): Part[] {
  const { videoBps = LADDER_BPS, secondLadderBps, durations = DURATIONS } = stream;
  const middle = durations.length / 2;
  const ladders = secondLadderBps ? [videoBps, secondLadderBps] : [videoBps];
  let startSeconds = 0;
  return ladders.map((ladder, number) => {
    const own = secondLadderBps ? durations.slice(number * middle, (number + 1) * middle) : durations;
    const part = { number, durations: own, ladder };
    const seconds = own.reduce((sum, one) => sum + one, 0);
    startSeconds += seconds;
    return { startSeconds: startSeconds - seconds, seconds, ...tracksOf(part, stream) };
  });
}

function tracksOf(
  { number, durations, ladder }: { number: number; durations: readonly number[]; ladder: readonly number[] },
  stream: ZooStream,
): Pick<Part, 'video' | 'audio'> {
  const { audioBps = AUDIO_BPS, languages = ['en'], declaredBps = (bps) => bps, others = [] } = stream;
  const ranked = ladder.map((_, i) => i).sort((a, b) => ladder[a]! - ladder[b]!);
  const video = [...ladder, ...others.map((_, i) => ladder[i]!)].map((bps, i) => {
    // Each part has other pictures. If the ladder is longer than the list of clips, it has some clips twice.
    const rank = 4 * number + ranked.indexOf(i % ladder.length);
    const own = videoClip(Math.floor(rank * Math.min(1, MAX_REPRESENTATIONS / ladder.length)));
    const track = { id: `video-${number}-${i}`, bps, clip: others[i - ladder.length] ?? stream.clip?.(own, i) ?? own };
    return trackOf({ ...track, declaredBps: declaredBps(bps, i), language: 'en' }, durations, stream);
  });
  const audio = languages.flatMap((language) =>
    audioBps.map((bps, i) => {
      const track = { id: `audio-${number}-${language}-${i}`, bps, clip: audioClip() };
      return trackOf({ ...track, declaredBps: bps, language }, durations, stream);
    }),
  );
  return { video, audio: stream.container === 'ts' ? [] : audio };
}

function trackOf(
  { bps, ...track }: Omit<ZooTrack, 'init' | 'segments'> & { bps: number },
  durations: readonly number[],
  stream: ZooStream,
): ZooTrack {
  const { id, clip } = track;
  const { black = { segments: 0, bytes: 0 }, gapAt, addressing, container, encryption } = stream;
  const isWhole = addressing === 'ranges';
  const initBytes = encryption === 'clearkey' ? encryptedInit(clip.init) : clip.init;
  const init = { path: isWhole ? `${id}.mp4` : `${id}/init.mp4`, body: new ByteRuns([initBytes]) };
  let startSeconds = 0;
  let start = initBytes.length;
  const segments = durations.map((seconds, k): ZooSegment => {
    const sizeBytes = k < black.segments && clip.kind === 'video' ? black.bytes : Math.round((bps * seconds) / 8);
    const place = { startSeconds, seconds, sizeBytes };
    const body = () => segmentBody(clip, place, stream);
    const path = `${id}/t${segmentStartTicks({ clip, index: startSeconds, segmentSeconds: 1 })}.${container ?? 'm4s'}`;
    const segment = { path, startSeconds, seconds, isMissing: k === gapAt, body };
    startSeconds += seconds;
    if (!isWhole) return segment;
    start += body().length;
    return { ...segment, path: init.path, start: start - body().length };
  });
  return { ...track, init, segments };
}

function segmentBody(clip: Clip, place: containers.Place, { container, encryption }: ZooStream): ByteRuns {
  const { startSeconds, seconds, sizeBytes } = place;
  const request: SegmentSpec = { clip, index: startSeconds / seconds, segmentSeconds: seconds };
  if (encryption === 'clearkey') {
    return padded(encryptedFragment(composeSegment(request)[0]!.toBytes(), clip.kind === 'video'), sizeBytes);
  }
  const isTs = container === 'ts';
  const media = isTs ? tsSegment(clip, audioClip(), place) : composeSegment({ ...request, sizeBytes })[0]!;
  return encryption === 'aes-128' ? encryptedFile(media) : media;
}

const file = (contentType: string, body: ByteRuns): MediaFile => ({
  ...{ contentType, body, representationId: 'other' },
  parts: [{ kind: 'init', start: 0, end: body.length }],
});

function addFiles(
  files: Map<string, () => MediaFile>,
  { id, clip, init, segments }: ZooTrack,
  stream: ZooStream,
): void {
  const contentType = stream.container === 'ts' ? 'video/mp2t' : `${clip.kind}/mp4`;
  if (stream.addressing === 'ranges') {
    const all = ByteRuns.concat([init.body, ...segments.map(({ body }) => body())]);
    const ends = [...segments.slice(1).map(({ start }) => start!), all.length];
    const parts: MediaFile['parts'] = segments.map(({ start }, segmentIndex) => ({
      ...{ kind: 'segment', start: start!, end: ends[segmentIndex]!, segmentIndex },
    }));
    const initPart = { kind: 'init', start: 0, end: init.body.length } as const;
    files.set(init.path, () => ({ contentType, body: all, representationId: id, parts: [initPart, ...parts] }));
    return;
  }
  files.set(init.path, () => ({ ...file(contentType, init.body), representationId: id }));
  for (const [segmentIndex, { path, body: make, isMissing }] of segments.entries()) {
    if (isMissing) continue;
    files.set(path, () => {
      const body = make();
      const part = { kind: 'segment', start: 0, end: body.length, segmentIndex } as const;
      return { contentType, body, representationId: id, parts: [part] };
    });
  }
}

// ---- DASH ----

const frameRate = ({ timescale, samples }: Clip) => timescale / samples[0]!.durationTicks;
/** The most demanding codec string of a set, so that a switch never changes the type. */
const codecOf = (tracks: readonly ZooTrack[]) =>
  tracks
    .map(({ clip }) => clip.codec)
    .sort()
    .at(-1)!;
const rangeOf = (start: number, bytes: number) => `${start}-${start + bytes - 1}`;

function mpd(parts: readonly Part[], stream: ZooStream): string {
  const total = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const longest = Math.max(
    ...parts.flatMap(({ video, audio }) => [...video, ...audio][0]!.segments.map((s) => s.seconds)),
  );
  const periods = parts.map(({ startSeconds, seconds, video, audio }, i) => {
    const all = [...video, ...audio];
    const setOf = ({ clip, language }: ZooTrack) => `${clip.codec.slice(0, 4)} ${language}`;
    const sets = [...new Set(all.map(setOf))].map((set) => all.filter((track) => setOf(track) === set));
    return [
      `<Period id="p${i}" start="PT${startSeconds}S" duration="PT${seconds}S">`,
      ...sets.map((tracks, id) => adaptationSet(tracks, id, stream)),
      '</Period>',
    ].join('\n');
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:cenc="urn:mpeg:cenc:2013" type="static"',
    `  profiles="urn:mpeg:dash:profile:isoff-main:2011" minBufferTime="PT1S"`,
    `  mediaPresentationDuration="PT${total}S" maxSegmentDuration="PT${longest}S">`,
    ...periods,
    '</MPD>',
  ].join('\n');
}

const uuid = (id: Buffer) => id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const CONTENT_PROTECTION = `
  <ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc" cenc:default_KID="${uuid(KEY.id)}"/>
  <ContentProtection schemeIdUri="urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e" value="ClearKey1.0"/>`;

function adaptationSet(tracks: readonly ZooTrack[], id: number, stream: ZooStream): string {
  const [{ clip, language }] = tracks as [ZooTrack];
  const type = `contentType="${clip.kind}" mimeType="${clip.kind}/mp4"`;
  const isAudio = clip.kind === 'audio';
  const rest = isAudio ? `lang="${language}" audioSamplingRate="48000"` : 'par="16:9"';
  return [
    `<AdaptationSet id="${id}" ${type} ${rest} segmentAlignment="true" startWithSAP="1">`,
    ...(stream.encryption === 'clearkey' ? [CONTENT_PROTECTION] : []),
    ...tracks.flatMap((track) => {
      const { width, height } = track.clip;
      const picture = isAudio ? '' : ` width="${width}" height="${height}" frameRate="${frameRate(track.clip)}"`;
      // A Representation must have the attribute, so it is 0 if nothing is declared.
      const bandwidth = `bandwidth="${track.declaredBps ?? 0}"`;
      return [
        `<Representation id="${track.id}" ${bandwidth} codecs="${codecOf(tracks)}"${picture}>`,
        addressing(track, stream),
        '</Representation>',
      ];
    }),
    '</AdaptationSet>',
  ].join('\n');
}

function addressing({ id, clip, init, segments }: ZooTrack, stream: ZooStream): string {
  const { timescale } = clip;
  const ticks = (seconds: number) => segmentStartTicks({ clip, index: seconds, segmentSeconds: 1 });
  if (stream.addressing === 'ranges') {
    const urls = segments.map(({ start, body }) => `<SegmentURL mediaRange="${rangeOf(start!, body().length)}"/>`);
    const head = `<SegmentList timescale="1000" duration="${segments[0]!.seconds * 1000}">`;
    const initialization = `<Initialization range="${rangeOf(0, init.body.length)}"/>`;
    return [`<BaseURL>${init.path}</BaseURL>${head}${initialization}`, ...urls, '</SegmentList>'].join('\n');
  }
  const elements = segments.flatMap(({ startSeconds, seconds, isMissing }) => {
    const t = ticks(startSeconds);
    return isMissing ? [] : [`<S t="${t}" d="${ticks(startSeconds + seconds) - t}"/>`];
  });
  return [
    `<SegmentTemplate timescale="${timescale}" initialization="${init.path}" media="${id}/t$Time$.m4s">`,
    `<SegmentTimeline>${elements.join('')}</SegmentTimeline></SegmentTemplate>`,
  ].join('\n');
}

// ---- HLS ----

const m3u8 = (lines: readonly string[]) => ['#EXTM3U', '#EXT-X-VERSION:7', ...lines, ''].join('\n');

function playlist(path: string, parts: readonly Part[], stream: ZooStream): string | undefined {
  if (path === 'master.m3u8') return master(parts[0]!, stream);
  const id = path.replace('.m3u8', '');
  const [first] = parts as [Part];
  const kind = first.video.some((track) => track.id === id) ? 'video' : 'audio';
  const index = first[kind].findIndex((track) => track.id === id);
  if (index < 0) return undefined;
  const tracks = parts.map((part) => part[kind][index]!);
  const longest = Math.max(...tracks.flatMap(({ segments }) => segments.map(({ seconds }) => seconds)));
  return m3u8([
    `#EXT-X-TARGETDURATION:${Math.max(1, Math.round(longest))}`,
    '#EXT-X-PLAYLIST-TYPE:VOD',
    ...tracks.flatMap((track) => entriesOf(track, stream)),
    '#EXT-X-ENDLIST',
  ]);
}

function entriesOf({ init, segments, id }: ZooTrack, { container, encryption }: ZooStream): string[] {
  const isWhole = segments[0]!.start !== undefined;
  const range = (start: number, bytes: number) => `${bytes}@${start}`;
  const map = `#EXT-X-MAP:URI="${init.path}"${isWhole ? `,BYTERANGE="${range(0, init.body.length)}"` : ''}`;
  return [
    // The first part is number 0.
    ...(/-0-/.test(`${id}-`) ? [] : ['#EXT-X-DISCONTINUITY']),
    ...(container === 'ts' ? [] : [map]),
    ...(encryption ? [KEY_TAGS[encryption]] : []),
    ...segments.flatMap(({ path, seconds, start, body, isMissing }) => [
      ...(isMissing ? ['#EXT-X-GAP'] : []),
      ...(start === undefined ? [] : [`#EXT-X-BYTERANGE:${range(start, body().length)}`]),
      `#EXTINF:${seconds},`,
      path,
    ]),
  ];
}

/** The first tag is the only form of a clear key in HLS that Shaka supports. The second tag is for hls.js. */
const KEY_TAGS = {
  clearkey: [
    '#EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI="key",KEYFORMAT="identity"',
    `#EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI="data:text/plain;base64,${KEY.id.toString('base64')}",` +
      `KEYID=0x${KEY.id.toString('hex')},KEYFORMAT="org.w3.clearkey",KEYFORMATVERSIONS="1"`,
  ].join('\n'),
  'aes-128': `#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x${SEGMENT_IV.toString('hex')}`,
};

function master({ video, audio }: Part, { audioGroups, audioBps = AUDIO_BPS, container }: ZooStream): string {
  const media = audio.map(({ id, language }, i) => {
    const isDefault = language === 'en' ? 'YES' : 'NO';
    const group = `GROUP-ID="audio-${i % audioBps.length}",NAME="${LANGUAGES[language]}",LANGUAGE="${language}"`;
    return `#EXT-X-MEDIA:TYPE=AUDIO,${group},DEFAULT=${isDefault},AUTOSELECT=YES,URI="${id}.m3u8"`;
  });
  // Without video, the audio tracks are the variants.
  const variants = video.length > 0 ? video : audio;
  const groups = audio.slice(0, audioBps.length);
  const offered = variants.flatMap((track, i): { track: ZooTrack; group?: number; audioOf?: ZooTrack }[] => {
    if (video.length === 0 || groups.length === 0) return [{ track }];
    const share = Math.floor((i * groups.length) / variants.length);
    const chosen = audioGroups === 'each' ? [share] : groups.map((_, group) => group);
    return chosen.map((group) => ({ track, group, audioOf: groups[group]! }));
  });
  const lines = offered.map(({ track, group, audioOf }) => {
    const { id, clip, declaredBps } = track;
    const ofAudio = audioOf?.declaredBps ?? (container === 'ts' ? AUDIO_BPS[0]! : 0);
    const hasAudio = audioOf !== undefined || container === 'ts';
    const attributes = [
      ...(declaredBps === undefined ? [] : [`BANDWIDTH=${declaredBps + (declaredBps > 0 ? ofAudio : 0)}`]),
      `CODECS="${[clip.codec, ...(hasAudio ? [audioClip().codec] : [])].join()}"`,
      ...(clip.width > 0
        ? [`RESOLUTION=${clip.width}x${clip.height}`, `FRAME-RATE=${frameRate(clip).toFixed(3)}`]
        : []),
      ...(group === undefined ? [] : [`AUDIO="audio-${group}"`]),
    ];
    return `#EXT-X-STREAM-INF:${attributes.join()}\n${id}.m3u8`;
  });
  return m3u8(['#EXT-X-INDEPENDENT-SEGMENTS', ...(video.length > 0 ? media : []), ...lines]);
}
