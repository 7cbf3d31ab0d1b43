/** The results schema. Version 2 is 1 with `live`; results on demand stay version 1, byte for byte. */

import type { Household } from './households.ts';
import type { Scenario } from './scenarios.ts';

export interface SegmentRow {
  index: number;
  bitrateBps: number;
  sizeBits: number;
  requestedAtSeconds: number;
  downloadSeconds: number;
  bufferLevelSeconds: number;
  /** Stalls that this download caused (startup is not a stall). */
  stallSeconds: number;
  /** Received bits of abandoned requests for this segment. */
  abandonedBits: number;
  reason: string;
}

export interface QoeForms {
  linear: number;
  log: number;
  /** Only for the Pensieve ladder. */
  hd: number | null;
  /** 0 to 100, below with many freezes (abr/qoe/perceived-qoe.ts). */
  perceived: number;
}

export interface SessionResult {
  trace: string;
  dataset: string;
  group: string;
  startSeconds: number;
  algorithm: string;
  seed: number;
  endedBy: 'end' | 'cutoff' | 'fault';
  fault?: string;
  segments: SegmentRow[];
  qoe: QoeForms;
  meanBitrateBps: number;
  stallSeconds: number;
  stallCount: number;
  /** Freezes of at least 0.1 s, and shorter ones (abr/qoe/session-qoe.ts). */
  freezeCount: number;
  shortFreezeCount: number;
  startupSeconds: number;
  switches: number;
  switchBps: number;
  wastedBits: number;
  live?: LiveMetrics;
  household?: SeatInHousehold;
  /** Simulator: the session's second at which a forecast first named handovers; absent if none did. */
  handoversAtSeconds?: number;
  /** Seconds that the session ran past the end of its trace, which then began again; absent if it did not. */
  pastTraceSeconds?: number;
  /** Mean payload rate of the link over the media's duration, if below the lowest bitrate. */
  slowLinkBps?: number;
  /** Time per decision, only with `--timings`. */
  decisionMicros?: { p50: number; p99: number };
}

/** `startSeconds`, `trace` and `household.name` and `.algorithm` identify the household. */
export interface SeatInHousehold {
  name: string;
  /** The algorithm that was given to the household; the session's own may differ. */
  algorithm: string;
  /** From 0, in the household's order. */
  player: number;
  /** Second 0 of this session, in seconds after `startSeconds`. */
  joinSeconds: number;
  /** Bits that arrived in the household / bits of the link, until its last session had its last bit. */
  linkUtilisation: number;
  /** Simulator: mean rate of the household's other traffic while it has bits to send; absent without traffic. */
  trafficBps?: number;
}

/** All sessions of a household together; replay/evaluation/README.md defines the figures. */
export interface HouseholdResult extends Pick<SessionResult, 'trace' | 'dataset' | 'group' | 'startSeconds'> {
  household: string;
  /** The algorithm that was given to the household. */
  algorithm: string;
  players: number;
  /** Means over the players, and the least of them. Without segments there is no quality. */
  perceived: number;
  perceivedLeast: number;
  quality?: number;
  stallSeconds: number;
  /** Sum of QoE-linear, or of LoL+'s QoE in live scenarios. */
  qoeSum: number;
  qoeLeast: number;
  qoeP5: number;
  qoeUnfairness: number;
  bitrateUnfairness: number;
  instability: number;
  linkUtilisation: number;
  /** Mean rate of the other traffic. Simulator only. */
  trafficBps?: number;
}

/** Figures of a live session from the first picture to the end. Latency counts from the capture of a picture. */
export interface LiveMetrics {
  /**
   * LoL+'s QoE in Mbit/s per 4 s of media: per segment of media, segment x R - |dR| - Rmax x stall - w x latency - Rmin
   * x |1 - rate|; w = 0.05 Rmin up to 1.1 s of latency, else 0.1 Rmax (dash.js, LoLpQoEEvaluator.js). Latency and rate
   * are means over time.
   */
  qoe: number;
  /** Seconds of the clock from the first picture to the end. */
  watchedSeconds: number;
  /** Over `watchedSeconds`, stalls included. */
  latencySecondsMean: number;
  latencySecondsP95: number;
  stallSecondsPerMinute: number;
  stallsPerMinute: number;
  /**
   * Share of `watchedSeconds` in which media played at a rate off 1 by at least 0.01, and mean |1 - rate| while media
   * played.
   */
  offRateShare: number;
  rateDeviationMean: number;
  /** Seeks to the live edge. */
  jumps: number;
}

/** On demand. */
export interface FirstMinute {
  /** Perceived QoE of the first 60 s of media. */
  perceivedFirst60Seconds: number;
  /** From the first request until a segment plays that has 80 % of the mean bitrate after the first minute of media. */
  rampSeconds: number;
}

export interface Estimate {
  value: number;
  ci95: [number, number] | null;
}

/** The bootstrap's units: recording groups, recordings, or a mixture over several data sets. */
export type ResampledBy = 'groups' | 'recordings' | 'mixed';

