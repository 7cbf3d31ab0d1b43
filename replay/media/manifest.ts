/** Writes the MPD (ISO/IEC 23009-1): static or, of a live stream, dynamic. */

import { encoderEdgeSeconds, type LiveStream } from '../scenarios.ts';
import {
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
    const span = { first, last, segmentSeconds, availability: live ? availabilityOf(live, segmentSeconds) : '' };
    const start = seconds(first * segmentSeconds);
    const duration = seconds((last - first) * segmentSeconds);
    lines.push(`  <Period id="${period}" start="${start}" duration="${duration}">`);
    lines.push(...adaptationSet(video, span));
    if (audio.length > 0) lines.push(...adaptationSet(audio, span));
    lines.push('  </Period>');
  }
  const type = live
    ? `type="dynamic" profiles="urn:mpeg:dash:profile:isoff-live:2011" ${liveAttributes(live, now)}`
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

function liveAttributes(live: LiveStream, now: PresentationTime): string {
  return [
    `availabilityStartTime="${isoUtc(startUtcMs(live, now))}"`,
    `publishTime="${isoUtc(now.utcMs)}"`,
    `timeShiftBufferDepth="${seconds(live.depthSeconds ?? live.timeShiftSeconds)}"`,
    `suggestedPresentationDelay="${seconds(live.targetLatencySeconds)}"`,
  ].join(' ');
}

function serviceDescription({ targetLatencySeconds, playbackRates }: LiveStream): string[] {
  return [
    '  <ServiceDescription id="0">',
    `    <Latency target="${Math.round(targetLatencySeconds * 1000)}"/>`,
    ...(playbackRates ? [`    <PlaybackRate min="${playbackRates.min}" max="${playbackRates.max}"/>`] : []),
    '  </ServiceDescription>',
  ];
}

/** How early a live segment may be requested. */
function availabilityOf(live: LiveStream, segmentSeconds: number): string {
  // The availability start time is the start of the capture, so a whole segment exists after its nominal time.
  const offset = rounded(segmentSeconds - encoderEdgeSeconds(live));
  const isWhole = live.chunkSeconds > segmentSeconds / 2;
  return ` availabilityTimeOffset="${offset}"${isWhole ? '' : ' availabilityTimeComplete="false"'}`;
}

interface Span {
  /** Index of the period's first segment, and the index after its last. */
  first: number;
  last: number;
  segmentSeconds: number;
  availability: string;
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

function segments({ id, clip, init, index }: StreamTrack, span: Span): string[] {
  const { timescale } = clip;
  if (index) {
    return [
      `        <BaseURL>${index.path}</BaseURL>`,
      `        <SegmentBase timescale="${timescale}" indexRange="${byteRange(index)}">`,
      `          <Initialization range="${byteRange(init)}"/>`,
      '        </SegmentBase>',
    ];
  }
  const { first, segmentSeconds, availability } = span;
  const offset = Math.round(first * segmentSeconds * timescale);
  return [
    `        <SegmentTemplate timescale="${timescale}"${availability} ` +
      `duration="${Math.round(segmentSeconds * timescale)}" startNumber="${first + 1}" ` +
      `presentationTimeOffset="${offset}" initialization="${init.path}" media="${id}/$Number$.m4s"/>`,
  ];
}
