/** Compares settings of congestion controls by HTTP/3 downloads on the same links (`leo-abr transport sweep`). */

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { median, quantile } from '../abr/statistics/distributions.ts';
import { groupBy } from '../replay/evaluation/group-by.ts';
import type { PlannedSession } from '../replay/evaluation/plan/plan.ts';
import { pairedMeans } from '../replay/evaluation/statistics/paired-means.ts';
import type { DatasetUnits } from '../replay/evaluation/statistics/resampling-units.ts';
import type { Estimate, SessionResult } from '../replay/results.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { type Impairment, type KernelSteps, kernelSteps, linkCommands } from './kernel-steps.ts';
import { transportProgram } from './programs.ts';

export interface DownloadResult {
  /** Received bits / duration. */
  throughputBps: number;
  /** 95th percentile of the server's smoothed round trips, a sample each 50 ms. */
  rttSecondsP95: number;
  /** Lost packets / sent packets, as the server sees them. */
  lostShare: number;
}

/** A line of the program's `simulate` (README.md). Counts begin with the connection. */
export interface SweepSample {
  seconds: number;
  rttMs: number;
  sent: number;
  lost: number;
  cwndBytes: number;
}

export interface DownloadOptions {
  link: KernelSteps;
  /** Seed of the losses and of the congestion controls. */
  seed: number;
  rttSeconds: number;
  seconds: number;
}

/** One download. All settings of a place have the same link, losses included. */
export interface SweepRow extends Pick<SessionResult, 'dataset' | 'trace' | 'group' | 'startSeconds' | 'seed'> {
  /** The congestion control (`quicCongestion`). */
  flows: string;
  result: DownloadResult;
}

const DEFAULT_SETTING = 'bbr2';

/** A grid of BBRv2's parameters, and the other congestion controls. */
export const DEFAULT_FLOWS = [
  ...['reno', 'cubic', DEFAULT_SETTING],
  ...[1000, 2000, 4000, 5000, 10_000].flatMap((ms) =>
    [0.02, 0.04, 0.08, 0.16].map((loss) => `bbr2:probe-rtt=${ms},loss=${loss}`),
  ),
];

/** One flow in simulated time: the same options give the same result. Builds the program at first use. */
export async function download(
  flows: string,
  { link, seed, rttSeconds, seconds }: DownloadOptions,
): Promise<{ result: DownloadResult; samples: SweepSample[] }> {
  const program = spawn(transportProgram(), ['simulate', flows, String(seconds), String(seed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Its own process group: Ctrl-C is for the command, which ends after this download.
    detached: true,
  });
  program.stdin.end(`${linkCommands(link, { rttSeconds, seed })}\n`);
  const ended = new Promise<number | null>((resolve) => program.once('close', resolve));
  const lines = (await text(program.stdout)).trimEnd().split('\n');
  const status = await ended;
  if (status !== 0) throw new Error(`the simulated download of ${flows} failed (status ${status})`);
  const { receivedBits } = JSON.parse(lines.pop()!) as { receivedBits: number };
  const samples = lines.map((line) => JSON.parse(line) as SweepSample);
  const rtts = samples.map(({ rttMs }) => rttMs / 1000).sort((a, b) => a - b);
  const { lost, sent } = samples.at(-1) ?? { lost: Number.NaN, sent: 0 };
  const rttSecondsP95 = quantile(rtts, 0.95);
  return { result: { throughputBps: receivedBits / seconds, rttSecondsP95, lostShare: lost / sent }, samples };
}

/** Plays `jobs` downloads at a time; the rows are in the plan's order. Rejects when the signal aborts. */
export async function playSweep(
  plan: readonly PlannedSession[],
  options: {
    scenario: Scenario;
    impairment: Impairment;
    seconds: number;
    jobs: number;
    signal: AbortSignal;
    onProgress(done: number, total: number): void;
  },
): Promise<SweepRow[]> {
  const { scenario, impairment, seconds, jobs, signal, onProgress } = options;
  transportProgram();
  const rows: SweepRow[] = [];
  let done = 0;
  const queue = plan.entries();
  const worker = async () => {
    for (const [i, { trace, startSeconds, algorithm: flows, seed }] of queue) {
      signal.throwIfAborted();
      const link = kernelSteps(trace, scenario, { startSeconds, impairment, seed });
      const { rttSeconds } = scenario;
      const { result } = await download(flows, { link, seed, rttSeconds, seconds });
      const { dataset, recordingGroup: group } = trace.metadata;
      rows[i] = { dataset, trace: trace.name, group, startSeconds, seed, flows, result };
      onProgress(++done, plan.length);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  signal.throwIfAborted();
  return rows;
}

/** A setting against the default, over the places that have both: geometric means of ratios. */
export interface Ratios {
  throughput: Estimate;
  rttP95: Estimate;
}

/** Ratios per setting, with intervals over recording groups. A download of nothing has no ratio. */
export function ratiosToDefault(rows: readonly SweepRow[], { seed }: { seed: number }): Map<string, Ratios> {
  const bySetting = groupBy(
    rows.filter(({ result }) => result.throughputBps > 0),
    ({ flows }) => flows,
  );
  const byGroup: DatasetUnits = { resampledBy: 'groups', nameOf: ({ group }) => group };
  const ways = new Map(rows.map(({ dataset }) => [dataset, byGroup]));
  const logOf = (own: SweepRow, other: SweepRow, of: 'throughputBps' | 'rttSecondsP95') =>
    Math.log(own.result[of] / other.result[of]);
  const found = new Map<string, Ratios>();
  for (const [flows, own] of bySetting) {
    const means = pairedMeans(own, bySetting.get(DEFAULT_SETTING) ?? [], {
      keyOf: ({ dataset, trace, startSeconds }) => JSON.stringify([dataset, trace, startSeconds]),
      valuesOf: (one, other) => ({
        throughput: logOf(one, other, 'throughputBps'),
        rttP95: logOf(one, other, 'rttSecondsP95'),
      }),
      ...{ ways, seed },
    });
    if (means) found.set(flows, { throughput: asRatio(means.throughput), rttP95: asRatio(means.rttP95) });
  }
  return found;
}

function asRatio({ value, ci95 }: Estimate): Estimate {
  return { value: Math.exp(value), ci95: ci95 && [Math.exp(ci95[0]), Math.exp(ci95[1])] };
}

/** Medians of the downloads with a setting, over the links. */
export function settingMedians(rows: readonly SweepRow[], flows: string): DownloadResult {
  const results = rows.filter((row) => row.flows === flows).map(({ result }) => result);
  const names = ['throughputBps', 'rttSecondsP95', 'lostShare'] as const;
  const medians = names.map((name) => [name, median(results.map((result) => result[name]))]);
  return Object.fromEntries(medians) as DownloadResult;
}