/** One algorithm on one data set, or on `ALL_DATASETS`. replay/evaluation/README.md defines the other figures. */
export interface SummaryRow {
  dataset: string;
  algorithm: string;
  sessions: number;
  /** Sessions that were cut off, and sessions that ended by a fault. */
  cutoffs: number;
  faults: number;
  /** Sessions that ran past the end of their trace; absent if none did. */
  pastTrace?: number;
  /** Mean QoE-linear. */
  qoeMean: number;
  qoeMedian: number;
  qoeP5: number;
  qoeP95: number;
  /** Perceived QoE. */
  qoePerceivedMean: number;
  /** Quality of the received segments, 0 to 100, and the share of them below 50. Absent without segments. */
  qualityMean?: number;
  below50Share?: number;
  /** Freezes per session, and those below 0.1 s. */
  freezeCountMean: number;
  shortFreezeCountMean: number;
  /** Mean stall time without startup. */
  stallSecondsMean: number;
  stallSecondsWorst5pct: number;
  severeShare: number;
  startupSecondsMean: number;
  meanBitrateBps: number;
  /** Discarded bits / received bits. */
  wastedShare: number;
  /** Received bits, discarded bits included, per second of received media. Absent without segments. */
  deliveredBps?: number;
  /** Changes of bitrate per minute of media. */
  switchesPerMinute: number;
  /** Share of the sessions in which a forecast named handovers; absent where none did. */
  handoverShare?: number;
  /** On demand: means over the sessions. */
  firstMinute?: FirstMinute;
  /** Means over the sessions of a live scenario. */
  live?: Omit<LiveMetrics, 'watchedSeconds' | 'jumps'> & {
    jumpsPerMinute: number;
    freezesPerMinute: number;
    shortFreezesPerMinute: number;
  };
  /** Null for the baseline itself, and without pairs of sessions. */
  vsBaseline: BaselineComparison | null;
}

/** A row over the sessions with a slow link (`slowLinkBps`), or over the others. */
export interface LinkRow extends SummaryRow {
  links: 'slow' | 'other';
}

/** Algorithm minus baseline, over pairs of sessions of the same trace and start. */
export interface BaselineComparison {
  baseline: string;
  pairs: number;
  resampledBy: ResampledBy;
  /** Number of units with pairs; fewer than two have no intervals. */
  units: number;
  qoeDiff: Estimate;
  /** The difference of perceived QoE. */
  perceivedDiff: Estimate;
  /** Null unless the baseline's mean is clearly positive. */
  qoeMeanRatio: Estimate | null;
  worst5pctDiff: Estimate;
  severeShareDiff: Estimate;
  /** `deliveredBps` / the baseline's. Absent without segments. */
  deliveredRatio?: Estimate;
  /**
   * In perceived QoE, at most 1. Null without `mpc-o`, and if `mpc-o` is below the algorithm or gains less than 2 points.
   */
  oracleGapClosed: Estimate | null;
  /** On demand: differences of means. */
  firstMinute?: Record<keyof FirstMinute, Estimate>;
  /** Differences of means in a live scenario. */
  live?: Record<
    'qoeDiff' | 'latencySecondsDiff' | 'stallSecondsPerMinuteDiff' | 'freezesPerMinuteDiff' | 'bitrateBpsDiff',
    Estimate
  >;
}

/** `dataset` of the rows over all data sets; results of a single data set lack these rows. */
export const ALL_DATASETS = 'all';

export interface ResolvedScenario extends Scenario {
  /** `[segment][representation]`. */
  segmentSizesBits: number[][];
  /** Qualities, 0 to 100, in the same order. Default: modelled from the bitrates. */
  qualities?: number[][];
}

/** A trace that is too short for a session, or a start in `at:` without room for a session. */
export type LeftOutStart = Pick<SessionResult, 'dataset' | 'trace' | 'startSeconds'> & { reason: string };

export interface ToolInfo {
  name: string;
  version: string;
  command: string;
  commit: string | null;
  seed: number;
  baseline: string;
  /** `--shard`; absent in complete results. */
  shard?: string;
  /** A shard's digest of recordings, starts, algorithms and models, the same in all shards of a run. */
  work?: string;
  /** SHA-256 of the algorithms that are files, with their imports, and of models that are files. */
  algorithmFiles?: Readonly<Record<string, string>>;
  household?: Household;
  /** Data sets of the user's own traces, whose rates the scenario's scale leaves as they are. */
  unscaledDatasets?: readonly string[];
  /** The starts without room for a session; absent if all starts have room. */
  leftOut?: readonly LeftOutStart[];
  [key: string]: unknown;
}

export interface Results {
  schema: 1 | 2;
  tool: ToolInfo;
  scenario: ResolvedScenario;
  sessions: SessionResult[];
  /** A row per household, only with `--household`. */
  households?: HouseholdResult[];
  summary: SummaryRow[];
  /** The rows of `summary` for slow links, then for the others; absent without sessions on slow links. */
  byLink?: LinkRow[];
}
