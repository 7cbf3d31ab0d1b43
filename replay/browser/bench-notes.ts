/** `tool.bench` of the results: how `leo-abr bench` played its sessions. Node only. */

import { arch, availableParallelism, cpus, release, totalmem, type } from 'node:os';
import type { PlayerName } from '../algorithms.ts';
import type { SessionResult } from '../results.ts';

export interface BenchNotes {
  tier: string;
  /** Only in the tiers `kernel` and `quic`. */
  kernel?: { congestionControl: string; impairment: { loss: number } };
  lateShare: number;
  rejectedRuns: number;
  userAgent?: string;
  playerVersions?: Partial<Record<PlayerName, string>>;
  /** One per call of the command; `--resume` adds another. */
  parts: BenchPart[];
}

export type BenchPart = ReturnType<typeof newPart>;

/** Rejected runs of sessions; `attempt` counts from 1. */
type Rejection = Pick<SessionResult, 'dataset' | 'trace' | 'startSeconds' | 'algorithm'> & {
  attempt: number;
  reason: string;
};

/** The notes of a call that begins now. Times are UTC in ISO 8601. */
export function newPart(browser: { version: string; source: string }) {
  const now = new Date().toISOString();
  return {
    startedAt: now,
    endedAt: now,
    sessions: 0,
    /** Sessions at the same time: at the start, and after each change. */
    contexts: [] as readonly number[],
    environment: {
      node: process.version,
      /** Kernel, its release and the architecture. */
      system: `${type()} ${release()} ${arch()}`,
      processor: cpus()[0]?.model.trim() ?? 'unknown',
      /** Threads that this process can use at a time. */
      cores: availableParallelism(),
      memoryBytes: totalmem(),
      browser: browser.version,
      browserSource: browser.source,
    },
    rejections: [] as Rejection[],
  };
}

/** The notes of results; undefined for results of `simulate`. */
export function benchNotesOf(tool: { readonly [key: string]: unknown }): BenchNotes | undefined {
  return tool['bench'] as BenchNotes | undefined;
}
