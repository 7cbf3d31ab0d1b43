/** The link emulator under UDP: rate, delay and loss of plain datagrams. */

import { spawn } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { KernelLink } from './kernel-link.ts';
import { type KernelSteps, NO_IMPAIRMENT } from './kernel-steps.ts';
import { kernelTierObstacle } from './programs.ts';

const obstacle = kernelTierObstacle();
const where = obstacle === undefined ? describe : describe.skip;

/** With headers of IPv4 and UDP. */
const PACKET_BYTES = 1228;

/** Sends `count` datagrams at `perSecond`, with their number and the clock that all namespaces share. */
const SENDER = `
const [count, perSecond] = process.argv.slice(1).map(Number);
const socket = require('node:dgram').createSocket('udp4');
const began = process.hrtime.bigint();
let sent = 0;
const tick = setInterval(() => {
  const due = Math.min(count, Math.floor((Number(process.hrtime.bigint() - began) / 1e9) * perSecond));
  while (sent < due) {
    const packet = Buffer.alloc(${PACKET_BYTES - 28});
    packet.writeUInt32LE(sent++);
    packet.writeBigUInt64LE(process.hrtime.bigint(), 4);
    socket.send(packet, 9000, '10.77.0.2');
  }
  if (sent < count) return;
  clearInterval(tick);
  setTimeout(() => socket.close(), 500);
}, 1);`;

/** Prints [sent, received] in s of each datagram when its input ends. */
const RECEIVER = `
const socket = require('node:dgram').createSocket('udp4');
const times = [];
socket.on('message', (packet) =>
  times.push([Number(packet.readBigUInt64LE(4)) / 1e9, Number(process.hrtime.bigint()) / 1e9]));
socket.bind(9000, '10.77.0.2', () => { socket.setRecvBufferSize(1 << 22); console.log('ready'); });
process.stdin.resume().on('end', () => { console.log(JSON.stringify(times)); socket.close(); });`;

async function probe(steps: KernelSteps, { count, perSecond }: { count: number; perSecond: number }) {
  const options = { tier: 'kernel', congestionControl: 'cubic', impairment: NO_IMPAIRMENT } as const;
  const link = await KernelLink.start(options, { rttSeconds: 0.04 });
  try {
    const node = (side: 'server' | 'client', args: string[]) => {
      const program = link.program(side, process.execPath, { isFirst: true });
      return spawn(program, ['-e', ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    };
    const receiver = node('client', [RECEIVER]);
    let out = '';
    const ready = new Promise((resolve) => receiver.stdout.once('data', resolve));
    receiver.stdout.on('data', (data) => {
      out += data;
    });
    await ready;
    link.playSteps(steps, 5);
    const sender = node('server', [SENDER, String(count), String(perSecond)]);
    await new Promise((resolve) => sender.once('close', resolve));
    const ended = new Promise((resolve) => receiver.once('close', resolve));
    receiver.stdin.end();
    await ended;
    const times = JSON.parse(out.slice('ready\n'.length)) as [number, number][];
    return { times, ...(await link.statistics()) };
  } finally {
    await link.close();
  }
}

const constant = (bps: number, loss = 0, extraDelaySeconds = 0): KernelSteps => ({
  steps: [{ endSeconds: 60, bps, loss, extraDelaySeconds }],
  wrapSeconds: 60,
});

where(`the emulated link under UDP${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  test.each([5e6, 40e6])('carries %d bit/s within 3 %', async (bps) => {
    const perSecond = (2 * bps) / (8 * PACKET_BYTES);
    const { times, dropped } = await probe(constant(bps), { count: Math.round(4 * perSecond), perSecond });
    const from = times[0]![1];
    const within = times.filter(([, at]) => at > from + 0.5 && at < from + 4).map(([, at]) => at);
    const seconds = within.at(-1)! - within[0]!;
    const found = ((within.length - 1) * 8 * PACKET_BYTES) / seconds;
    expect(Math.abs(found / bps - 1)).toBeLessThan(0.03);
    expect(dropped).toBeGreaterThan(0);
  });

  test.each([0, 0.03])('delays the fastest tenth by half the round trip and %d s, within 1 ms', async (extra) => {
    const { times, lost, dropped } = await probe(constant(100e6, 0, extra), { count: 300, perSecond: 100 });
    const added = times.map(([sent, received]) => received - sent - (0.02 + extra)).sort((a, b) => a - b);
    expect(added[0]).toBeGreaterThan(0);
    // A busy host wakes the processes late, but hardly nine times in ten.
    expect(added[30]).toBeLessThan(0.001);
    expect(lost + dropped).toBe(0);
    expect(times).toHaveLength(300);
  });

  test.each([0.01, 0.08])('loses a share of %d within its binomial interval', async (loss) => {
    const count = 10_000;
    const { times, lost, packets } = await probe(constant(100e6, loss), { count, perSecond: 3000 });
    // 99.9 % of draws.
    expect(Math.abs(lost / count - loss)).toBeLessThan(3.29 * Math.sqrt((loss * (1 - loss)) / count));
    expect(times).toHaveLength(count - lost);
    // The interface itself sends a few.
    expect(packets - times.length).toBeLessThan(5);
  });
});
