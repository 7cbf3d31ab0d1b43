/**
 * A model of the picture's quality: 0 to 100, as viewers rate it: 100 (mean opinion - 1) / 3.75, where 5 is excellent. 90
 * is a mean opinion of 4.4. quality.md has its data and its limits.
 */

export interface Encoding {
  bitrateBps: number;
  /** Pixels. If one of them is missing or 0, both follow from the bitrate (`USUAL_LADDER`). */
  width?: number | undefined;
  height?: number | undefined;
  /** Pictures per second; more than 60 count as 60. Default, and for 0: 30. */
  frameRate?: number | undefined;
  /** An RFC 6381 string (`hvc1.1.6.L93.B0`) or a name; unknown codecs count as H.264. Default: H.264. */
  codec?: string | undefined;
  /** Lines of a 1080-line television that the picture fills as the viewer sees it: 540 for a phone. Default 1080. */
  displayedLines?: number | undefined;
}

export interface QualityParameters {
  /** ln of the effect of 1 Mbit/s of H.264 in 1080 lines at full size. An effect of 1 is 71 % of `CEILING`. */
  level: number;
  /** Exponents of the bitrate, the lines (at most the displayed lines), the display's size, and the frame rate. */
  bitrate: number;
  lines: number;
  display: number;
  frameRate: number;
}

/** From `npm run fit-quality`. */
export const QUALITY_PARAMETERS: QualityParameters = {
  level: 0.114,
  bitrate: 0.491,
  lines: 0.32,
  display: 0.876,
  frameRate: 0.0781,
};

/** The quality that no bitrate exceeds: what viewers rate clips of the highest bitrates (quality.md). */
const CEILING = 95;

/** Bits of a codec that do as much as a bit of H.264; published, and confirmed by ratings and encodes (quality.md). */
const CODECS: readonly (readonly [RegExp, number])[] = [
  [/^(hvc1|hev1|hevc|h\.?265)/i, 0.65],
  [/^vp0?9/i, 0.7],
  [/^av0?1/i, 0.5],
];

/** Near Apple's ladder for H.264: 1080 lines at 6 Mbit/s, some 660 at 2, 420 at 0.73 and 200 at 0.145. */
const USUAL_LADDER = { bitrateBps: 6e6, lines: 1080, exponent: 0.45 };

const TELEVISION_LINES = 1080;
const FULL_FRAME_RATE = 60;
const USUAL_FRAME_RATE = 30;
/** A ladder with more lines than this (usual at 16 Mbit/s) is made for a display of 2160 lines. */
const MOST_TELEVISION_LINES = 1680;

/** The quality rises by ever less with the bitrate and the resolution, up to the ceiling. */
export function modelledQuality(encoding: Encoding, parameters: QualityParameters = QUALITY_PARAMETERS): number {
  const { displayedLines = TELEVISION_LINES } = encoding;
  const frameRate = encoding.frameRate || USUAL_FRAME_RATE;
  const effect =
    Math.exp(parameters.level) *
    (h264Bps(encoding) / 1e6) ** parameters.bitrate *
    (Math.min(linesOf(encoding), displayedLines) / TELEVISION_LINES) ** parameters.lines *
    (TELEVISION_LINES / displayedLines) ** parameters.display;
  const share = effect / Math.hypot(1, effect);
  return CEILING * share * Math.min(1, frameRate / FULL_FRAME_RATE) ** parameters.frameRate;
}

/** Lines of the display that a ladder is made for: `Encoding.displayedLines` if the picture's size is unknown. */
export function usualDisplayedLines(ladder: readonly Encoding[]): number {
  const isLarge = ladder.some((encoding) => linesOf(encoding) > MOST_TELEVISION_LINES);
  return isLarge ? 2 * TELEVISION_LINES : TELEVISION_LINES;
}

/** The equivalent bitrate of H.264. */
function h264Bps({ bitrateBps, codec = '' }: Encoding): number {
  return bitrateBps / (CODECS.find(([name]) => name.test(codec))?.[1] ?? 1);
}

/** Lines of a 16:9 picture with as many pixels, so that portrait and cropped pictures count alike. */
function linesOf(encoding: Encoding): number {
  const { width, height } = encoding;
  if (width && height) return Math.sqrt((width * height * 9) / 16);
  return USUAL_LADDER.lines * (h264Bps(encoding) / USUAL_LADDER.bitrateBps) ** USUAL_LADDER.exponent;
}
