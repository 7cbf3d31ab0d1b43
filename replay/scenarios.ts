/** The named set-ups that sessions are replayed in, each with the paper or limit that it comes from. */

import { normal, seededRandom, seedOf } from './random.ts';

export interface Scenario {
  name: string;
  /** Bit/s, ascending. */
  ladderBps: readonly number[];
  segmentSeconds: number;
  segmentCount: number;
  /** A request is sent when buffer level + segment duration < this. */
  bufferCapSeconds: number;
  /** Seconds of media that play per second. Default 1. Only the simulator plays at other rates (`--playback-rate`). */
  playbackRate?: number;
  rttSeconds: number;
  /** Cost of a second of stall in units of QoE-linear (Mbit/s): the top bitrate. */
  mu: number;
  lambda: number;
  /** Share of the link's capacity that carries media. */
  payloadShare: number;
  /** What the trace's rates are multiplied by, or the mean in bit/s that each trace is brought to. */
  traceScale: { factor: number } | { meanBps: number };
  /** Spread (standard deviation of ln) of the seeded per-segment factor of sizes; its mean is 1. */
  sizeSpread: number;
  /** Seed of the sizes, the same for all sessions. */
  sizeSeed: number;
  /** What a browser adds to the model (replay/simulator/README.md says how each was measured). */
  browser: BrowserModel;
}

/** What dash.js in Chromium adds to the textbook player, measured with tier 1. */
export interface BrowserModel {
  /** A request leaves this much later than buffer level and cap allow, in seconds, when the buffer was full. */
  requestLatenessSeconds: number;
  /** The same between two requests when the buffer is not full. */
  requestGapSeconds: number;
  /** Bits of the initialisation segment that each representation costs at its first use (and one more RTT). */
  initSegmentBits: number;
  /** Buffer level at which the media element stalls, in seconds. */
  stallLevelSeconds: number;
  /** Seconds from the last byte of a segment to its being in the buffer. */
  appendSeconds: number;
  /** Seconds from a response's last byte to the page's having it: at least, and beside that per bit of its size. */
  responseSeconds: number;
  responseSecondsPerBit: number;
}

/** A player without a browser's delays: the textbook model. */
export const IDEAL_BROWSER: BrowserModel = {
  requestLatenessSeconds: 0,
  requestGapSeconds: 0,
  initSegmentBits: 0,
  stallLevelSeconds: 0,
  appendSeconds: 0,
  responseSeconds: 0,
  responseSecondsPerBit: 0,
};

/** Measured with `leo-abr bench` in Chromium 147 and dash.js 5.2.1 on two cores (docs/simulator-vs-browser.md). */
export const MEASURED_BROWSER: BrowserModel = {
  requestLatenessSeconds: 0.133,
  requestGapSeconds: 0.002,
  initSegmentBits: 6e3,
  stallLevelSeconds: 0.025,
  appendSeconds: 0.005,
  responseSeconds: 0.0055,
  responseSecondsPerBit: 0.12e-9,
};

const UHD_LADDER_BPS = [3e6, 8e6, 15e6, 30e6, 60e6, 120e6];
const HD_LADDER_BPS = [1e6, 2.5e6, 5e6, 8e6, 16e6, 30e6];
const PENSIEVE_LADDER_BPS = [300e3, 750e3, 1200e3, 1850e3, 2850e3, 4300e3];

const UHD: Omit<Scenario, 'name' | 'bufferCapSeconds'> = {
  ladderBps: UHD_LADDER_BPS,
  segmentSeconds: 4,
  segmentCount: 48,
  rttSeconds: 0.04,
  mu: 120,
  lambda: 1,
  payloadShare: 0.95,
  traceScale: { factor: 1 },
  sizeSpread: 0.1,
  sizeSeed: 1,
  browser: MEASURED_BROWSER,
};
const HD: Omit<Scenario, 'name' | 'bufferCapSeconds'> = {
  ...UHD,
  ladderBps: HD_LADDER_BPS,
  mu: 30,
  traceScale: { factor: 0.25 },
};

/** The named scenarios. Sources: DESIGN of the project; SafeSABR (2026) for `uhd-8`; Pensieve and T3P for `pensieve-60`. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'uhd-8': { ...UHD, name: 'uhd-8', bufferCapSeconds: 8 },
  'uhd-16': { ...UHD, name: 'uhd-16', bufferCapSeconds: 16 },
  'uhd-30': { ...UHD, name: 'uhd-30', bufferCapSeconds: 30 },
  'hd-16': { ...HD, name: 'hd-16', bufferCapSeconds: 16 },
  'hd-30': { ...HD, name: 'hd-30', bufferCapSeconds: 30 },
  'pensieve-60': {
    ...UHD,
    name: 'pensieve-60',
    ladderBps: PENSIEVE_LADDER_BPS,
    bufferCapSeconds: 60,
    rttSeconds: 0.08,
    mu: 4.3,
    traceScale: { meanBps: 2.5e6 },
  },
  'small-6': { ...UHD, name: 'small-6', segmentSeconds: 2, segmentCount: 90, bufferCapSeconds: 6 },
};

/**
 * Sizes in bits, `[segment][representation]`: bitrate x duration x a seeded factor of mean 1 per segment, the same for
 * all representations of a segment (a hard scene is hard at every bitrate) and for all algorithms. Whole bytes.
 */
export function segmentSizesBits(scenario: Scenario): number[][] {
  const random = seededRandom(scenario.sizeSeed ^ seedOf('segment sizes'));
  const factors = Array.from({ length: scenario.segmentCount }, () =>
    Math.exp(scenario.sizeSpread * normal(random) - scenario.sizeSpread ** 2 / 2),
  );
  const mean = factors.reduce((sum, factor) => sum + factor, 0) / factors.length;
  return factors.map((factor) =>
    scenario.ladderBps.map((bps) => Math.round((bps * scenario.segmentSeconds * factor) / mean / 8) * 8),
  );
}

/** What the trace's rates are multiplied by in this scenario (without the payload share). */
export function traceScaleOf(scenario: Scenario, traceMeanBps: number): number {
  return 'factor' in scenario.traceScale ? scenario.traceScale.factor : scenario.traceScale.meanBps / traceMeanBps;
}
