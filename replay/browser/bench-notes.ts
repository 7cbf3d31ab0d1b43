/** `tool.bench` of the results: how `leo-abr bench` played its sessions. Node only. */

import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import type { PlayerName } from '../forecasters.ts';
import type { SessionResult } from '../results.ts';

export interface BenchNotes {
  tier: string;
  /** Of the tiers `kernel` and `quic`. */
  kernel?: { congestionControl: string; impairment: { loss: number } };
  contexts: number;
  lateShare: number;
  rejectedRuns: number;
  userAgent?: string;
  playerVersions?: Partial<Record<PlayerName, string>>;
  /** One per call of the command; `--resume` adds another. */
  parts: BenchPart[];
}

export interface BenchPart {
  /** UTC, ISO 8601. */
  startedAt: string;
  endedAt: string;
  sessions: number;
  environment: {
    node: string;
    /** Kernel, its release and the architecture. */
    system: string;
    processor: string;
    /** Threads that this process can use at a time. */
    cores: number;
    memoryBytes: number;
    browser: string;
    browserSource: string;
  };
  /** The system's load averages (1, 5, 15 minutes) before and after, and the highest 1-minute load. */
  load: { before: number[]; after: number[]; highest: number };
  /** Rejected runs of sessions; `attempt` counts from 1. */
  rejections: (Pick<SessionResult, 'dataset' | 'trace' | 'startSeconds' | 'algorithm'> & {
    attempt: number;
    reason: string;
  })[];
}

/** The notes of a call that begins now; `updatePart` sets the end and the load to the current ones. */
export function newPart(browser: { version: string; source: string }): BenchPart {
  const [now, load] = [new Date().toISOString(), systemLoad()];
  return {
    startedAt: now,
    endedAt: now,
    sessions: 0,
    environment: {
      node: process.version,
      system: `${type()} ${release()} ${arch()}`,
      processor: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableParallelism(),
      memoryBytes: totalmem(),
      browser: browser.version,
      browserSource: browser.source,
    },
    load: { before: load, after: load, highest: load[0]! },
    rejections: [],
  };
}

export function updatePart(part: BenchPart): void {
  part.endedAt = new Date().toISOString();
  part.load.after = systemLoad();
  part.load.highest = Math.max(part.load.highest, part.load.after[0]!);
}

/** Load averages of 1, 5 and 15 minutes, rounded to hundredths; zeros on systems without them. */
function systemLoad(): number[] {
  return loadavg().map((load) => Math.round(load * 100) / 100);
}

/** The notes of results; undefined for those of `simulate`. */
export function benchNotesOf(tool: { readonly [key: string]: unknown }): BenchNotes | undefined {
  return tool['bench'] as BenchNotes | undefined;
}
