/**
 * A model of the picture's quality: 0 to 100, on VMAF's scale for a television at the usual distance. quality.md says what
 * it was fitted on and where it must not be trusted; `npm run fit-quality` fits it.
 */

export interface Encoding {
  bitrateBps: number;
  /** Pixels. Where one is missing or 0, as players have it, both follow from the bitrate (`USUAL_LADDER`). */
  width?: number | undefined;
  height?: number | undefined;
  /** Pictures per second. Default, and of 0: 30; more count as 30. */
  frameRate?: number | undefined;
  /** An RFC 6381 string (`hvc1.1.6.L93.B0`) or a name. Default, and of unknown ones: H.264. */
  codec?: string | undefined;
  /**
   * Lines of a 1080-line television's size that the picture fills at the viewer's distance: 540 for a phone at arm's
   * length. Default: 1080.
   */
  displayedLines?: number | undefined;
}

export interface QualityParameters {
  /** ln of the effect of 1 Mbit/s of H.264 in 1080 lines, full size; an effect of 1 is a quality of 50. */
  level: number;
  /** Exponents: of the bitrate, of the lines (at most the displayed ones), of the display's size, of the frame rate. */
  bitrate: number;
  lines: number;
  display: number;
  frameRate: number;
}

/** From `npm run fit-quality`. */
export const QUALITY_PARAMETERS: QualityParameters = {
  level: 1.16,
  bitrate: 0.776,
  lines: 0.58,
  display: 0.824,
  frameRate: 0.0832,
};

/** Bits that do what a bit of H.264 does, by the codec's name; published, and confirmed by encodes (quality.md). */
const CODECS: readonly (readonly [RegExp, number])[] = [
  [/^(hvc1|hev1|hevc|h\.?265)/i, 0.65],
  [/^vp0?9/i, 0.7],
  [/^av0?1/i, 0.5],
];

/** Near Apple's ladder for H.264: 1080 lines at 6 Mbit/s, some 660 at 2, 420 at 0.73 and 200 at 0.145. */
const USUAL_LADDER = { bitrateBps: 6e6, lines: 1080, exponent: 0.45 };

const TELEVISION_LINES = 1080;
const FULL_FRAME_RATE = 30;
/**
 * A ladder with more lines than this is made for a display of 2160 lines. Where lines are unknown, the bitrate decides that
 * usually has as many, 16 Mbit/s.
 */
const MOST_TELEVISION_LINES = 1680;

/** At most 100; higher with the bitrate and the resolution, by ever less. */
export function modelledQuality(encoding: Encoding, parameters: QualityParameters = QUALITY_PARAMETERS): number {
  const { displayedLines = TELEVISION_LINES } = encoding;
  const frameRate = encoding.frameRate || FULL_FRAME_RATE;
  const effect =
    Math.exp(parameters.level) *
    (h264Bps(encoding) / 1e6) ** parameters.bitrate *
    (Math.min(linesOf(encoding), displayedLines) / TELEVISION_LINES) ** parameters.lines *
    (TELEVISION_LINES / displayedLines) ** parameters.display;
  return ((100 * effect) / (1 + effect)) * Math.min(1, frameRate / FULL_FRAME_RATE) ** parameters.frameRate;
}

/** Lines of the display that a ladder is made for, for `Encoding.displayedLines` where the picture's size is unknown. */
export function usualDisplayedLines(ladder: readonly Encoding[]): number {
  const isLarge = ladder.some((encoding) => linesOf(encoding) > MOST_TELEVISION_LINES);
  return isLarge ? 2 * TELEVISION_LINES : TELEVISION_LINES;
}

/** Bit/s of H.264 that do as much. */
function h264Bps({ bitrateBps, codec = '' }: Encoding): number {
  return bitrateBps / (CODECS.find(([name]) => name.test(codec))?.[1] ?? 1);
}

/** Lines of a 16:9 picture that has as many pixels, so that portrait and cropped pictures count alike. */
function linesOf(encoding: Encoding): number {
  const { width, height } = encoding;
  if (width && height) return Math.sqrt((width * height * 9) / 16);
  return USUAL_LADDER.lines * (h264Bps(encoding) / USUAL_LADDER.bitrateBps) ** USUAL_LADDER.exponent;
}
