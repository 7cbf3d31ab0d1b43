/** The emulated link under the kernel's TCP; skipped with a reason on machines that cannot run it. */

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { KernelLink } from './kernel-link.ts';
import { NO_IMPAIRMENT } from './kernel-steps.ts';
import { allowCongestionControl, kernelTierObstacle } from './programs.ts';

const obstacle = kernelTierObstacle() ?? allowCongestionControl('bbr');
const [run, skipped] = obstacle === undefined ? [test, ''] : [test.skip, ` (skipped: ${obstacle})`];

/**
 * Runs in the client's namespace: downloads for 2 s and prints the bits, the time to the first byte and the duration.
 */
const DOWNLOAD = `
const begin = performance.now();
require('node:http').get(process.argv[1], (response) => {
  let bytes = 0, first;
  response.on('data', (data) => { first ??= performance.now(); bytes += data.length; });
  setTimeout(() => {
    const seconds = (performance.now() - begin) / 1000;
    console.log(JSON.stringify({ bits: 8 * bytes, firstSeconds: (first - begin) / 1000, seconds }));
    process.exit();
  }, 2000);
});`;

run(`the first byte takes two round trips; the rate is not exceeded${skipped}`, async () => {
  const bps = 20e6;
  const tier = { tier: 'kernel', congestionControl: 'bbr', impairment: NO_IMPAIRMENT } as const;
  const link = await KernelLink.start(tier, { rttSeconds: 0.04 });
  const piece = Buffer.alloc(1 << 18);
  const server = createServer((_, response) => {
    link.playSteps({ steps: [{ endSeconds: 60, bps, loss: 0, extraDelaySeconds: 0 }], wrapSeconds: 60 }, 5);
    const write = () => {
      while (response.write(piece));
    };
    response.on('drain', write);
    write();
  }).listen(await link.listen());
  const child = spawn(link.program('client', process.execPath), ['-e', DOWNLOAD, 'http://10.77.0.1:8080/']);
  let out = '';
  child.stdout.on('data', (data) => {
    out += data;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const { lost } = await link.statistics();
  server.closeAllConnections();
  server.close();
  await link.close();
  const { bits, firstSeconds, seconds } = JSON.parse(out) as { bits: number; firstSeconds: number; seconds: number };
  expect(firstSeconds).toBeGreaterThan(0.08);
  expect(bits).toBeLessThan(bps * seconds);
  expect(bits).toBeGreaterThan(1e6);
  expect(lost).toBe(0);
});
