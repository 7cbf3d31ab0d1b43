/** Runs the link emulator: two network namespaces, a socket in the server's and programs in the client's. */

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { LinkStatistics } from '../replay/browser/emulated-link.ts';
import { type KernelSteps, linkCommands, QUEUE_BYTES } from './kernel-steps.ts';
import { allowCongestionControl, type CongestionControl, linkEmulator } from './kernel-support.ts';
import { transportProgram } from './transport-program.ts';

const SERVER_ADDRESS = '10.77.0.1';
const SERVER_PORT = 8080;
const HTTP3_PORT = 8443;

/** Runs in the server's namespace: configures its TCP, listens, and sends the listening socket to its parent. */
const LISTENER = `
const { writeFileSync } = require('node:fs');
const { createServer } = require('node:net');
const [control, address, port] = process.argv.slice(1);
writeFileSync('/proc/sys/net/ipv4/tcp_congestion_control', control);
// No path metrics from one session to the next.
writeFileSync('/proc/sys/net/ipv4/tcp_no_metrics_save', '1');
const server = createServer().listen(Number(port), address, () => {
  process.send('listening', server, () => server.close(() => process.disconnect()));
});`;

/** A download in TCP of its own, until `to` seconds: the server sends without end, the client begins at `from`. */
const ENDLESS_SERVER = `
const [address, port, , to] = process.argv.slice(1);
const piece = Buffer.alloc(1 << 16);
require('node:net').createServer((socket) => {
  const send = () => { while (socket.write(piece)); };
  socket.on('drain', send).on('error', () => {});
  send();
}).listen(Number(port), address);
setTimeout(() => process.exit(), to * 1000);`;
const ENDLESS_CLIENT = `
const [address, port, from, to] = process.argv.slice(1);
const connect = () => require('node:net').connect(port, address).on('error', () => setTimeout(connect, 50)).resume();
setTimeout(connect, from * 1000);
setTimeout(() => process.exit(), to * 1000);`;

/** A server in the server's namespace that speaks HTTP/3. */
export interface Http3Server {
  /** Without a trailing slash. */
  url: string;
  /** Base64 of SHA-256 of the key of its certificate, for `--ignore-certificate-errors-spki-list`. */
  spki: string;
}

export class KernelLink {
  private readonly servers: ChildProcess[] = [];
  /** Two processes of each. */
  private downloads: ChildProcess[] = [];

  private constructor(
    private readonly emulator: ChildProcess,
    private readonly namespaces: { server: string; client: string },
    private readonly answers: AsyncIterator<string>,
    private readonly congestionControl: CongestionControl,
    private readonly folder: string,
    private readonly rttSeconds: number,
  ) {}

  /**
   * Rejects with an `Error` on machines that cannot run it; `kernelTierObstacle` checks this in advance.
   * `congestionControl` is that of TCP; default CUBIC.
   */
  static async start(options: { congestionControl?: CongestionControl; rttSeconds: number }): Promise<KernelLink> {
    const { congestionControl = 'cubic', rttSeconds } = options;
    const obstacle = allowCongestionControl(congestionControl);
    if (obstacle !== undefined) throw new Error(obstacle);
    const emulator = spawn(linkEmulator(), { stdio: ['pipe', 'pipe', 'inherit'] });
    // Ignored: the emulator's `close` event reports that it has ended.
    emulator.stdin.on('error', () => {});
    const answers = createInterface({ input: emulator.stdout })[Symbol.asyncIterator]();
    const { value } = await answers.next();
    const ready = /^ready (\d+) (\d+)$/.exec(String(value));
    if (ready === null) throw new Error('the link emulator did not start');
    const [server, client] = ready.slice(1).map((fd) => `/proc/${emulator.pid}/fd/${fd}`) as [string, string];
    const folder = mkdtempSync(join(tmpdir(), 'leo-abr-link-'));
    const link = new KernelLink(emulator, { server, client }, answers, congestionControl, folder, rttSeconds);
    link.command(`link ${Math.round(rttSeconds * 1e6)} ${QUEUE_BYTES}`);
    return link;
  }

  /** A listening socket in the server's namespace, for an HTTP server of this process. */
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

  /**
   * Starts an HTTP/3 server under a congestion control (`quicCongestion`), which forwards requests to the server that
   * listens in its namespace. Builds the program at first use.
   */
  async serveHttp3(congestion: string): Promise<Http3Server> {
    const address = `${SERVER_ADDRESS}:${HTTP3_PORT}`;
    const upstream = `${SERVER_ADDRESS}:${SERVER_PORT}`;
    const args = ['serve', '--listen', address, '--congestion', congestion, '--upstream', upstream];
    const server = spawn(this.program('server', transportProgram(), { isFirst: true }), args, {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.servers.push(server);
    const lines = createInterface({ input: server.stdout });
    const first = await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error(`the HTTP/3 server with ${congestion} did not start`)));
    });
    const { spki } = JSON.parse(first) as { spki: string };
    return { url: `https://${address}`, spki };
  }

  /**
   * The path of a script that runs an executable in one of the namespaces, with its arguments and streams. `isFirst`:
   * before most others, so that a busy machine does not limit its throughput.
   */
  program(side: 'server' | 'client', executable: string, { isFirst = false } = {}): string {
    const file = join(this.folder, `${basename(executable)}-of-${side}`);
    const enter = `nsenter --net=${this.namespaces[side]} ${isFirst ? 'chrt -f 1 ' : ''}`;
    writeFileSync(file, `#!/bin/sh\nexec ${enter}'${executable.replaceAll("'", "'\\''")}' "$@"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  /** Starts the trace now; `seed` determines the lost packets. */
  play(steps: KernelSteps, seed: number): void {
    this.command(linkCommands(steps, { rttSeconds: this.rttSeconds, seed }));
  }

  /** Other traffic: a download that always has bits to send, from one second after now to another. */
  download({ fromSeconds, toSeconds }: { fromSeconds: number; toSeconds: number }): void {
    const { server, client } = this.namespaces;
    const args = [SERVER_ADDRESS, SERVER_PORT + 1 + this.downloads.length, fromSeconds, toSeconds].map(String);
    for (const [namespace, script] of [
      [server, ENDLESS_SERVER],
      [client, ENDLESS_CLIENT],
    ] as const) {
      const all = [`--net=${namespace}`, process.execPath, '-e', script, ...args];
      this.downloads.push(spawn('nsenter', all, { stdio: ['ignore', 'ignore', 'inherit'] }));
    }
  }

  /** Ends downloads, and removes the limits of rate and loss until the next `play`; the delay stays. */
  open(): void {
    for (const child of this.downloads) child.kill();
    this.downloads = [];
    this.command('open');
  }

  async statistics(): Promise<LinkStatistics> {
    this.command('stats');
    const { value } = await this.answers.next();
    const [packets = 0, bytes = 0, dropped = 0, lost = 0] = String(value).split(' ').slice(1).map(Number);
    return { packets, bytes, dropped, lost };
  }

  /** Ends the emulator and the HTTP/3 servers; the namespaces end with their last process. */
  async close(): Promise<void> {
    this.open();
    // A server that sends without its interface fails.
    for (const one of [...this.servers, this.emulator]) {
      if (one.exitCode !== null || one.signalCode !== null) continue;
      const ended = new Promise((resolve) => one.once('close', resolve));
      one.stdin!.end();
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private command(line: string): void {
    this.emulator.stdin!.write(`${line}\n`);
  }
}
