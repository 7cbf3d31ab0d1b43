/** The emulated link as a running thing: two namespaces, a place to listen in one and a way to start programs in the other. */

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { KernelSteps } from './kernel-steps.ts';
import { allowCongestionControl, type CongestionControl, linkEmulator } from './kernel-support.ts';

export const SERVER_ADDRESS = '10.77.0.1';
/** The namespace is ours: nobody else listens there. */
const SERVER_PORT = 8080;

export interface KernelLinkOptions {
  congestionControl: CongestionControl;
  rttSeconds: number;
  /** Bytes that wait in front of the link at most. Default `DEFAULT_QUEUE_BYTES`. */
  queueBytes?: number;
}

/** Since they were asked for last. */
export interface LinkStatistics {
  packets: number;
  bytes: number;
  /** For want of room in the queue. */
  dropped: number;
  /** At random. */
  lost: number;
}

/** A queue that holds 100 ms of a Starlink downlink of 120 Mbit/s. */
export const DEFAULT_QUEUE_BYTES = (0.1 * 120e6) / 8;

/** In the server's namespace: sets its TCP up, listens, and hands the listening socket to its parent. */
const LISTENER = `
const { writeFileSync } = require('node:fs');
const { createServer } = require('node:net');
const [control, address, port] = process.argv.slice(1);
writeFileSync('/proc/sys/net/ipv4/tcp_congestion_control', control);
// What one session learnt of the path must not help the next one.
writeFileSync('/proc/sys/net/ipv4/tcp_no_metrics_save', '1');
const server = createServer().listen(Number(port), address, () => {
  process.send('listening', server, () => server.close(() => process.disconnect()));
});`;

export class KernelLink {
  private constructor(
    private readonly emulator: ChildProcess,
    private readonly namespaces: { server: string; client: string },
    private readonly answers: AsyncIterator<string>,
    private readonly congestionControl: CongestionControl,
    private readonly folder: string,
  ) {}

  /** Rejects with an `Error` where the machine does not let it (`kernelTierObstacle` asks before). */
  static async start({ congestionControl, rttSeconds, queueBytes }: KernelLinkOptions): Promise<KernelLink> {
    const obstacle = allowCongestionControl(congestionControl);
    if (obstacle !== undefined) throw new Error(obstacle);
    const emulator = spawn(linkEmulator(), { stdio: ['pipe', 'pipe', 'inherit'] });
    // A write to an emulator that has ended is told by its end.
    emulator.stdin.on('error', () => {});
    const answers = createInterface({ input: emulator.stdout })[Symbol.asyncIterator]();
    const { value } = await answers.next();
    const ready = /^ready (\d+) (\d+)$/.exec(String(value));
    if (ready === null) throw new Error('the link emulator did not start');
    const [server, client] = ready.slice(1).map((fd) => `/proc/${emulator.pid}/fd/${fd}`) as [string, string];
    const folder = mkdtempSync(join(tmpdir(), 'leo-abr-link-'));
    const link = new KernelLink(emulator, { server, client }, answers, congestionControl, folder);
    link.command(`link ${micros(rttSeconds)} ${Math.round(queueBytes ?? DEFAULT_QUEUE_BYTES)}`);
    return link;
  }

  /** A socket that listens at `SERVER_ADDRESS` in the server's namespace, for an HTTP server of this process to serve. */
  listen(): Promise<Server> {
    const { congestionControl } = this;
    const args = [process.execPath, '-e', LISTENER, congestionControl, SERVER_ADDRESS, String(SERVER_PORT)];
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    const child = spawn('nsenter', [`--net=${this.namespaces.server}`, ...args], { stdio: [...stdio] });
    return new Promise((resolve, reject) => {
      child.once('message', (_, handle) => resolve(handle as Server));
      child.once('error', reject);
      child.once('exit', (status) => reject(new Error(`no socket in the server's namespace (status ${status})`)));
    });
  }

  /** A program that starts another one in the client's namespace, with its arguments and streams. */
  clientProgram(executable: string): string {
    const file = join(this.folder, 'in-client-namespace');
    writeFileSync(
      file,
      `#!/bin/sh\nexec nsenter --net=${this.namespaces.client} '${executable.replaceAll("'", "'\\''")}' "$@"\n`,
    );
    chmodSync(file, 0o755);
    return file;
  }

  /** The trace begins now; `seed` is that of the packets lost. */
  play({ steps, wrapSeconds }: KernelSteps, seed: number): void {
    const lines = steps.map(
      ({ endSeconds, bps, loss, extraDelaySeconds }) =>
        `${micros(endSeconds)} ${bps} ${Math.round(loss * 1e6)} ${micros(extraDelaySeconds)}`,
    );
    this.command([`steps ${steps.length} ${micros(wrapSeconds)} ${seed >>> 0}`, ...lines].join('\n'));
  }

  /** No rate and no loss until the next `play`; the delay stays. */
  open(): void {
    this.command('open');
  }

  async statistics(): Promise<LinkStatistics> {
    this.command('stats');
    const { value } = await this.answers.next();
    const [packets, bytes, dropped, lost] = String(value).split(' ').slice(1).map(Number) as [
      number,
      number,
      number,
      number,
    ];
    return { packets, bytes, dropped, lost };
  }

  /** Ends the emulator, and with it both namespaces once nothing runs in them. */
  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.emulator.once('close', resolve));
    this.emulator.stdin!.end();
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  private command(line: string): void {
    this.emulator.stdin!.write(`${line}\n`);
  }
}

function micros(seconds: number): number {
  return Math.round(seconds * 1e6);
}
