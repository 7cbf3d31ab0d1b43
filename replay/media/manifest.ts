/** Writes the MPD (ISO/IEC 23009-1): static or, of a live stream, dynamic. */

import { encoderEdgeSeconds, type LiveStream } from '../scenarios.ts';
import {
  existingSegments,
  isoUtc,
  type PresentationTime,
  type Resource,
  rounded,
  type Stream,
  type StreamTrack,
  startUtcMs,
} from './stream.ts';

const AUDIO_SAMPLE_RATE = 48_000;

/** Where clients of a live stream get its UTC (`http-iso`), relative to the manifest. */
export const UTC_PATH = 'utc';

const seconds = (value: number): string => `PT${rounded(value)}S`;
const byteRange = ({ start = 0, bytes }: Resource): string => `${start}-${start + bytes - 1}`;

export function manifest(stream: Stream, now: PresentationTime): string {
  const { segmentSeconds, segmentCount, periods, video, audio, live } = stream;
  const lines: string[] = [];
  for (let period = 0; period < periods; period++) {
    const first = Math.floor((period * segmentCount) / periods);
    const last = Math.floor(((period + 1) * segmentCount) / periods);
    const span = { first, last, segmentSeconds, ...(live && liveSpan(live, stream, now)) };
    const start = seconds(first * segmentSeconds);
    const duration = seconds((last - first) * segmentSeconds);
    lines.push(`  <Period id="${period}" start="${start}" duration="${duration}">`);
    lines.push(...adaptationSet(video, span));
    if (audio.length > 0) lines.push(...adaptationSet(audio, span));
    lines.push('  </Period>');
  }
  const type = live
    ? `type="dynamic" profiles="urn:mpeg:dash:profile:isoff-live:2011" ${liveAttributes(live, stream, now)}`
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

function liveAttributes(live: LiveStream, { segmentSeconds, video }: Stream, now: PresentationTime): string {
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

/** What exists of a live stream now, and how early a segment may be requested. */
function liveSpan(live: LiveStream, stream: Stream, now: PresentationTime) {
  const { segmentSeconds } = stream;
  const last = existingSegments(stream, 0, now);
  const first = Math.max(0, Math.floor(now.sessionSeconds / segmentSeconds));
  // The availability start time is that of the capture: a whole segment exists after its nominal time.
  const offset = rounded(segmentSeconds - encoderEdgeSeconds(live));
  const isWhole = live.chunkSeconds > segmentSeconds / 2;
  const availability = ` availabilityTimeOffset="${offset}"${isWhole ? '' : ' availabilityTimeComplete="false"'}`;
  return { listed: { first: Math.max(0, Math.min(first, last - 1)), last }, availability };
}

interface Span {
  /** Index of the period's first segment, and of the one after its last. */
  first: number;
  last: number;
  segmentSeconds: number;
  availability?: string;
  /** The segments in a timeline. Default: the period's. */
  listed?: { first: number; last: number };
}

function adaptationSet(tracks: readonly StreamTrack[], span: Span): string[] {
  const isVideo = tracks[0]!.clip.kind === 'video';
  // The most demanding codec string for the whole set, so that a switch never changes the type.
  const codec = tracks
    .map(({ clip }) => clip.codec)
    .sort()
    .at(-1)!;
  const head = isVideo
    ? 'contentType="video" mimeType="video/mp4" frameRate="24" par="16:9"'
    : `contentType="audio" mimeType="audio/mp4" audioSamplingRate="${AUDIO_SAMPLE_RATE}" lang="en"`;
  return [
    `    <AdaptationSet id="${isVideo ? 1 : 2}" ${head} segmentAlignment="true" startWithSAP="1">`,
    ...tracks.flatMap((track) => {
      const bandwidth = Math.round(track.bandwidthBps);
      const size = isVideo ? ` width="${track.clip.width}" height="${track.clip.height}"` : '';
      return [
        `      <Representation id="${track.id}" bandwidth="${bandwidth}" codecs="${codec}"${size}>`,
        ...segments(track, span),
        '      </Representation>',
      ];
    }),
    '    </AdaptationSet>',
  ];
}

function segments({ id, clip, init, index, startTicks }: StreamTrack, span: Span): string[] {
  const { timescale } = clip;
  if (index) {
    return [
      `        <BaseURL>${index.path}</BaseURL>`,
      `        <SegmentBase timescale="${timescale}" indexRange="${byteRange(index)}">`,
      `          <Initialization range="${byteRange(init)}"/>`,
      '        </SegmentBase>',
    ];
  }
  const { first, segmentSeconds, availability = '', listed = span } = span;
  const offset = Math.round(first * segmentSeconds * timescale);
  const head = `        <SegmentTemplate timescale="${timescale}"${availability}`;
  const tail = `presentationTimeOffset="${offset}" initialization="${init.path}"`;
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
