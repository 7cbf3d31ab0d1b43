/** Writes the MPD (ISO/IEC 23009-1, static, on-demand or main profile). */

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
}

export interface ManifestOptions {
  segmentSeconds: number;
  segmentCount: number;
  periods: number;
  /** Ascending by bitrate. */
  video: readonly ManifestTrack[];
  audio: readonly ManifestTrack[];
}

const AUDIO_SAMPLE_RATE = 48_000;

const seconds = (value: number): string => `PT${Number(value.toFixed(6))}S`;

/** The MPD as text. */
export function manifest(options: ManifestOptions): string {
  const { segmentSeconds, segmentCount, periods, video, audio } = options;
  const lines: string[] = [];
  for (let period = 0; period < periods; period++) {
    const first = Math.floor((period * segmentCount) / periods);
    const last = Math.floor(((period + 1) * segmentCount) / periods);
    const span = { first, segmentSeconds };
    const start = seconds(first * segmentSeconds);
    const duration = seconds((last - first) * segmentSeconds);
    lines.push(`  <Period id="${period}" start="${start}" duration="${duration}">`);
    lines.push(...adaptationSet(video, { ...span, kind: 'video' }));
    if (audio.length > 0) lines.push(...adaptationSet(audio, { ...span, kind: 'audio' }));
    lines.push('  </Period>');
  }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011,' +
      `urn:mpeg:dash:profile:isoff-live:2011" minBufferTime="${seconds(segmentSeconds)}" ` +
      `mediaPresentationDuration="${seconds(segmentCount * segmentSeconds)}" ` +
      `maxSegmentDuration="${seconds(segmentSeconds)}">`,
    ...lines,
    '</MPD>',
    '',
  ].join('\n');
}

interface Span {
  kind: 'video' | 'audio';
  /** Index of the period's first segment. */
  first: number;
  segmentSeconds: number;
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

function segments({ id, timescale, ranges }: ManifestTrack, { first, segmentSeconds }: Span): string[] {
  if (ranges) {
    return [
      `        <BaseURL>${id}.mp4</BaseURL>`,
      `        <SegmentBase timescale="${timescale}" indexRange="${ranges.index}">`,
      `          <Initialization range="${ranges.init}"/>`,
      '        </SegmentBase>',
    ];
  }
  const offset = Math.round(first * segmentSeconds * timescale);
  return [
    `        <SegmentTemplate timescale="${timescale}" duration="${Math.round(segmentSeconds * timescale)}" ` +
      `startNumber="${first + 1}" presentationTimeOffset="${offset}" ` +
      `initialization="${id}/init.mp4" media="${id}/$Number$.m4s"/>`,
  ];
}
