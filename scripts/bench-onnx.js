/**
 * `npm run build:plugin`, then `node scripts/bench-onnx.js [--runs 3] [--mbps 20] [--rtt-ms 40] [--scenario hd-16]
 * [--modes none,at-once,when-playing] [--dist dist]`: what the ONNX forecaster costs a page. In Chromium, the page and all that belongs to it (dash.js, plugin, runtime, model, media)
 * behind one paced link: when playback begins and when the first forecast is there, with an empty cache and with a full one;
 * how long an inference takes in the Worker; how long the main thread is held. Prints what it ran on.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { chromium } from 'playwright-core';
import { build } from 'vite';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    mbps: { type: 'string', default: '20' },
    'rtt-ms': { type: 'string', default: '40' },
    scenario: { type: 'string', default: 'hd-16' },
    evaluations: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '12' },
    modes: { type: 'string', default: 'none,at-once,when-playing' },
    dist: { type: 'string', default: 'dist' },
  },
});
const positive = (name) => {
  const value = Number(values[name]);
  if (value > 0 && value < 1e6) return value;
  console.error(`--${name}: expected a number above 0, got ${stripVTControlCharacters(values[name])}`);
  return process.exit(2);
};
const [runs, mbps, rttMs, evaluations, seconds] = ['runs', 'mbps', 'rtt-ms', 'evaluations', 'seconds'].map(positive);

const modes = values.modes.split(',');

/** Answers to requests cross the link one after the other, in turns of the connections; what is asked takes no room. */
const TICK_MS = 4;
const CHUNK_BYTES = 1500;
const BACKLOG_BYTES = 2 ** 18;

async function bundle(entry, fileName) {
  const outDir = resolve('build/bench');
  mkdirSync(outDir, { recursive: true });
  await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2022',
      minify: false,
      lib: { entry, formats: ['es'], fileName: () => fileName },
      rolldownOptions: { external: [/^node:/, 'playwright-core'] },
    },
  });
  return pathToFileURL(resolve(outDir, fileName)).href;
}

/** A TCP proxy before `port` through which no more than `mbps` come, half a round trip after they were sent. */
async function startLink(port) {
  const connections = new Set();
  const server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    const connection = { client, queue: [], backlog: 0, upstream };
    connections.add(connection);
    const later = (action) => setTimeout(action, rttMs / 2);
    client.on('data', (data) => later(() => upstream.writable && upstream.write(data)));
    upstream.on('data', (data) => {
      const dueMs = performance.now() + rttMs / 2;
      for (let at = 0; at < data.length; at += CHUNK_BYTES) {
        connection.queue.push({ dueMs, data: data.subarray(at, at + CHUNK_BYTES) });
      }
      connection.backlog += data.length;
      if (connection.backlog > BACKLOG_BYTES) upstream.pause();
    });
    const end = () => {
      connections.delete(connection);
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end).on('error', end);
    upstream.on('error', end).on('close', () => {
      connection.isOver = true;
    });
    // The handshake of a connection costs a round trip too.
    setTimeout(() => client.resume(), rttMs);
  });
  let budget = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const share = ((nowMs - lastMs) / 1000) * ((mbps * 1e6) / 8);
    budget = Math.min(budget, CHUNK_BYTES) + share;
    lastMs = nowMs;
    for (let isBusy = true; isBusy && budget > 0; ) {
      isBusy = false;
      for (const connection of connections) {
        const { client, queue, upstream } = connection;
        if (queue.length === 0 && connection.isOver) client.end();
        if (budget <= 0 || !(queue[0]?.dueMs <= nowMs)) continue;
        const { data } = queue.shift();
        client.write(data);
        budget -= data.length;
        connection.backlog -= data.length;
        if (connection.backlog <= BACKLOG_BYTES) upstream.resume();
        isBusy = true;
      }
    }
  }, TICK_MS);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    clearInterval(timer);
    for (const { client } of connections) client.destroy();
    server.close();
  };
  return { port: server.address().port, close };
}

