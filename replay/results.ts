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

export interface SummaryRow {
  dataset: string;
  algorithm: string;
  sessions: number;
  qoeMean: number;
  qoeMedian: number;
  qoeP5: number;
  qoeP95: number;
  stallSecondsMean: number;
  stallSecondsWorst5pct: number;
  severeShare: number;
  meanBitrateBps: number;
  wastedShare: number;
  vsBaseline: {
    baseline: string;
    qoeDiff: Estimate;
    qoeMeanRatio: Estimate | null;
    qoeMedianRatio: Estimate | null;
    worst5pctDiff: Estimate;
    oracleGapClosed: Estimate | null;
  } | null;
}

export interface ResolvedScenario extends Scenario {
  /** `[segment][representation]`. */
  segmentSizesBits: number[][];
}

export interface Results {
  schema: 1;
  tool: { name: string; version: string; command: string; commit: string | null; [key: string]: unknown };
  scenario: ResolvedScenario;
  sessions: SessionResult[];
  summary: SummaryRow[];
}
