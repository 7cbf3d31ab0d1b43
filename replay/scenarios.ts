/** The named scenarios of replayed sessions: ladder, segments, buffer, link and QoE weights. */

import { normal, seededRandom, seedOf } from '../abr/statistics/random.ts';
import { meanRateBps, type Trace } from './trace.ts';

export interface Scenario {
  name: string;
  /** Bitrates in bit/s, ascending. */
  ladderBps: readonly number[];
  /**
   * Lines of each bitrate's picture, 16:9, which also tell the display that the ladder is made for: of 2160 lines if a
   * picture has more than 1680, else of 1080. Default: usual for the bitrate.
   */
  lines?: readonly number[];
  segmentSeconds: number;
  segmentCount: number;
  /** A request is sent when buffer level + segment duration < this. */
  bufferCapSeconds: number;
  rttSeconds: number;
  /** Cost of a second of stall in units of QoE-linear (Mbit/s): the top bitrate. */
  mu: number;
  lambda: number;
  payloadShare: number;
  /** The factor of the trace's rates, or the mean in bit/s to which each trace is scaled; see `traceScaleOf`. */
  traceScale: { factor: number } | { meanBps: number };
  /** Standard deviation of the ln of the seeded size factors per segment; their mean is 1. */
  sizeSpread: number;
  sizeSeed: number;
  browser: BrowserModel;
  /** What the player and the browser assume of the link, in bit/s, before anything is measured. Default: `assumedLink`. */
  assumed?: { playerBps: number; browserBps: number };
  live?: LiveStream;
}

/** Second 0 of the session is the join. `segmentCount` includes the segments before it. */
export interface LiveStream {
  /** A divisor of the segment's duration. Equal to it: plain live, whole segments. */
  chunkSeconds: number;
  /** From the capture of a chunk's end to the chunk's existence. */
  encoderLatencySeconds: number;
  targetLatencySeconds: number;
  /** Media that was captured before the join; little if the stream has just begun. */
  timeShiftSeconds: number;
  /** Depth of the time-shift buffer. Default: `timeShiftSeconds`. */
  depthSeconds?: number;
  /** The service's bounds of the playback rate. Default: none. */
  playbackRates?: { min: number; max: number };
  /** Default: none. */
  encoderPauses?: readonly EncoderPause[];
}

/**
 * The encoder pauses, then catches up at once: chunks of the pause exist at its end, later chunks at their time,
 * and the media has no gap. An open request waits. If a segment begins in the pause, dash.js's retries have to
 * outlast it, or dash.js gives up the server for ever: by default 15 in 1.5 s on a low-latency stream, 3 in 3 s on
 * others (`streaming.retryAttempts.MediaSegment`, `streaming.retryIntervals.MediaSegment`).
 */
export interface EncoderPause {
  fromSeconds: number;
  seconds: number;
}

/** What dash.js in Chromium adds to the textbook player; replay/simulator/README.md explains each. */
export interface BrowserModel {
  /** Delay of a request after a full buffer has room again. */
  requestLatenessSeconds: number;
  /** Delay between two requests if the buffer is not full. */
  requestGapSeconds: number;
  /** Size of the initialisation segment, which the first use of each representation requests (and one RTT). */
  initSegmentBits: number;
  stallLevelSeconds: number;
  /** From the last byte of a segment to its place in the buffer. */
  appendSeconds: number;
  /** From the last byte of a response to the page's event: a constant, and an addition per bit. */
  responseSeconds: number;
  responseSecondsPerBit: number;
}

/** Chromium 147 and dash.js 5.2.1 on two cores, measured with `leo-abr bench` (docs/findings.md). */
export const MEASURED_BROWSER: BrowserModel = {
  requestLatenessSeconds: 0.133,
  requestGapSeconds: 0.002,
  initSegmentBits: 6e3,
  stallLevelSeconds: 0.025,
  appendSeconds: 0.005,
  responseSeconds: 0.0055,
  responseSecondsPerBit: 0.12e-9,
};

const UHD: Omit<Scenario, 'name' | 'bufferCapSeconds'> = {
  ladderBps: [3e6, 8e6, 15e6, 30e6, 60e6, 120e6],
  lines: [720, 1080, 1440, 2160, 2160, 2160],
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
  ladderBps: [1e6, 2.5e6, 5e6, 8e6, 16e6, 30e6],
  lines: [480, 720, 1080, 1080, 1080, 1080],
  mu: 30,
  traceScale: { factor: 0.25 },
};

