/** The results schema (version 1) that `simulate`, `bench`, `merge` and `report` share. Units are in the names. */

import type { Scenario } from './scenarios.ts';

export interface SegmentRow {
  index: number;
  bitrateBps: number;
  sizeBits: number;
  /** From the session's first request. */
  requestedAtSeconds: number;
  downloadSeconds: number;
  /** At the moment of the request. */
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
}

export interface SessionResult {
  trace: string;
  dataset: string;
  group: string;
  startSeconds: number;
  algorithm: string;
  seed: number;
  endedBy: 'end' | 'cutoff' | 'fault';
  /** The error, if `endedBy` is `fault`. */
  fault?: string;
  segments: SegmentRow[];
  qoe: QoeForms;
  /** `optimal` only. */
  qoeUpperBound?: QoeForms;
  meanBitrateBps: number;
  stallSeconds: number;
  stallCount: number;
  startupSeconds: number;
  switches: number;
  switchBps: number;
  wastedBits: number;
  /** Only with `--timings`. */
  decisionMicros?: { p50: number; p99: number };
}

export interface Estimate {
  value: number;
  ci95: [number, number] | null;
}

/** The bootstrap's units: recording groups, recordings, or a mixture over several data sets. */
export type ResampledBy = 'groups' | 'recordings' | 'mixed';

/** One algorithm on one data set, or on `ALL_DATASETS`. replay/evaluation/README.md defines the figures. */
export interface SummaryRow {
  dataset: string;
  algorithm: string;
  sessions: number;
  /** How many of them were cut off, and how many ended by a fault. */
  cutoffs: number;
  faults: number;
  /** QoE-linear. */
  qoeMean: number;
  qoeMedian: number;
  qoeP5: number;
  qoeP95: number;
  /** Mean of the upper bounds of QoE-linear; `optimal` only. */
  qoeUpperBoundMean?: number;
  /** Without startup. */
  stallSecondsMean: number;
  stallSecondsWorst5pct: number;
  severeShare: number;
  startupSecondsMean: number;
  meanBitrateBps: number;
  /** Discarded bits / received bits. */
  wastedShare: number;
  /** Null for the baseline itself, and without pairs of sessions. */
  vsBaseline: BaselineComparison | null;
}

/** Algorithm minus baseline, over pairs of sessions of the same trace and start. */
export interface BaselineComparison {
  baseline: string;
  pairs: number;
  resampledBy: ResampledBy;
  /** Number of units with pairs; with fewer than two there are no intervals. */
  units: number;
  qoeDiff: Estimate;
  /** Null unless the baseline's mean is clearly positive. */
  qoeMeanRatio: Estimate | null;
  /** Null unless the baseline's median is clearly positive. */
  qoeMedianRatio: Estimate | null;
  worst5pctDiff: Estimate;
  /** Null without `mpc-o`, and if its gain over the baseline is below 2 % of the top bitrate's QoE. */
  oracleGapClosed: Estimate | null;
}

/** `dataset` of the rows over all data sets; results of a single data set have no such rows. */
export const ALL_DATASETS = 'all';

export interface ResolvedScenario extends Scenario {
  /** `[segment][representation]`. */
  segmentSizesBits: number[][];
}

/** The command that made the results, and its flags. */
export interface ToolInfo {
  name: string;
  version: string;
  /** `simulate` or `bench`. */
  command: string;
  commit: string | null;
  /** `--seed`, `--baseline`. */
  seed: number;
  baseline: string;
  /** `--shard`; absent in complete results. */
  shard?: string;
  /** SHA-256 of the algorithms that are files, with their imports. */
  algorithmFiles?: Readonly<Record<string, string>>;
  [key: string]: unknown;
}

export interface Results {
  schema: 1;
  tool: ToolInfo;
  scenario: ResolvedScenario;
  sessions: SessionResult[];
  summary: SummaryRow[];
}
