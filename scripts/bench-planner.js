/**
 * Times the planner and the controllers: `node scripts/bench-planner.js [--states N]`. Prints p50, p99 and the largest
 * time per plan in microseconds, for representations x horizon, constant and varying paths, with and without the buffer
 * cap in the plan; the nodes that a plan took; and the time of each controller's decision (6 representations).
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
const { ALGORITHM_NAMES, ConstantPath, PiecewisePath, Planner, createController, qoeWeights } = abr;

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

function stateOf({ random, count, horizon, capSeconds }) {
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
const cell = (value) => value.toFixed(1).padStart(8);

/** Microseconds of each case, sorted: the fastest of three runs, since what interrupts one is not the planner's. */
function time(cases, run) {
  for (const one of cases.slice(0, 1000)) run(one);
  return cases
    .map((one) => {
      let fastest = Number.POSITIVE_INFINITY;
      for (let i = 0; i < 3; i++) {
        const begin = process.hrtime.bigint();
        run(one);
        fastest = Math.min(fastest, Number(process.hrtime.bigint() - begin) / 1e3);
      }
      return fastest;
    })
    .sort((a, b) => a - b);
}

function row(name, micros, nodes) {
  const times = [0.5, 0.99, 1].map((p) => cell(quantile(micros, p))).join('');
  const counts = nodes === undefined ? '' : [0.5, 0.99].map((p) => String(quantile(nodes, p)).padStart(8)).join('');
  console.log(`${name.padEnd(44)}${times}${counts}`);
}

console.log(`${'microseconds'.padEnd(44)}     p50     p99     max   nodes: p50, p99`);
for (const [count, horizon] of [
  [6, 5],
  [8, 5],
  [8, 8],
  [10, 8],
]) {
  for (const [kind, makePath] of [
    ['constant path', constantPath],
    ['varying path', varyingPath],
  ]) {
    for (const [capSeconds, bufferCap] of [
      [30, false],
      [30, true],
      [8, false],
      [8, true],
    ]) {
      const random = seeded(count * 100 + horizon);
      const planner = new Planner({ horizon, bufferCap });
      const cases = Array.from({ length: stateCount }, () => ({
        state: stateOf({ random, count, horizon, capSeconds }),
        path: makePath(random),
      }));
      const micros = time(cases, ({ state, path }) => planner.plan(state, path));
      const nodes = cases
        .map(({ state, path }) => {
          planner.plan(state, path);
          return planner.expansions;
        })
        .sort((a, b) => a - b);
      row(`${count} x ${horizon}, ${kind}, ${capSeconds} s cap ${bufferCap ? 'known' : 'unknown'}`, micros, nodes);
    }
  }
}
for (const name of ALGORITHM_NAMES) {
  const random = seeded(1);
  const controller = createController(name);
  const cases = Array.from({ length: stateCount }, () => {
    const state = stateOf({ random, count: 6, horizon: 5, capSeconds: 8 });
    const path = varyingPath(random);
    let now = 0;
    for (let segmentIndex = 0; segmentIndex < state.segmentIndex; segmentIndex++) {
      const sizeBits = state.ladderBps[Math.floor(random() * 6)] * 4;
      const downloadSeconds = path.downloadSeconds(now, sizeBits);
      state.downloads.push({
        segmentIndex,
        bitrateBps: sizeBits / 4,
        receivedBits: sizeBits,
        sizeBits,
        requestedAtSeconds: now,
        downloadSeconds,
        abandoned: false,
      });
      now += downloadSeconds;
    }
    const paths = [{ weight: 1, path: path.from(now) }];
    return {
      state: { ...state, nowSeconds: now },
      forecast: { kind: 'paths', issuedAtMs: now * 1000, source: 'oracle', paths, handovers: [] },
    };
  });
  row(
    `decide: ${name}`,
    time(cases, ({ state, forecast }) => controller.decide(state, forecast)),
  );
}
