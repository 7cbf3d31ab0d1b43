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
  /** What this download cost (startup is not a stall). */
  stallSeconds: number;
  /** Bits that came and were thrown away before this segment's final download. */
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
  /** What went wrong, where `endedBy` is `fault`. */
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

/** What the bootstrap resamples: recording groups, recordings, or (all data sets together) what each of them does. */
export type ResampledBy = 'groups' | 'recordings' | 'mixed';

/** One algorithm on one data set, or on `ALL_DATASETS`. How each figure is made: replay/evaluation/README.md. */
export interface SummaryRow {
  dataset: string;
  algorithm: string;
  sessions: number;
  /** Sessions among them that were cut off, and that ended by a fault. */
  cutoffs: number;
  faults: number;
  /** QoE-linear. */
  qoeMean: number;
  qoeMedian: number;
  qoeP5: number;
  qoeP95: number;
  /** Mean of the upper bounds of QoE-linear; `optimal` only. */
  qoeUpperBoundMean?: number;
  /** Stalls without startup. */
  stallSecondsMean: number;
  stallSecondsWorst5pct: number;
  severeShare: number;
  startupSecondsMean: number;
  meanBitrateBps: number;
  /** Bits thrown away of all that came. */
  wastedShare: number;
  /** Null for the baseline itself, and where no session of it is paired with one of the algorithm. */
  vsBaseline: BaselineComparison | null;
}

/** Over the pairs of sessions, algorithm minus baseline. */
export interface BaselineComparison {
  baseline: string;
  /** Pairs of sessions of the same trace and start. */
  pairs: number;
  resampledBy: ResampledBy;
  /** How many of those units hold the pairs; with fewer than two there are no intervals. */
  units: number;
  qoeDiff: Estimate;
  /** Null unless the baseline's mean is clearly positive. */
  qoeMeanRatio: Estimate | null;
  /** Null unless the baseline's median is clearly positive. */
  qoeMedianRatio: Estimate | null;
  worst5pctDiff: Estimate;
  /** Null without `mpc-o`, and where its lead on the baseline is under 2 % of the top bitrate's QoE. */
  oracleGapClosed: Estimate | null;
}

/** `dataset` of the rows over all data sets together; there are none where there is one data set. */
export const ALL_DATASETS = 'all';

export interface ResolvedScenario extends Scenario {
  /** `[segment][representation]`. */
  segmentSizesBits: number[][];
}

/** What made the results, and with which flags. */
export interface ToolInfo {
  name: string;
  version: string;
  /** `simulate` or `bench`. */
  command: string;
  commit: string | null;
  /** `--seed`, `--baseline`. */
  seed: number;
  baseline: string;
  /** `--shard`; absent in results that are whole. */
  shard?: string;
  /** SHA-256 of the algorithms that are files, each with all that it imports. */
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
