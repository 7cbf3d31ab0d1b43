/** Writes the MPD (ISO/IEC 23009-1): static or, of a live stream, dynamic. */

import { chunkExistsAtSeconds, encoderEdgeSeconds, type LiveStream } from '../scenarios.ts';

export interface ManifestTrack {
  id: string;
  bandwidthBps: number;
  /** 0 for audio. */
  width: number;
  height: number;
  timescale: number;
  codec: string;
  /** Byte ranges of the initialisation segment and the index in `<id>.mp4`; undefined: a file per segment. */
  ranges: { init: string; index: string } | undefined;
  /** With a timeline: the start of each segment, and the end of the last one. */
  startTicks: readonly number[] | undefined;
}

/** The time at which a manifest is read. */
export interface PresentationTime {
  sessionSeconds: number;
  utcMs: number;
}

export interface LiveSegments {
  segmentSeconds: number;
  segmentCount: number;
  live: LiveStream;
}

export interface ManifestOptions {
  segmentSeconds: number;
  segmentCount: number;
  periods: number;
  /** Ascending by bitrate. */
  video: readonly ManifestTrack[];
  audio: readonly ManifestTrack[];
  live: LiveStream | undefined;
}

const AUDIO_SAMPLE_RATE = 48_000;

/** Where clients of a live stream get its UTC (`http-iso`), relative to the manifest. */
export const UTC_PATH = 'utc';

export const rounded = (value: number): number => Number(value.toFixed(6));
const seconds = (value: number): string => `PT${rounded(value)}S`;
export const isoUtc = (utcMs: number): string => new Date(Math.round(utcMs)).toISOString();

/** The MPD as text. */
export function manifest(options: ManifestOptions, now: PresentationTime): string {
  const { segmentSeconds, segmentCount, periods, video, audio, live } = options;
  const lines: string[] = [];
  for (let period = 0; period < periods; period++) {
    const first = Math.floor((period * segmentCount) / periods);
    const last = Math.floor(((period + 1) * segmentCount) / periods);
    const span = { first, last, segmentSeconds, ...(live && liveSpan(live, options, now)) };
    const start = seconds(first * segmentSeconds);
    const duration = seconds((last - first) * segmentSeconds);
    lines.push(`  <Period id="${period}" start="${start}" duration="${duration}">`);
    lines.push(...adaptationSet(video, { ...span, kind: 'video' }));
    if (audio.length > 0) lines.push(...adaptationSet(audio, { ...span, kind: 'audio' }));
    lines.push('  </Period>');
  }
  const type = live
    ? `type="dynamic" profiles="urn:mpeg:dash:profile:isoff-live:2011" ${liveAttributes(live, options, now)}`
    : 'type="static" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011,urn:mpeg:dash:profile:isoff-live:2011"';
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" ${type} minBufferTime="${seconds(segmentSeconds)}" ` +
      `mediaPresentationDuration="${seconds(segmentCount * segmentSeconds)}" ` +
      `maxSegmentDuration="${seconds(segmentSeconds)}">`,
    ...(live ? serviceDescription(live) : []),
    ...lines,
    ...(live ? [`  <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="${UTC_PATH}"/>`] : []),
    '</MPD>',
    '',
  ].join('\n');
}

function liveAttributes(live: LiveStream, { segmentSeconds, video }: ManifestOptions, now: PresentationTime): string {
  const attributes = [
    `availabilityStartTime="${isoUtc(startUtcMs(live, now))}"`,
    `publishTime="${isoUtc(now.utcMs)}"`,
    `timeShiftBufferDepth="${seconds(live.timeShiftSeconds)}"`,
    `suggestedPresentationDelay="${seconds(live.targetLatencySeconds)}"`,
  ];
  if (video[0]!.startTicks) attributes.push(`minimumUpdatePeriod="${seconds(segmentSeconds)}"`);
  return attributes.join(' ');
}

function serviceDescription({ targetLatencySeconds, playbackRates }: LiveStream): string[] {
  return [
    '  <ServiceDescription id="0">',
    `    <Latency target="${Math.round(targetLatencySeconds * 1000)}"/>`,
    ...(playbackRates ? [`    <PlaybackRate min="${playbackRates.min}" max="${playbackRates.max}"/>`] : []),
    '  </ServiceDescription>',
  ];
}

/** UTC of a live stream's media time 0. */
export function startUtcMs({ timeShiftSeconds }: LiveStream, now: PresentationTime): number {
  return now.utcMs - (now.sessionSeconds + timeShiftSeconds) * 1000;
}

