/** Compares settings of congestion controls by HTTP/3 downloads on the same links (`leo-abr transport sweep`). */

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { InputError } from '../abr/errors.ts';
import { median, quantile } from '../abr/quantile.ts';
import { groupBy } from '../replay/evaluation/group-by.ts';
import { pairedMeans } from '../replay/evaluation/paired-means.ts';
import type { PlannedSession } from '../replay/evaluation/plan.ts';
import type { DatasetUnits } from '../replay/evaluation/resampling-units.ts';
import { textTable } from '../replay/formats/text-table.ts';
import type { Estimate } from '../replay/results.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { type Impairment, type KernelSteps, kernelSteps, linkCommands } from './kernel-steps.ts';
import { quicCongestion, transportProgram } from './programs.ts';

export interface DownloadResult {
  /** Received bits of all flows / duration. */
  throughputBps: number;
  /** Of the server's smoothed round trips, a sample each 50 ms per flow. */
  rttSecondsP95: number;
  /** Lost packets / sent packets, as the server sees them. */
  lostShare: number;
}

/** A line of the program's `simulate` (README.md); counts since the connection's begin. */
export interface Sample {
  group: number;
  flow: number;
  seconds: number;
  rttMs: number;
  sent: number;
  lost: number;
  cwndBytes: number;
}

export interface DownloadOptions {
  link: KernelSteps;
  /** Of the losses and of the congestion controls. */
  seed: number;
  rttSeconds: number;
  seconds: number;
}

/** One download; the same link, losses included, for all settings of a place. */
export interface SweepRow {
  dataset: string;
  trace: string;
  /** Recording group. */
  group: string;
  startSeconds: number;
  seed: number;
  /** `groupsOf`. */
  flows: string;
  /** Of each group of flows. */
  results: DownloadResult[];
}

/** What `sweep` writes. */
export interface SweepFile {
  tool: { name: string; version: string; commit: string | null; command: 'transport sweep'; seed: number };
  /** Its scale and RTT determine the links. */
  scenario: string;
  impairment: string;
  /** Of each download. */
  seconds: number;
  rows: SweepRow[];
}

/** The setting that others are compared with. */
const DEFAULT_SETTING = 'bbr2';

/** A grid of BBRv2's parameters, the other congestion controls, and 8 CUBIC flows beside 8 others. */
export const DEFAULT_FLOWS = [
  ...['reno', 'cubic', DEFAULT_SETTING],
  ...[1000, 2000, 4000, 5000, 10_000].flatMap((ms) =>
    [0.02, 0.04, 0.08, 0.16].map((loss) => `bbr2:probe-rtt=${ms},loss=${loss}`),
  ),
  ...['8*cubic+8*bbr2', '8*cubic+8*bbr2:probe-rtt=4000,loss=0.08'],
];

/**
 * The congestion control of each group of flows side by side: `bbr2`, `8*cubic+8*bbr2:loss=0.08`.
 * @throws {InputError} of `--flows`
 */
export function groupsOf(flows: string): string[] {
  return flows.split('+').map((part) => {
    const [, congestion] = /^(?:[1-9]\d?\*)?(.+)$/.exec(part) ?? [];
    if (congestion === undefined) throw new InputError('--flows', 'such as bbr2 or 8*cubic+8*bbr2', flows);
    return quicCongestion(congestion, '--flows');
  });
}

/**
 * Groups of flows (`groupsOf`) on one link, which starts with them: quiche's congestion controls in simulated time, so
 * that the same options give the same result. Builds the program at first use; rejects if it fails.
 */