/** A session ends after this much waiting (startup and stalls). */
export const CUTOFF_SECONDS = 600;

/** Segments of a live scenario: 20 s before the join and 180 s after it. */
const LIVE_SEGMENTS = 100;
const LIVE_HD: Omit<Scenario, 'name' | 'live'> = {
  ...UHD,
  ladderBps: [1e6, 2.5e6, 5e6, 8e6, 12e6, 16e6, 22e6, 30e6],
  lines: [480, 720, 1080, 1080, 1080, 1080, 1080, 1080],
  segmentSeconds: 2,
  segmentCount: LIVE_SEGMENTS,
  // dash.js's default. At the live edge the target latency limits the buffer.
  bufferCapSeconds: 18,
  mu: 30,
  traceScale: { meanBps: 25e6 },
};
const LIVE_UHD: typeof LIVE_HD = {
  ...LIVE_HD,
  ladderBps: [3e6, 8e6, 15e6, 30e6, 45e6, 60e6, 90e6, 120e6],
  lines: [720, 1080, 1440, 2160, 2160, 2160, 2160, 2160],
  mu: 120,
  traceScale: { meanBps: 100e6 },
};
const LIVE: Omit<LiveStream, 'targetLatencySeconds'> = {
  chunkSeconds: 0.25,
  encoderLatencySeconds: 0.3,
  timeShiftSeconds: 20,
  playbackRates: { min: 0.95, max: 1.05 },
};

/** From 0.4 to 8 Mbit/s, for links of any kind; rates are not scaled. */
const LADDER: Omit<Scenario, 'name'> = {
  ...UHD,
  ladderBps: [400e3, 800e3, 1.5e6, 2.5e6, 4e6, 6e6, 8e6],
  lines: [360, 480, 540, 720, 1080, 1080, 1080],
  bufferCapSeconds: 20,
  rttSeconds: 0.05,
  mu: 8,
};
/** Short segments and dash.js's largest buffer; rates are not scaled. */
const SHORT: Omit<Scenario, 'name' | 'segmentSeconds' | 'segmentCount'> = {
  ...LADDER,
  ladderBps: [460e3, 1.06e6, 2.26e6, 4.76e6],
  lines: [360, 480, 720, 1080],
  bufferCapSeconds: 30,
  mu: 4.76,
};

/** CMAB (MMSys 2024), whose authors publish sessions of four targets on a dish. */
const CMAB = {
  ...UHD,
  ladderBps: [1e6, 2e6, 3e6, 4e6, 5e6, 6e6],
  lines: [480, 720, 720, 1080, 1080, 1080],
  segmentSeconds: 2,
  segmentCount: 160,
  bufferCapSeconds: 18,
  mu: 6,
  live: {
    chunkSeconds: 2,
    encoderLatencySeconds: 0.3,
    timeShiftSeconds: 20,
    playbackRates: { min: 0.83, max: 1.17 },
  },
};
const cmab = (name: string, targetLatencySeconds: number): Scenario => ({
  ...CMAB,
  name,
  live: { ...CMAB.live, targetLatencySeconds },
});

