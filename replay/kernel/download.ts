/** Downloads over HTTP/3 through the emulated link, without a browser. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { quantile } from '../../abr/quantile.ts';
import { KernelLink } from './kernel-link.ts';
import type { KernelSteps } from './kernel-steps.ts';
import { transportProgram } from './transport-program.ts';

/** Connections under the same congestion control (`quicCongestion`). */
export interface FlowGroup {
  congestion: string;
  flows: number;
}

export interface DownloadResult {
  /** Received bits of all flows / duration. */
  throughputBps: number;
  /** Of the server's smoothed round trips, a sample each 50 ms per flow. */
  rttSecondsMedian: number;
  rttSecondsP95: number;
  /** Lost packets / sent packets, as the server sees them. */
  lostShare: number;
}

/** A line of the server's `--samples` (transport/README.md); counts since the connection's begin. */
export interface Sample {
  flow: number;
  seconds: number;
  rttMs: number;
  sent: number;
  lost: number;
  cwndBytes: number;
}

/** Groups of flows side by side on one link, which starts with them. Builds the program at first use. */
export async function download(
  groups: readonly FlowGroup[],
  {
    link: steps,
    seed,
    rttSeconds,
    seconds,
    onSample,
  }: {
    link: KernelSteps;
    seed: number;
    rttSeconds: number;
    seconds: number;
    onSample?(sample: Sample, group: number): void;
  },
): Promise<DownloadResult[]> {
  const link = await KernelLink.start({ rttSeconds });
  try {
    const program = link.program('client', transportProgram(), { isFirst: true });
    const samples: Sample[][] = groups.map(() => []);
    const servers: string[] = [];
    for (const [i, { congestion }] of groups.entries()) {
      const { url } = await link.serveHttp3(congestion, {
        port: 9000 + i,
        onSample(line) {
          const sample = JSON.parse(line) as Sample;
          samples[i]!.push(sample);
          onSample?.(sample, i);
        },
      });
      servers.push(new URL(url).host);
    }
    link.play(steps, seed);
    const received = await Promise.all(
      groups.map(({ flows }, i) => receivedBits(program, { to: servers[i]!, seconds, flows })),
    );
    return samples.map((ofGroup, i) => {
      const rtts = ofGroup.map(({ rttMs }) => rttMs / 1000).sort((a, b) => a - b);
      const last = new Map(ofGroup.map((sample) => [sample.flow, sample]));
      const total = (key: 'sent' | 'lost') => [...last.values()].reduce((sum, sample) => sum + sample[key], 0);
      return {
        throughputBps: received[i]! / seconds,
        rttSecondsMedian: quantile(rtts, 0.5),
        rttSecondsP95: quantile(rtts, 0.95),
        lostShare: total('lost') / total('sent'),
      };
    });
  } finally {
    await link.close();
  }
}

/** Runs the client; rejects if it fails. */
async function receivedBits(
  program: string,
  { to, seconds, flows }: { to: string; seconds: number; flows: number },
): Promise<number> {
  const args = ['download', '--to', to, '--seconds', String(seconds), '--flows', String(flows)];
  const client = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => client.once('close', resolve));
  const received = new Map<number, number>();
  for await (const line of createInterface({ input: client.stdout })) {
    const { flow, receivedBits } = JSON.parse(line) as { flow: number; receivedBits: number };
    received.set(flow, receivedBits);
  }
  const status = await ended;
  if (status !== 0) throw new Error(`the download from ${to} failed (status ${status})`);
  return [...received.values()].reduce((sum, bits) => sum + bits, 0);
}