/** How many segments have this chunk now. */
export function existingSegments(stream: LiveSegments, chunkIndex: number, now: PresentationTime): number {
  let count = 0;
  const exists = () => chunkExistsAtSeconds(stream, { segmentIndex: count, chunkIndex }) <= now.sessionSeconds;
  while (count < stream.segmentCount && exists()) count++;
  return count;
}

/** What exists of a live stream now, and how early a segment may be requested. */
function liveSpan(live: LiveStream, { segmentSeconds, segmentCount }: ManifestOptions, now: PresentationTime) {
  const last = existingSegments({ segmentSeconds, segmentCount, live }, 0, now);
  const first = Math.max(0, Math.floor(now.sessionSeconds / segmentSeconds));
  // The availability start time is that of the capture: a whole segment exists after its nominal time.
  const offset = rounded(segmentSeconds - encoderEdgeSeconds(live));
  const isWhole = live.chunkSeconds > segmentSeconds / 2;
  const availability = ` availabilityTimeOffset="${offset}"${isWhole ? '' : ' availabilityTimeComplete="false"'}`;
  return { listed: { first: Math.max(0, Math.min(first, last - 1)), last }, availability };
}

interface Span {
  kind: 'video' | 'audio';
  /** Index of the period's first segment, and of the one after its last. */
  first: number;
  last: number;
  segmentSeconds: number;
  /** Attributes of a live stream. */
  availability?: string;
  /** The segments in a timeline. Default: the period's. */
  listed?: { first: number; last: number };
}

function adaptationSet(tracks: readonly ManifestTrack[], span: Span): string[] {
  // The most demanding codec string for the whole set, so that a switch never changes the type.
  const codec = tracks
    .map((track) => track.codec)
    .sort()
    .at(-1)!;
  const head =
    span.kind === 'video'
      ? 'contentType="video" mimeType="video/mp4" frameRate="24" par="16:9"'
      : `contentType="audio" mimeType="audio/mp4" audioSamplingRate="${AUDIO_SAMPLE_RATE}" lang="en"`;
  return [
    `    <AdaptationSet id="${span.kind === 'video' ? 1 : 2}" ${head} segmentAlignment="true" startWithSAP="1">`,
    ...tracks.flatMap((track) => {
      const bandwidth = Math.round(track.bandwidthBps);
      const size = span.kind === 'video' ? ` width="${track.width}" height="${track.height}"` : '';
      return [
        `      <Representation id="${track.id}" bandwidth="${bandwidth}" codecs="${codec}"${size}>`,
        ...segments(track, span),
        '      </Representation>',
      ];
    }),
    '    </AdaptationSet>',
  ];
}

function segments({ id, timescale, ranges, startTicks }: ManifestTrack, span: Span): string[] {
  if (ranges) {
    return [
      `        <BaseURL>${id}.mp4</BaseURL>`,
      `        <SegmentBase timescale="${timescale}" indexRange="${ranges.index}">`,
      `          <Initialization range="${ranges.init}"/>`,
      '        </SegmentBase>',
    ];
  }
  const { first, segmentSeconds, availability = '', listed = span } = span;
  const offset = Math.round(first * segmentSeconds * timescale);
  const head = `        <SegmentTemplate timescale="${timescale}"${availability}`;
  const tail = `presentationTimeOffset="${offset}" initialization="${id}/init.mp4"`;
  if (startTicks) {
    const elements: { t: number; d: number; r: number }[] = [];
    for (let i = listed.first; i < listed.last; i++) {
      const t = startTicks[i]!;
      const d = startTicks[i + 1]! - t;
      const before = elements.at(-1);
      if (before?.d === d) before.r++;
      else elements.push({ t, d, r: 0 });
    }
    return [
      `${head} startNumber="${listed.first + 1}" ${tail} media="${id}/t$Time$.m4s">`,
      '          <SegmentTimeline>',
      ...elements.map(({ t, d, r }) => `            <S t="${t}" d="${d}"${r > 0 ? ` r="${r}"` : ''}/>`),
      '          </SegmentTimeline>',
      '        </SegmentTemplate>',
    ];
  }
  return [
    `${head} duration="${Math.round(segmentSeconds * timescale)}" ` +
      `startNumber="${first + 1}" ${tail} media="${id}/$Number$.m4s"/>`,
  ];
}