/**
 * Sources: SafeSABR (2026) for `uhd-8` and, with its own price of stalls, `safesabr`; Pensieve and T3P for
 * `pensieve-60`; CMAB (MMSys 2024) for `cmab`; the others are the project's own, of which `dash-rules` holds the
 * simulator's rules against dash.js's.
 */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'uhd-8': { ...UHD, name: 'uhd-8', bufferCapSeconds: 8 },
  'uhd-16': { ...UHD, name: 'uhd-16', bufferCapSeconds: 16 },
  'uhd-30': { ...UHD, name: 'uhd-30', bufferCapSeconds: 30 },
  'hd-16': { ...HD, name: 'hd-16', bufferCapSeconds: 16 },
  'hd-30': { ...HD, name: 'hd-30', bufferCapSeconds: 30 },
  'pensieve-60': {
    ...UHD,
    name: 'pensieve-60',
    ladderBps: [300e3, 750e3, 1200e3, 1850e3, 2850e3, 4300e3],
    lines: [240, 360, 480, 720, 1080, 1440],
    bufferCapSeconds: 60,
    rttSeconds: 0.08,
    mu: 4.3,
    traceScale: { meanBps: 2.5e6 },
  },
  'small-6': { ...UHD, name: 'small-6', segmentSeconds: 2, segmentCount: 90, bufferCapSeconds: 6 },
  'ladder-8': { ...LADDER, name: 'ladder-8' },
  'one-30': { ...SHORT, name: 'one-30', segmentSeconds: 1, segmentCount: 192 },
  'two-30': { ...SHORT, name: 'two-30', segmentSeconds: 2, segmentCount: 96 },
  safesabr: { ...UHD, name: 'safesabr', bufferCapSeconds: 8, mu: 40 },
  'dash-rules': { ...LADDER, name: 'dash-rules', segmentCount: 30, traceScale: { meanBps: 5e6 } },
  cmab: cmab('cmab', 5),
  'cmab-3': cmab('cmab-3', 3),
  'cmab-4': cmab('cmab-4', 4),
  'cmab-6': cmab('cmab-6', 6),
  'live-hd-1': { ...LIVE_HD, name: 'live-hd-1', live: { ...LIVE, targetLatencySeconds: 1 } },
  'live-hd-2': { ...LIVE_HD, name: 'live-hd-2', live: { ...LIVE, targetLatencySeconds: 2 } },
  'live-hd-3': { ...LIVE_HD, name: 'live-hd-3', live: { ...LIVE, targetLatencySeconds: 3 } },
  // Everybody who opens a stream when it begins joins far below its target.
  'live-begun-3': {
    ...LIVE_HD,
    name: 'live-begun-3',
    live: { ...LIVE, targetLatencySeconds: 3, timeShiftSeconds: 0.6, depthSeconds: 20 },
  },
  'live-hd-5': { ...LIVE_HD, name: 'live-hd-5', live: { ...LIVE, targetLatencySeconds: 5 } },
  'live-uhd-1': { ...LIVE_UHD, name: 'live-uhd-1', live: { ...LIVE, targetLatencySeconds: 1 } },
  'live-uhd-3': { ...LIVE_UHD, name: 'live-uhd-3', live: { ...LIVE, targetLatencySeconds: 3 } },
};

/** `[segment][representation]`; one factor per segment, because a complex scene is complex at every bitrate. */
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

/** A session of a live stream ends when the encoder does: seconds from the join. */
export function liveSessionSeconds(
  scenario: Pick<Scenario, 'segmentSeconds' | 'segmentCount'> & { live: LiveStream },
): number {
  return scenario.segmentCount * scenario.segmentSeconds - scenario.live.timeShiftSeconds;
}

/** The lowest latency at which media exists. */
export function encoderEdgeSeconds({ chunkSeconds, encoderLatencySeconds }: LiveStream): number {
  return chunkSeconds + encoderLatencySeconds;
}

/** The second of the session at which a chunk comes into being; negative before the join. */
export function chunkExistsAtSeconds(
  { segmentSeconds, live }: { segmentSeconds: number; live: LiveStream },
  chunk: { segmentIndex: number; chunkIndex: number },
): number {
  const endSeconds = chunk.segmentIndex * segmentSeconds + (chunk.chunkIndex + 1) * live.chunkSeconds;
  const atSeconds = endSeconds + live.encoderLatencySeconds - live.timeShiftSeconds;
  const pause = live.encoderPauses?.find((p) => p.fromSeconds <= atSeconds && atSeconds < p.fromSeconds + p.seconds);
  return pause === undefined ? atSeconds : pause.fromSeconds + pause.seconds;
}

/** Says how the scenario scales the rates of traces, for readers of its figures; empty if it does not scale them. */
export function scaleText({ traceScale }: Pick<Scenario, 'traceScale'>): string {
  if ('meanBps' in traceScale) return `each link scaled to a mean of ${traceScale.meanBps / 1e6} Mbit/s`;
  return traceScale.factor === 1 ? '' : `the rates of all links are multiplied by ${traceScale.factor}`;
}

/** dash.js's default, and what a new profile of Chromium says, unless all links are scaled to a lower mean. */
export function assumedLink({ assumed, traceScale }: Partial<Pick<Scenario, 'assumed' | 'traceScale'>>) {
  const browserBps = 10e6;
  const meanBps = traceScale && 'meanBps' in traceScale ? traceScale.meanBps : browserBps;
  return assumed ?? { playerBps: 1e6, browserBps: Math.min(browserBps, meanBps) };
}

/** The factor of the trace's rates in this scenario, without the payload share. The user's own traces keep theirs. */
export function traceScaleOf({ traceScale }: Pick<Scenario, 'traceScale'>, trace: Trace): number {
  if (trace.metadata.keepsRates) return 1;
  return 'factor' in traceScale ? traceScale.factor : traceScale.meanBps / meanRateBps(trace);
}