const HTML = `<!doctype html><title>leo-abr</title><video muted></video>
<script src="dash.all.min.js"></script><script src="leo-abr.global.js"></script><script type="module" src="page.js"></script>`;
const TYPES = {
  js: 'text/javascript',
  mjs: 'text/javascript',
  wasm: 'application/wasm',
  onnx: 'application/octet-stream',
};
/** The policy that the forecaster has to work under; isolated, because then a page's clock has steps of 5 microseconds. */
const HEADERS = {
  'content-security-policy': "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** In the best quality, which takes half a minute for the runtime: once. */
function compressed(bytes) {
  const cached = resolve('build/bench', `${createHash('sha256').update(bytes).digest('hex')}.br`);
  if (existsSync(cached)) return readFileSync(cached);
  const { BROTLI_PARAM_SIZE_HINT, BROTLI_PARAM_LGWIN } = constants;
  const params = { [BROTLI_PARAM_SIZE_HINT]: bytes.length, [BROTLI_PARAM_LGWIN]: 24 };
  const small = brotliCompressSync(bytes, { params });
  mkdirSync(resolve('build/bench'), { recursive: true });
  writeFileSync(cached, small);
  return small;
}

/** Files as a web server has them: compressed beforehand, and to be kept for good. */
function servedFiles() {
  const runtime = 'node_modules/onnxruntime-web/dist';
  const files = {
    'dash.all.min.js': 'node_modules/dashjs/dist/modern/umd/dash.all.min.js',
    'leo-abr.global.js': `${values.dist}/leo-abr.global.js`,
    'leo-abr.onnx.js': `${values.dist}/leo-abr.onnx.js`,
    'leo-abr.onnx-worker.js': `${values.dist}/leo-abr.onnx-worker.js`,
    'built-in.onnx': 'predictor/models/built-in.onnx',
    'page.js': 'scripts/bench-onnx.page.js',
    'ort.mjs': `${runtime}/ort.wasm.bundle.min.mjs`,
    'ort.wasm': `${runtime}/ort-wasm-simd-threaded.wasm`,
  };
  return new Map(
    Object.entries(files).map(([name, file]) => {
      if (!existsSync(file)) {
        console.error(`${file}: expected a file; npm run build:plugin makes it`);
        process.exit(2);
      }
      return [`/${name}`, { bytes: compressed(readFileSync(file)), type: TYPES[name.split('.').at(-1)] }];
    }),
  );
}

const files = servedFiles();
function serveFile({ url, headers }, response) {
  const { pathname } = new URL(url, 'http://bench');
  if (pathname === '/') {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/html', 'cache-control': 'no-store' }).end(HTML);
    return true;
  }
  const file = files.get(pathname);
  if (file === undefined) return false;
  if (!headers['accept-encoding']?.includes('br')) throw new Error(`${url}: asked for without br`);
  response
    .writeHead(200, {
      ...HEADERS,
      'content-type': file.type,
      'content-encoding': 'br',
      'content-length': file.bytes.length,
      'cache-control': 'public, max-age=31536000, immutable',
    })
    .end(file.bytes);
  return true;
}

const { findBrowser, startOrigin, SCENARIOS } = await import(
  await bundle('scripts/bench-onnx.entry.js', 'bench-onnx.mjs')
);
const scenario = SCENARIOS[values.scenario];
if (scenario === undefined) {
  console.error(`--scenario: expected one of ${Object.keys(SCENARIOS).join(', ')}, got ${values.scenario}`);
  process.exit(2);
}
const origin = await startOrigin({ fallback: serveFile });
const link = await startLink(origin.port);
const { executablePath, args, env } = await findBrowser();

/** A stream that the link alone paces. */
function manifest() {
  const session = origin.createSession({
    trace: {
      name: 'unlimited',
      stepEndsSeconds: Float64Array.of(600),
      ratesBps: Float64Array.of(2e9),
      durationSeconds: 600,
      metadata: { dataset: 'bench', recordingGroup: 'bench' },
    },
    scenario: { ...scenario, rttSeconds: 0.001, traceScale: { factor: 1 }, payloadShare: 1 },
  });
  return new URL(origin.manifestUrl(session)).pathname;
}

/**
 * ms of processor time between the page's time stamps, by kind; empty where the trace does not know it. A collection of
 * garbage falls on whoever happens to allocate: calls with one in them are on their own.
 */
function busyTimes(trace) {
  const busy = { create: [], message: [], timer: [], observe: [], latest: [], collected: [] };
  const events = (trace?.traceEvents ?? []).filter(({ tts }) => tts !== undefined).sort((a, b) => a.ts - b.ts);
  const begun = new Map();
  for (const { name, args, tts, tid } of events) {
    if (/^(Minor|Major)GC/.test(name)) for (const span of begun.values()) span.isCollecting ||= span.tid === tid;
    const [step, kind] = (name === 'TimeStamp' && args.data?.message?.split(' ')) || [];
    if (busy[kind] === undefined) continue;
    if (step === 'begin') begun.set(kind, { tts, tid });
    else if (begun.has(kind)) {
      const span = begun.get(kind);
      busy[span.isCollecting ? 'collected' : kind].push((tts - span.tts) / 1000);
      begun.delete(kind);
    }
  }
  return busy;
}

/** When the Worker ran and had its files, in ms since the navigation began; undefined where there is no Worker. */
async function stagesOf(page) {
  const [worker] = page.workers();
  if (worker === undefined) return undefined;
  const pageOriginMs = await page.evaluate(() => performance.timeOrigin);
  const { originMs, files } = await worker.evaluate(() => ({
    originMs: performance.timeOrigin,
    files: performance
      .getEntriesByType('resource')
      .map(({ name, fetchStart, responseEnd }) => ({ name: name.split('/').at(-1), fetchStart, responseEnd })),
  }));
  const at = (name, mark) => {
    const file = files.find((one) => one.name === name);
    return file && originMs - pageOriginMs + file[mark];
  };
  return {
    created: originMs - pageOriginMs,
    asked: at('ort.wasm', 'fetchStart'),
    runtime: at('ort.mjs', 'responseEnd'),
    model: at('built-in.onnx', 'responseEnd'),
    wasm: at('ort.wasm', 'responseEnd'),
  };
}

/** One visit with an empty cache and one with what that left behind. */
async function visit(mode, profile, first) {
  const context = await chromium.launchPersistentContext(profile, { executablePath, args, env, headless: true });
  try {
    const page = await context.newPage();
    const query = new URLSearchParams({ mode, manifest: manifest(), seconds: String(seconds) });
    const browser = context.browser();
    await browser?.startTracing(page, { categories: ['devtools.timeline', 'v8'] });
    await page.goto(`http://127.0.0.1:${link.port}/?${query}`);
    const seen = await page.evaluate(() => window.play());
    const busy = busyTimes(browser && JSON.parse((await browser.stopTracing()).toString()));
    if (seen.faults.length > 0) throw new Error(seen.faults.join('; '));
    const stages = await stagesOf(page);
    const inference =
      mode === 'at-once' && !first ? await page.evaluate((n) => window.infer(n), evaluations) : undefined;
    return { ...seen, stages, busy, inference, version: browser?.version() };
  } finally {
    await context.close();
  }
}

const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
const quantile = (numbers, q) =>
  sorted(numbers)[Math.min(numbers.length - 1, Math.floor(q * numbers.length))] ?? Number.NaN;
const ms = (value, digits = 0) =>
  (value === undefined || Number.isNaN(value) ? '-' : value.toFixed(digits)).padStart(8);

const visits = [];
let version;
try {
  for (let run = 0; run < runs; run++) {
    for (const mode of modes) {
      const profile = mkdtempSync(join(tmpdir(), 'leo-abr-bench-'));
      try {
        for (const cache of ['empty', 'full']) {
          const seen = await visit(mode, profile, cache === 'empty');
          version = seen.version;
          visits.push({ mode, cache, ...seen });
        }
      } finally {
        rmSync(profile, { recursive: true, force: true });
      }
    }
  }
} finally {
  link.close();
  await origin.close();
}

const { model } = cpus()[0];
console.log(
  `Chromium ${version ?? '(version unknown)'} headless, ${cpus().length} x ${model}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB; Node ${process.versions.node}`,
);
console.log(
  `link ${mbps} Mbit/s, RTT ${rttMs} ms, shared by all files and media; ${values.scenario}; medians of ${runs} visits, ms since the navigation began`,
);
console.log(`${'forecaster'.padEnd(14)}${'cache'.padEnd(8)} playing   model ready   first forecast`);
for (const mode of modes) {
  for (const cache of ['empty', 'full']) {
    const of = visits.filter((one) => one.mode === mode && one.cache === cache);
    const median = (mark) =>
      quantile(
        of.map(({ marks }) => marks[mark]).filter((value) => value !== undefined),
        0.5,
      );
    console.log(
      `${mode.padEnd(14)}${cache.padEnd(8)}${ms(median('playing'))}      ${ms(median('ready'))}         ${ms(median('evaluated'))}`,
    );
  }
}
console.log(`until the model is ready: the Worker is created, asks for files, has the runtime, the model, the .wasm`);
for (const mode of modes.filter((one) => one !== 'none')) {
  for (const cache of ['empty', 'full']) {
    const of = visits.filter((one) => one.mode === mode && one.cache === cache && one.stages !== undefined);
    const medians = ['created', 'asked', 'runtime', 'model', 'wasm'].map((stage) =>
      quantile(
        of.map(({ stages }) => stages[stage]).filter((value) => value !== undefined),
        0.5,
      ),
    );
    console.log(`${mode.padEnd(14)}${cache.padEnd(8)}${medians.map((value) => ms(value)).join('')}`);
  }
}
const inferences = visits.flatMap(({ inference }) => (inference ? [inference] : []));
const took = inferences.flatMap((one) => one.took);
const trips = inferences.flatMap((one) => one.roundTrips);
console.log(
  `inference in the Worker (${took.length}): p50${ms(quantile(took, 0.5), 3)}  p99${ms(quantile(took, 0.99), 3)}  longest${ms(Math.max(...took), 3)}; there and back: p50${ms(quantile(trips, 0.5), 3)}  p99${ms(quantile(trips, 0.99), 3)}`,
);
for (const [what, of] of [
  ['the main thread held', 'held'],
  ['its processor time', 'busy'],
]) {
  console.log(`${`${what}, ms:`.padEnd(40)}times     p50     p99  longest`);
  for (const kind of ['create', 'message', 'timer', 'observe', 'latest', 'collected']) {
    const all = visits.flatMap((one) => one[of][kind] ?? []);
    if (all.length === 0) continue;
    console.log(
      `  ${kind.padEnd(35)}${String(all.length).padStart(8)}${ms(quantile(all, 0.5), 3)}${ms(quantile(all, 0.99), 3)} ${ms(Math.max(...all), 3)}`,
    );
  }
}
