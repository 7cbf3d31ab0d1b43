/** What `leo-abr bench` notes of how its sessions were played, in the results' `tool.bench`: for the report, and for reviewers. */

import type { Impairment } from '../kernel/kernel-steps.ts';
import type { CongestionControl } from '../kernel/kernel-support.ts';
import type { CalibrationRow } from './calibration.ts';
import type { BenchEnvironment } from './environment.ts';

/** `tool.bench`. */
export interface BenchNotes {
  tier: string;
  /** Tier kernel alone. */
  kernel?: { congestionControl: CongestionControl; impairment: Impairment };
  /** Sessions side by side. */
  contexts: number;
  /** Runs of sessions that were rejected and repeated, in all parts together. */
  rejectedRuns: number;
  userAgent?: string;
  dashVersion?: string;
  /** One per call of the command: `--resume` adds another. */
  parts: BenchPart[];
}

/** One call of the command. */
export interface BenchPart {
  /** UTC, ISO 8601. */
  startedAt: string;
  endedAt: string;
  /** Sessions that count. */
  sessions: number;
  environment: BenchEnvironment;
  /** The system's load (mean of runnable threads over 1, 5, 15 minutes) before, after, and the highest 1-minute one in between. */
  load: { before: number[]; after: number[]; highest: number };
  /** How true the origin kept to known traces, in this browser. Absent where it was broken off before. */
  calibration: { before?: CalibrationRow[]; after?: CalibrationRow[] };
  rejections: Rejection[];
}

/** One run of a session that does not count. */
export interface Rejection {
  dataset: string;
  trace: string;
  startSeconds: number;
  algorithm: string;
  /** From 1. */
  attempt: number;
  reason: string;
}

/** The notes of results, as far as they are there: older results know less. */
export function benchNotesOf(tool: { readonly [key: string]: unknown }): BenchNotes | undefined {
  const notes = tool['bench'];
  if (typeof notes !== 'object' || notes === null || Array.isArray(notes)) return undefined;
  const { parts } = notes as { parts?: unknown };
  return { tier: 'origin', contexts: Number.NaN, rejectedRuns: 0, ...notes, parts: Array.isArray(parts) ? parts : [] };
}
