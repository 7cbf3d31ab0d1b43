/**
 * A model of the picture's quality: 0 to 100, on VMAF's scale for a television at the usual distance. quality.md says what
 * it was fitted on and where it must not be trusted; `npm run fit-quality` fits it.
 */

export interface Encoding {
  bitrateBps: number;
  /** Pixels. Without both, they follow from the bitrate (`USUAL_LADDER`). */
  width?: number | undefined;
  height?: number | undefined;
  /** Pictures per second. Default: 30; more count as 30. */
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
  /** ln of the effect of 1 Mbit/s of H.264 in 1080 lines, full size. */
  level: number;
  /** Exponents: of the bitrate, of the lines (at most the displayed ones), of the display's size, of the frame rate. */
  bitrate: number;
  lines: number;
  display: number;
  frameRate: number;
}

/** From `npm run fit-quality`. */
export const QUALITY_PARAMETERS: QualityParameters = {
  level: 0.25,
  bitrate: 0.481,
  lines: 0.344,
  display: 0.694,
  frameRate: 0.0757,
};

/** Bits that do what a bit of H.264 does, by the codec's name; published (quality.md), not fitted. */
const CODECS: readonly (readonly [RegExp, number])[] = [
  [/^(hvc1|hev1|hevc|h\.?265)/i, 0.65],
  [/^vp0?9/i, 0.7],
  [/^av0?1/i, 0.5],
];

/** Near Apple's ladder for H.264: 1080 lines at 6 Mbit/s, some 660 at 2, 420 at 0.73 and 200 at 0.145. */
const USUAL_LADDER = { bitrateBps: 6e6, lines: 1080, exponent: 0.45 };

const TELEVISION_LINES = 1080;
const FULL_FRAME_RATE = 30;

/** At most 100; higher with the bitrate and the resolution, by ever less. */
export function modelledQuality(encoding: Encoding, parameters: QualityParameters = QUALITY_PARAMETERS): number {
  const { width, height, frameRate = FULL_FRAME_RATE, codec = '', displayedLines = TELEVISION_LINES } = encoding;
  const bitsPerBit = CODECS.find(([name]) => name.test(codec))?.[1] ?? 1;
  const bitrateBps = encoding.bitrateBps / bitsPerBit;
  const lines =
    width !== undefined && height !== undefined
      ? // Of a 16:9 picture with as many pixels, so that portrait and cropped pictures count alike.
        Math.sqrt((width * height * 9) / 16)
      : USUAL_LADDER.lines * (bitrateBps / USUAL_LADDER.bitrateBps) ** USUAL_LADDER.exponent;
  const effect =
    Math.exp(parameters.level) *
    (bitrateBps / 1e6) ** parameters.bitrate *
    (Math.min(lines, displayedLines) / TELEVISION_LINES) ** parameters.lines *
    (TELEVISION_LINES / displayedLines) ** parameters.display;
  return 100 * (1 - Math.exp(-effect)) * Math.min(1, frameRate / FULL_FRAME_RATE) ** parameters.frameRate;
}
