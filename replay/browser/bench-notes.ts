/** `tool.bench` of the results: how `leo-abr bench` played its sessions. */

import type { Impairment } from '../kernel/kernel-steps.ts';
import type { CongestionControl } from '../kernel/kernel-support.ts';
import type { CalibrationRow } from './calibration.ts';
import type { BenchEnvironment } from './environment.ts';

export interface BenchNotes {
  tier: string;
  /** Of the tier `kernel` only. */
  kernel?: { congestionControl: CongestionControl; impairment: Impairment };
  /** Concurrent sessions. */
  contexts: number;
  /** Rejected and repeated runs of sessions, in all parts. */
  rejectedRuns: number;
  userAgent?: string;
  dashVersion?: string;
  /** One per call of the command; `--resume` adds another. */
  parts: BenchPart[];
}

/** One call of the command. */
export interface BenchPart {
  /** UTC, ISO 8601. */
  startedAt: string;
  endedAt: string;
  /** Accepted sessions. */
  sessions: number;
  environment: BenchEnvironment;
  /** The system's load averages (1, 5, 15 minutes) before and after, and the highest 1-minute load. */
  load: { before: number[]; after: number[]; highest: number };
  /** The origin's accuracy on known traces, in this browser. Absent if the run was aborted before. */
  calibration: { before?: CalibrationRow[]; after?: CalibrationRow[] };
  rejections: Rejection[];
}

/** A rejected run of a session. */
export interface Rejection {
  dataset: string;
  trace: string;
  startSeconds: number;
  algorithm: string;
  /** From 1. */
  attempt: number;
  reason: string;
}

/** The notes of results, with defaults for fields that older results lack. */
export function benchNotesOf(tool: { readonly [key: string]: unknown }): BenchNotes | undefined {
  const notes = tool['bench'];
  if (typeof notes !== 'object' || notes === null || Array.isArray(notes)) return undefined;
  const { parts } = notes as { parts?: unknown };
  return { tier: 'origin', contexts: Number.NaN, rejectedRuns: 0, ...notes, parts: Array.isArray(parts) ? parts : [] };
}
