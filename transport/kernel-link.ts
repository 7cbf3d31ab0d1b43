/** The link of the tiers `kernel` and `quic`: runs the link emulator and programs in its namespaces. */

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BrowserAccess, EmulatedLink, LinkStatistics } from '../replay/browser/emulated-link.ts';
import type { PlannedSession } from '../replay/evaluation/plan/plan.ts';
import type { ResolvedScenario } from '../replay/results.ts';
import { type Impairment, type KernelSteps, kernelSteps, linkCommands, QUEUE_BYTES } from './kernel-steps.ts';
import { allowCongestionControl, linkEmulator, transportProgram } from './programs.ts';

export interface KernelTier {
  tier: 'kernel' | 'quic';
  /** TCP's (`CONGESTION_CONTROLS`) or HTTP/3's (`quicCongestion`). */
  congestionControl: string;
  impairment: Impairment;
}

const SERVER_ADDRESS = '10.77.0.1';
const SERVER_PORT = 8080;
const HTTP3_PORT = 8443;

/** Runs in the server's namespace: configures its TCP, listens, and sends the listening socket to its parent. */
const LISTENER = `
const { writeFileSync } = require('node:fs');
const { createServer } = require('node:net');
const [control, address, port] = process.argv.slice(1);
writeFileSync('/proc/sys/net/ipv4/tcp_congestion_control', control);
// A session must not use path metrics of earlier sessions.
writeFileSync('/proc/sys/net/ipv4/tcp_no_metrics_save', '1');
const server = createServer().listen(Number(port), address, () => {
  process.send('listening', server, () => server.close(() => process.disconnect()));
});`;

/** A download over its own TCP connection: the client begins at `from` seconds, the server sends until `to` seconds. */
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

export class KernelLink implements EmulatedLink {
  readonly protocol: string;
  private readonly _folder = mkdtempSync(join(tmpdir(), 'leo-abr-link-'));
  private _http3Server: ChildProcess | undefined;
  /** Each download has two processes. */
  private _downloads: ChildProcess[] = [];

  private constructor(
    private readonly _tier: KernelTier,
    private readonly _rttSeconds: number,
    private readonly _emulator: ChildProcess,
    private readonly _namespaces: { server: string; client: string },
    private readonly _answers: AsyncIterator<string>,
  ) {
    this.protocol = _tier.tier === 'quic' ? 'h3' : 'http/1.1';
    this._command(`link ${Math.round(_rttSeconds * 1e6)} ${QUEUE_BYTES}`);
  }

  /** Rejects with an `Error` on machines that cannot run the tier (`kernelTierObstacle`, `quicTierObstacle`). */
  static async start(tier: KernelTier, { rttSeconds }: { rttSeconds: number }): Promise<KernelLink> {
    const obstacle = allowCongestionControl(tcpControlOf(tier));
    if (obstacle !== undefined) throw new Error(obstacle);
    const emulator = spawn(linkEmulator(), { stdio: ['pipe', 'pipe', 'inherit'] });
    // Ignored: the emulator's `close` event reports that it has ended.
    emulator.stdin.on('error', () => {});
    const answers = createInterface({ input: emulator.stdout })[Symbol.asyncIterator]();
    const { value } = await answers.next();
    const ready = /^ready (\d+) (\d+)$/.exec(String(value));
    if (ready === null) throw new Error('the link emulator did not start');
    const [server, client] = ready.slice(1).map((fd) => `/proc/${emulator.pid}/fd/${fd}`) as [string, string];
    return new KernelLink(tier, rttSeconds, emulator, { server, client }, answers);
  }

