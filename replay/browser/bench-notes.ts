/** `tool.bench` of the results: how `leo-abr bench` played its sessions. */

import { PLAYERS, type PlayerName } from '../forecasters.ts';
import type { CalibrationRow } from './calibration.ts';
import type { BenchEnvironment } from './environment.ts';

export interface BenchNotes {
  tier: string;
  /** Of the tiers `kernel` and `quic`. */
  kernel?: { congestionControl: string; impairment: { loss: number } };
  /** Concurrent sessions. */
  contexts: number;
  /** Sessions with more late downloads were rejected; absent in older results: `TOLERATED_LATE_SHARE`. */
  lateShare?: number;
  /** Rejected and repeated runs of sessions, in all parts. */
  rejectedRuns: number;
  userAgent?: string;
  playerVersions?: Partial<Record<PlayerName, string>>;
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

/** `dash.js 5.2.1, hls.js 1.7.4`; undefined if unknown. */
export function playersOf({ playerVersions = {} }: BenchNotes): string | undefined {
  const titles: Readonly<Record<PlayerName, string>> = { dash: 'dash.js', hls: 'hls.js', shaka: 'Shaka Player' };
  const players = PLAYERS.flatMap((name) => (playerVersions[name] ? `${titles[name]} ${playerVersions[name]}` : []));
  return players.length > 0 ? players.join(', ') : undefined;
}

/** The notes of results, with defaults for fields that older results lack. */
export function benchNotesOf(tool: { readonly [key: string]: unknown }): BenchNotes | undefined {
  const notes = tool['bench'];
  if (typeof notes !== 'object' || notes === null || Array.isArray(notes)) return undefined;
  const { parts, dashVersion } = notes as { parts?: unknown; dashVersion?: string };
  return {
    tier: 'origin',
    contexts: Number.NaN,
    rejectedRuns: 0,
    ...(dashVersion !== undefined && { playerVersions: { dash: dashVersion } }),
    ...notes,
    parts: Array.isArray(parts) ? parts : [],
  };
}
