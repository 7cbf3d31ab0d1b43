/**
 * Reads a 24 h trace of 0.1 s samples (864,000 rows, all columns) in a fresh process and prints time and peak memory:
 *
 *     node scripts/bench-trace-reading.js [--rounds 3]
 *
 * The limits are 2 s and 300 MB; the exit status is 1 when the best round misses one.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const SAMPLES = 864_000;
const LIMIT_SECONDS = 2;
const LIMIT_MEGABYTES = 300;
const roundsFlag = process.argv.indexOf('--rounds');
const rounds = roundsFlag === -1 ? 3 : Number(process.argv[roundsFlag + 1]);

const folder = mkdtempSync(join(tmpdir(), 'leo-abr-bench-'));
try {
  const trace = join(folder, 'day.csv');
  const file = openSync(trace, 'w');
  let rows = 'time_s,throughput_mbps,rtt_ms,loss\n';
  for (let i = 0; i < SAMPLES; i++) {
    const wave = Math.sin(i / 700) + Math.sin(i / 31);
    rows += `${(i / 10).toFixed(1)},${(120 + 50 * wave).toFixed(3)},${(45 + 10 * wave).toFixed(2)},0.0125\n`;
    if (rows.length > 1 << 20 || i === SAMPLES - 1) {
      writeSync(file, rows);
      rows = '';
    }
  }
  closeSync(file);

  await build({
    configFile: false,
    logLevel: 'error',
    root: fileURLToPath(new URL('..', import.meta.url)),
    build: { ssr: 'replay/formats/trace-files.ts', outDir: folder, emptyOutDir: false, target: 'node20' },
  });
  const reader = join(folder, 'read.mjs');
  writeFileSync(
    reader,
    `import { readTraces } from './trace-files.js';
     const start = performance.now();
     const [trace] = readTraces([process.argv[2]]);
     const seconds = (performance.now() - start) / 1000;
     console.log(JSON.stringify({ seconds, samples: trace.ratesBps.length, peakMegabytes: process.resourceUsage().maxRSS / 1024 }));`,
  );
  console.log(`${SAMPLES} rows, ${(statSync(trace).size / 1e6).toFixed(1)} MB of CSV`);
  const results = Array.from({ length: rounds }, () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [reader, trace], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    const result = JSON.parse(stdout);
    if (result.samples !== SAMPLES) throw new Error(`${result.samples} samples were read`);
    console.log(`${result.seconds.toFixed(2)} s, peak ${result.peakMegabytes.toFixed(0)} MB`);
    return result;
  });
  const seconds = Math.min(...results.map((result) => result.seconds));
  const megabytes = Math.max(...results.map((result) => result.peakMegabytes));
  const met = seconds < LIMIT_SECONDS && megabytes < LIMIT_MEGABYTES;
  console.log(`${met ? 'within' : 'beyond'} ${LIMIT_SECONDS} s and ${LIMIT_MEGABYTES} MB`);
  process.exitCode = met ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