  /** A listening socket in the server's namespace, for an HTTP server of this process. */
  listen(): Promise<Server> {
    const args = [process.execPath, '-e', LISTENER, tcpControlOf(this._tier), SERVER_ADDRESS, String(SERVER_PORT)];
    const child = spawn('nsenter', [`--net=${this._namespaces.server}`, ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    return new Promise((resolve, reject) => {
      child.once('message', (_, handle) => resolve(handle as Server));
      child.once('error', reject);
      child.once('exit', (status) => reject(new Error(`no socket in the server's namespace (status ${status})`)));
    });
  }

  async access(url: string, executablePath: string): Promise<BrowserAccess> {
    const program = this.program('client', executablePath);
    if (this._tier.tier === 'kernel') {
      // Without a secure context the page's clocks are coarser. Only loopback is secure without https.
      return { url, executablePath: program, args: [`--unsafely-treat-insecure-origin-as-secure=${url}`] };
    }
    const address = `${SERVER_ADDRESS}:${HTTP3_PORT}`;
    const spki = await this._serveHttp3(address);
    // HTTP/3 from the first request on, never TCP; and trust in the server's key.
    const args = [`--origin-to-force-quic-on=${address}`, `--ignore-certificate-errors-spki-list=${spki}`];
    return { url: `https://${address}`, executablePath: program, args };
  }

  play({ trace, startSeconds, seed, household }: PlannedSession, scenario: ResolvedScenario): void {
    const { impairment } = this._tier;
    this.playSteps(kernelSteps(trace, scenario, { startSeconds, impairment, seed }), seed);
    for (const traffic of household?.traffic ?? []) this.download(traffic);
    // Reset the counts.
    void this.statistics();
  }

  /** Starts the trace now; `seed` determines the lost packets. */
  playSteps(steps: KernelSteps, seed: number): void {
    this._command(linkCommands(steps, { rttSeconds: this._rttSeconds, seed }));
  }

  /** Other traffic: a download that always has bits to send, from one second after now to another. */
  download({ fromSeconds, toSeconds }: { fromSeconds: number; toSeconds: number }): void {
    const { server, client } = this._namespaces;
    const args = [SERVER_ADDRESS, SERVER_PORT + 1 + this._downloads.length, fromSeconds, toSeconds].map(String);
    const start = (namespace: string, script: string) =>
      spawn('nsenter', [`--net=${namespace}`, process.execPath, '-e', script, ...args], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    this._downloads.push(start(server, ENDLESS_SERVER), start(client, ENDLESS_CLIENT));
  }

  open(): void {
    for (const child of this._downloads) child.kill();
    this._downloads = [];
    this._command('open');
  }

  async statistics(): Promise<LinkStatistics> {
    this._command('stats');
    const { value } = await this._answers.next();
    const [packets = 0, bytes = 0, dropped = 0, lost = 0] = String(value).split(' ').slice(1).map(Number);
    return { packets, bytes, dropped, lost };
  }

  /** Ends the emulator and the HTTP/3 server; the namespaces end with their last process. */
  async close(): Promise<void> {
    this.open();
    // The server ends first, because it fails if it sends without its interface.
    for (const one of [this._http3Server, this._emulator]) {
      if (!one || one.exitCode !== null || one.signalCode !== null) continue;
      const ended = new Promise((resolve) => one.once('close', resolve));
      one.stdin!.end();
      await ended;
    }
    rmSync(this._folder, { recursive: true, force: true });
  }

  /** Writes a script that runs an executable in a namespace. `isFirst`: with priority on a busy machine. */
  program(side: 'server' | 'client', executable: string, { isFirst = false } = {}): string {
    const file = join(this._folder, `${basename(executable)}-of-${side}`);
    const enter = `nsenter --net=${this._namespaces[side]} ${isFirst ? 'chrt -f 1 ' : ''}`;
    writeFileSync(file, `#!/bin/sh\nexec ${enter}'${executable.replaceAll("'", "'\\''")}' "$@"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  /** Forwards requests to the namespace's server; returns its key's hash for the browser. */
  private async _serveHttp3(address: string): Promise<string> {
    const { congestionControl } = this._tier;
    const args = ['serve', address, congestionControl, `${SERVER_ADDRESS}:${SERVER_PORT}`];
    const server = spawn(this.program('server', transportProgram(), { isFirst: true }), args, {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this._http3Server = server;
    const lines = createInterface({ input: server.stdout });
    const first = await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error(`the HTTP/3 server with ${congestionControl} did not start`)));
    });
    return (JSON.parse(first) as { spki: string }).spki;
  }

  private _command(line: string): void {
    this._emulator.stdin!.write(`${line}\n`);
  }
}

function tcpControlOf({ tier, congestionControl }: KernelTier): string {
  return tier === 'kernel' ? congestionControl : 'cubic';
}
