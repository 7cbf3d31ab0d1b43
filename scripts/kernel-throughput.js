/**
 * `node scripts/kernel-throughput.js [seconds=8]`: what one download gets under CUBIC and under BBR over the emulated link of
 * the kernel tier, by rate and random loss, as Markdown. Linux and root; in real time. docs/benchmark.md has the outcome.
 */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const SECONDS = Number(process.argv[2] ?? 8);
const RTT_SECONDS = 0.04;
const RATES_MBPS = [20, 100, 200];
const LOSSES = [0, 0.001, 0.01, 0.02];

const source = async (path) => {
  const file = fileURLToPath(new URL(`../replay/kernel/${path}`, import.meta.url));
  return (await runnerImport(file, { configFile: false, logLevel: 'error' })).module;
};
const { KernelLink } = await source('kernel-link.ts');
const { CONGESTION_CONTROLS, kernelTierObstacle } = await source('kernel-support.ts');
const obstacle = kernelTierObstacle();
if (obstacle !== undefined) {
  console.error(`no kernel tier here: ${obstacle}`);
  process.exit(2);
}

/** Runs in the client's namespace: prints the bits that came in so many seconds from the first on. */
const CLIENT = `
require('node:http').get(process.argv[1], (response) => {
  let bytes = 0, timer;
  response.on('data', (data) => {
    bytes += data.length;
    timer ??= setTimeout(() => { console.log(8 * bytes); process.exit(); }, 1000 * process.argv[2]);
  });
});`;

async function goodputMbps(congestionControl, { mbps, loss }) {
  const link = await KernelLink.start({ congestionControl, rttSeconds: RTT_SECONDS });
  const piece = Buffer.alloc(1 << 18);
  const server = createServer((_, response) => {
    link.play({ steps: [{ endSeconds: 60, bps: mbps * 1e6, loss, extraDelaySeconds: 0 }], wrapSeconds: 60 }, 1);
    const write = () => {
      while (response.write(piece));
    };
    response.on('drain', write);
    write();
  }).listen(await link.listen());
  const { address, port } = server.address();
  const child = spawn(link.clientProgram(process.execPath), [
    '-e',
    CLIENT,
    `http://${address}:${port}/`,
    String(SECONDS),
  ]);
  let bits = '';
  child.stdout.on('data', (data) => {
    bits += data;
  });
  await new Promise((resolve) => child.once('close', resolve));
  server.closeAllConnections();
  server.close();
  await link.close();
  return Number(bits) / SECONDS / 1e6;
}

console.log(
  `| link, Mbit/s | loss | ${CONGESTION_CONTROLS.map((name) => `${name.toUpperCase()}, Mbit/s`).join(' | ')} |`,
);
console.log(`| ---: | ---: | ${CONGESTION_CONTROLS.map(() => '---:').join(' | ')} |`);
for (const mbps of RATES_MBPS) {
  for (const loss of LOSSES) {
    const cells = [];
    for (const name of CONGESTION_CONTROLS) cells.push((await goodputMbps(name, { mbps, loss })).toFixed(1));
    console.log(`| ${mbps} | ${100 * loss} % | ${cells.join(' | ')} |`);
  }
}
