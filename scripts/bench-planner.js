/**
 * Times the planner: `node scripts/bench-planner.js [--states N]`. Prints p50, p99 and the largest time per plan in
 * microseconds, for ladders x horizons, constant and varying paths, with and without the buffer cap in the plan, and
 * how many nodes the median plan expanded.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

const outDir = resolve('build/bench');
mkdirSync(outDir, { recursive: true });
await build({
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  build: {
    outDir,
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    lib: { entry: 'abr/index.ts', formats: ['es'], fileName: () => 'abr.mjs' },
  },
});
const abr = await import(pathToFileURL(`${outDir}/abr.mjs`).href);
const { Planner, ConstantPath, PiecewisePath, qoeWeights } = abr;

const argument = process.argv.indexOf('--states');
const stateCount = argument > 0 ? Number(process.argv[argument + 1]) : 2000;

/** Mulberry32. */
function seeded(seed) {
  let s = seed >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const LADDERS = {
  6: [3, 8, 15, 30, 60, 120],
  8: [3, 5, 8, 15, 25, 45, 80, 120],
  10: [2, 3, 5, 8, 12, 20, 33, 50, 80, 120],
};

function stateOf(random, count, horizon, capSeconds) {
  const ladderBps = LADDERS[count].map((mbps) => mbps * 1e6);
  const factors = Array.from({ length: horizon }, () => 0.8 + 0.4 * random());
  return {
    nowSeconds: 60,
    started: true,
    bufferLevelSeconds: random() * (capSeconds - 4),
    bufferCapSeconds: capSeconds,
    segmentSeconds: 4,
    segmentIndex: 10,
    segmentsRemaining: 38,
    ladderBps,
    upcomingSizesBits: factors.map((factor) => ladderBps.map((bps) => bps * 4 * factor)),
    previousBitrateBps: ladderBps[Math.floor(random() * count)],
    downloads: [],
    weights: qoeWeights('linear', ladderBps),
  };
}

function constantPath(random) {
  return new ConstantPath(2e6 * 80 ** random());
}

/** Steps of 1 s with a level per 15 s, around a log-uniform mean, as a satellite link has. */
function varyingPath(random) {
  const mean = 2e6 * 80 ** random();
  const ends = [];
  const rates = [];
  let level = 1;
  for (let i = 0; i < 120; i++) {
    if (i % 15 === 0) level = 0.5 + random();
    ends.push(i + 1);
    rates.push(mean * level * (0.6 + 0.8 * random()) * (random() < 0.02 ? 0.05 : 1));
  }
  return new PiecewisePath({ stepEndsSeconds: ends, ratesBps: rates, tail: 'repeat', latencySeconds: 0.04 });
}

const quantile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
console.log('ladder x horizon  path      cap   p50 us   p99 us   max us  p50 nodes');
for (const [count, horizon] of [
  [6, 5],
  [8, 5],
  [8, 8],
  [10, 8],
]) {
  for (const [kind, makePath] of [
    ['constant', constantPath],
    ['varying', varyingPath],
  ]) {
    for (const [capSeconds, knowsCap] of [
      [30, false],
      [30, true],
      [8, false],
      [8, true],
    ]) {
      const random = seeded(count * 100 + horizon);
      const planner = new Planner({ horizon, bufferCap: knowsCap });
      const cases = Array.from({ length: stateCount }, () => [
        stateOf(random, count, horizon, capSeconds),
        makePath(random),
      ]);
      for (const [state, path] of cases.slice(0, Math.min(1000, stateCount / 2))) planner.plan(state, path);
      const micros = [];
      const nodes = [];
      for (const [state, path] of cases) {
        let fastest = Number.POSITIVE_INFINITY;
        for (let i = 0; i < 3; i++) {
          planner.expansions = 0;
          const begin = process.hrtime.bigint();
          planner.plan(state, path);
          fastest = Math.min(fastest, Number(process.hrtime.bigint() - begin) / 1e3);
        }
        micros.push(fastest);
        nodes.push(planner.expansions);
      }
      micros.sort((a, b) => a - b);
      nodes.sort((a, b) => a - b);
      const cell = (value) => value.toFixed(1).padStart(8);
      console.log(
        `${`${count} x ${horizon}`.padEnd(17)} ${kind.padEnd(9)} ${`${capSeconds}${knowsCap ? '' : ' -'}`.padEnd(5)}` +
          `${cell(quantile(micros, 0.5))} ${cell(quantile(micros, 0.99))} ${cell(quantile(micros, 1))} ${String(quantile(nodes, 0.5)).padStart(8)} ${String(quantile(nodes, 0.99)).padStart(8)}`,
      );
    }
  }
}
