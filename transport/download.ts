/** Downloads over the emulated link without a browser: HTTP/3 in simulated time, or the kernel's TCP. */

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../abr/quantile.ts';
import { KernelLink } from './kernel-link.ts';
import { type KernelSteps, linkCommands } from './kernel-steps.ts';
import type { CongestionControl } from './kernel-support.ts';
import { transportProgram } from './transport-program.ts';

/** Connections under the same congestion control (`quicCongestion`). */
export interface FlowGroup {
  congestion: string;
  flows: number;
}

export interface DownloadResult {
  /** Received bits of all flows / duration. */
  throughputBps: number;
  /** Of the server's smoothed round trips, a sample each 50 ms per flow; absent: not measured. */
  rttSecondsMedian?: number;
  rttSecondsP95?: number;
  /** Lost packets / sent packets, as the server sees them. */
  lostShare: number;
}

/** A line of `simulate` (transport/README.md); counts since the connection's begin. */
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

/**
 * Groups of flows side by side on one link, which starts with them: quiche's congestion controls in simulated time, so
 * that the same options give the same result. Builds the program at first use; rejects if it fails.
 */
export async function download(
  groups: readonly FlowGroup[],
  { link, seed, rttSeconds, seconds }: DownloadOptions,
): Promise<{ results: DownloadResult[]; samples: Sample[] }> {
  const args = ['simulate', '--seconds', String(seconds), '--seed', String(seed)];
  const flows = groups.map(({ congestion, flows }) => `${flows}*${congestion}`).join('+');
  const program = spawn(transportProgram(), [...args, '--groups', flows], {
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
  const results = groups.map((_, group) => {
    const own = samples.filter((sample) => sample.group === group);
    const last = [...new Map(own.map((sample) => [sample.flow, sample])).values()];
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    const rtts = own.map(({ rttMs }) => rttMs / 1000).sort((a, b) => a - b);
    const receivedBits = sum(found.map((line) => (line.group === group ? (line.receivedBits ?? 0) : 0)));
    return {
      throughputBps: receivedBits / seconds,
      rttSecondsMedian: quantile(rtts, 0.5),
      rttSecondsP95: quantile(rtts, 0.95),
      lostShare: sum(last.map(({ lost }) => lost)) / sum(last.map(({ sent }) => sent)),
    };
  });
  return { results, samples };
}

/** One flow of the kernel's TCP in real time (`kernelTierObstacle`). Its bits include headers. */
export async function tcpDownload(
  congestionControl: CongestionControl,
  { link: steps, seed, rttSeconds, seconds }: DownloadOptions,
): Promise<DownloadResult> {
  const link = await KernelLink.start({ congestionControl, rttSeconds });
  try {
    const server = await link.listen();
    server.close();
    link.play(steps, seed);
    link.download({ fromSeconds: 0, toSeconds: seconds });
    await sleep(seconds * 1000);
    const { bytes, packets, dropped, lost } = await link.statistics();
    return { throughputBps: (bytes * 8) / seconds, lostShare: (dropped + lost) / (packets + dropped + lost) };
  } finally {
    await link.close();
  }
}