export async function download(
  flows: string,
  { link, seed, rttSeconds, seconds }: DownloadOptions,
): Promise<{ results: DownloadResult[]; samples: Sample[] }> {
  const program = spawn(transportProgram(), ['simulate', flows, String(seconds), String(seed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Of a process group of its own: Ctrl-C is for the command, which ends after this download.
    detached: true,
  });
  program.stdin.end(`${linkCommands(link, { rttSeconds, seed })}\n`);
  const ended = new Promise<number | null>((resolve) => program.once('close', resolve));
  const lines = (await text(program.stdout)).trimEnd().split('\n');
  const status = await ended;
  if (status !== 0) throw new Error(`the simulated download of ${flows} failed (status ${status})`);
  const found = lines.map((line) => JSON.parse(line) as Sample & { receivedBits?: number });
  const samples = found.filter(({ receivedBits }) => receivedBits === undefined);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const results = groupsOf(flows).map((_, group) => {
    const own = samples.filter((sample) => sample.group === group);
    const last = [...new Map(own.map((sample) => [sample.flow, sample])).values()];
    const rtts = own.map(({ rttMs }) => rttMs / 1000).sort((a, b) => a - b);
    const receivedBits = sum(found.map((line) => (line.group === group ? (line.receivedBits ?? 0) : 0)));
    return {
      throughputBps: receivedBits / seconds,
      rttSecondsP95: quantile(rtts, 0.95),
      lostShare: sum(last.map(({ lost }) => lost)) / sum(last.map(({ sent }) => sent)),
    };
  });
  return { results, samples };
}

/**
 * Downloads with each setting (`algorithm`) on each link of a plan, `jobs` at a time; the rows are in the plan's order.
 * Rejects when the signal aborts.
 */
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
      const { results } = await download(flows, { link, seed, rttSeconds, seconds });
      const { dataset, recordingGroup: group } = trace.metadata;
      rows[i] = { dataset, trace: trace.name, group, startSeconds, seed, flows, results };
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

/** Per setting with a single group of flows; intervals over recording groups. A download of nothing has no ratio. */
export function ratiosToDefault(rows: readonly SweepRow[], { seed }: { seed: number }): Map<string, Ratios> {
  const single = groupBy(
    rows.filter(({ results }) => results.length === 1 && results[0]!.throughputBps > 0),
    ({ flows }) => flows,
  );
  const byGroup: DatasetUnits = { resampledBy: 'groups', nameOf: ({ group }) => group };
  const ways = new Map(rows.map(({ dataset }) => [dataset, byGroup]));
  const logOf = (own: SweepRow, other: SweepRow, of: 'throughputBps' | 'rttSecondsP95') =>
    Math.log(own.results[0]![of] / other.results[0]![of]);
  const found = new Map<string, Ratios>();
  for (const [flows, own] of single) {
    const means = pairedMeans(own, single.get(DEFAULT_SETTING) ?? [], {
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

/** Medians over the links, of downloads with one flow of a setting. */
export function settingMedians(rows: readonly SweepRow[], flows: string): DownloadResult {
  const results = rows.filter((row) => row.flows === flows).map((row) => row.results[0]!);
  const medianOf = (of: keyof DownloadResult) => median(results.map((result) => result[of]));
  return {
    throughputBps: medianOf('throughputBps'),
    rttSecondsP95: medianOf('rttSecondsP95'),
    lostShare: medianOf('lostShare'),
  };
}

/**
 * The report of a sweep as text: a line per setting of one flow, with its ratios to `bbr2`, then one per pair of groups,
 * with quantiles of the first group's throughput / the second's over the links.
 */
export function sweepTable({ rows, tool }: SweepFile): string {
  const ratio = ({ value, ci95 }: Estimate) =>
    `${value.toFixed(2)}${ci95 ? ` (${ci95.map((end) => end.toFixed(2)).join(' to ')})` : ''}`;
  const settings = [...ratiosToDefault(rows, tool)].map(([flows, { throughput, rttP95 }]) => {
    const { throughputBps, rttSecondsP95, lostShare } = settingMedians(rows, flows);
    const medians = [throughputBps / 1e6, 1000 * rttSecondsP95, 100 * lostShare].map((value) => value.toFixed(2));
    return [flows, ...medians, ratio(throughput), ratio(rttP95)];
  });
  const pairs = rows.filter(({ results }) => results.length === 2 && results[1]!.throughputBps > 0);
  const shares = [...groupBy(pairs, ({ flows }) => flows)].map(([flows, own]) => {
    const sorted = own.map(({ results: [a, b] }) => a!.throughputBps / b!.throughputBps).sort((a, b) => a - b);
    return [flows, ...[0.1, 0.5, 0.9].map((level) => quantile(sorted, level).toFixed(2))];
  });
  const titles = ['setting', 'Mbit/s', 'p95 RTT, ms', 'lost, %', 'throughput / bbr2', 'p95 RTT / bbr2'];
  const blocks = [
    [titles, ...settings],
    [['first / second group', '10 %', '50 %', '90 %'], ...shares],
  ].filter(({ length }) => length > 1);
  return blocks.map((block) => `${textTable(block, 1).join('\n')}\n`).join('\n');
}
