/**
 * `npm run bench:demo -- [minutes=30] [--query '?...']`: measures the demo's load on the browser. It serves the page as
 * `npm start` does, plays it in Chromium in real time, and restarts it whenever all players have finished. It prints
 *
 * - the scripts that blocked the main thread for more than 50 ms, by file (long animation frames). They are timed by
 *   the wall clock, so the machine must be idle; the load is printed, too;
 * - the memory after each session and a garbage collection, and its slope per 10 minutes with a 95 % interval (least
 *   squares from the second session on). V8's compiled code and tables grow for a long time and do not fail the check.
 *
 * Exit status 1 if a script of the page or the plugin took more than 50 ms, or if other memory grows.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createServer } from 'vite';
import { bundledSources } from './bundled-sources.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LONG_MS = 50;
/** Chromium releases an ended session's memory within this time. */
const AFTER_SESSION_MS = 3000;
/** Growth by less than this share per 10 minutes counts as flat. */
const FLAT_SHARE = 0.02;
/** V8's types of heap nodes that are not objects of the page. */
const NODE_KINDS = { code: 'compiled code', hidden: 'tables of V8', native: 'native' };
const NOT_CHECKED = ['compiled code', 'tables of V8'];

const options = { query: { type: 'string', default: '' } };
const { values, positionals } = parseArgs({ allowPositionals: true, options });
const minutes = Number(positionals[0] ?? 30);
if (!(minutes > 0 && minutes <= 24 * 60)) {
  console.error(`expected minutes, 0 to 1440, got ${positionals[0]}`);
  process.exit(2);
}

const { findBrowser } = await bundledSources('replay/browser/find-browser.ts');
const { studentQuantile } = await bundledSources('replay/evaluation/student-t.ts');
const { executablePath, args, env } = await findBrowser();
const server = await createServer({ configFile: join(ROOT, 'vite.config.ts') });
await server.listen(0);
const profile = mkdtempSync(join(tmpdir(), 'leo-abr-bench-'));
const flags = ['--headless', '--remote-debugging-pipe', `--user-data-dir=${profile}`, '--window-size=1280,900'];
const chromium = spawn(executablePath, [...args, ...flags, 'about:blank'], {
  env,
  stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
});
const ended = new Promise((resolve) => chromium.once('exit', resolve));
try {
  process.exitCode = report(await watch(await openPage()));
} finally {
  chromium.kill();
  await ended;
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  await server.close();
}

/**
 * Connects to the first page over the pipe of the DevTools protocol. Playwright would keep every response for the
 * inspector, and segments of 15 MB would dominate the measured memory.
 */
async function openPage() {
  const [requests, answers] = chromium.stdio.slice(3);
  const waiting = new Map();
  const chunks = [];
  let text = '';
  chromium.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`Chromium ended with ${code}`));
  });
  answers.setEncoding('utf8').on('data', (data) => {
    const messages = (text + data).split('\0');
    text = messages.pop();
    for (const { id, result, error, method, params } of messages.map((message) => JSON.parse(message))) {
      if (method === 'HeapProfiler.addHeapSnapshotChunk') chunks.push(params.chunk);
      if (error !== undefined) waiting.get(id)?.reject(new Error(error.message));
      else waiting.get(id)?.resolve(result);
      waiting.delete(id);
    }
  });
  let calls = 0;
  const sendTo = (sessionId) => (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set(++calls, { resolve, reject });
      requests.write(`${JSON.stringify({ id: calls, method, params, sessionId })}\0`);
    });
  const { targetInfos } = await sendTo()('Target.getTargets');
  const { targetId } = targetInfos.find(({ type }) => type === 'page');
  const { sessionId } = await sendTo()('Target.attachToTarget', { targetId, flatten: true });
  const send = sendTo(sessionId);
  const evaluate = async (expression) => {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await send('Runtime.evaluate', options);
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${exceptionDetails.text}`);
    return result.value;
  };
  return { send, evaluate, snapshotChunks: chunks };
}

/** Plays for `minutes`; returns the long scripts, and the memory after each session. */
async function watch({ send, evaluate, snapshotChunks }) {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const waitUntil = async (expression) => {
    for (const end = performance.now() + 60_000; !(await evaluate(expression)); await pause(100)) {
      if (performance.now() > end) throw new Error(`still false after 60 s: ${expression}`);
    }
  };
  const all = (selector, condition) =>
    `(found => found.length > 0 && found.every(${condition}))([...document.querySelectorAll('${selector}')])`;
  const playing = all('video', 'video => video.currentTime > 0');
  const finished = all('.state', "state => state.textContent === 'finished'");
  await send('Page.enable');
  await send('Page.addScriptToEvaluateOnNewDocument', { source: `(${noteLongScripts})(${LONG_MS})` });
  await send('Page.navigate', { url: server.resolvedUrls.local[0] + values.query });
  await waitUntil(playing);
  const loading = await evaluate('longScripts.splice(0)');
  const scripts = [];
  const sessions = [];
  const startMs = performance.now();
  for (let minute = 0; minute < minutes; ) {
    await pause(1000);
    minute = (performance.now() - startMs) / 60_000;
    if (!(await evaluate(finished))) continue;
    await pause(AFTER_SESSION_MS);
    scripts.push(...(await evaluate('longScripts.splice(0)')));
    sessions.push({ minute, memory: await memoryOf(send, snapshotChunks) });
    console.error(`minute ${minute.toFixed(1)}: session ${sessions.length} ended, load ${loadavg()[0].toFixed(1)}`);
    // Discard the scripts during the measurement, which blocks the page.
    await evaluate('longScripts.length = 0, document.querySelector("#restart").click()');
    await waitUntil(`!(${finished}) && ${playing}`);
  }
  scripts.push(...(await evaluate('longScripts.splice(0)')));
  return { loading, scripts, sessions };
}

/** Runs in the page before its own scripts. */
function noteLongScripts(longMs) {
  window.longScripts = [];
  new PerformanceObserver((list) => {
    for (const { scripts } of list.getEntries()) {
      for (const { sourceURL, invoker, duration } of scripts) {
        if (duration > longMs) window.longScripts.push({ url: sourceURL, invoker, ms: duration });
      }
    }
  }).observe({ type: 'long-animation-frame' });
}

/** In MB (nodes and listeners: counts), after a garbage collection. */
async function memoryOf(send, chunks) {
  await send('HeapProfiler.collectGarbage');
  const { embedderHeapUsedSize, backingStorageSize } = await send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await send('Memory.getDOMCounters');
  // All chunks arrive before the answer.
  await send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  const { snapshot, nodes: heap } = JSON.parse(chunks.splice(0).join(''));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, size] = ['type', 'self_size'].map((field) => fields.indexOf(field));
  const kinds = { objects: 0, 'compiled code': 0, 'tables of V8': 0, native: 0 };
  for (let i = 0; i < heap.length; i += fields.length) {
    kinds[NODE_KINDS[types[type][heap[i + type]]] ?? 'objects'] += heap[i + size] / 1e6;
  }
  const buffers = { 'of the DOM': embedderHeapUsedSize / 1e6, 'array buffers': backingStorageSize / 1e6 };
  return { ...kinds, ...buffers, nodes, listeners: jsEventListeners };
}

/** Prints both tables and returns the exit status. */
function report({ loading, scripts, sessions }) {
  const machine = `${cpus().length} x ${cpus()[0].model}, load ${loadavg()[2].toFixed(1)}`;
  console.log(`${machine}, ${minutes} minutes, ${sessions.length} sessions ended\n`);
  console.log(`| scripts over ${LONG_MS} ms | while loading | while playing | longest, ms | its callback |`);
  console.log('| --- | --- | --- | --- | --- |');
  const of = (some, owner) => some.filter(({ url }) => ownerOf(url) === owner);
  for (const owner of new Set(['the page', ...[...loading, ...scripts].map(({ url }) => ownerOf(url))])) {
    const playing = of(scripts, owner).sort((a, b) => b.ms - a.ms);
    const { ms = 0, invoker = '' } = playing[0] ?? {};
    console.log(`| ${owner} | ${of(loading, owner).length} | ${playing.length} | ${ms.toFixed(0)} | ${invoker} |`);
  }
  console.log('\n| MB, or number | session 1 | last session | per 10 minutes (95 %) | verdict |');
  console.log('| --- | --- | --- | --- | --- |');
  let growing = 0;
  for (const name of Object.keys(sessions[0]?.memory ?? {})) {
    const points = sessions.map(({ memory, minute }) => ({ x: minute / 10, y: memory[name] }));
    const [first, last] = [points[0].y, points.at(-1).y];
    const { slope, half } = leastSquares(points.slice(1));
    const isFlat = slope + half <= FLAT_SHARE * last;
    const verdict = isFlat ? 'flat' : slope - half > 0 ? 'grows' : 'unclear';
    if (verdict === 'grows' && !NOT_CHECKED.includes(name)) growing++;
    const text = Number.isNaN(slope) ? '-' : `${slope.toPrecision(2)} ± ${half.toPrecision(2)}`;
    console.log(`| ${name} | ${first.toFixed(2)} | ${last.toFixed(2)} | ${text} | ${verdict} |`);
  }
  return growing > 0 || of(scripts, 'the page').length > 0 ? 1 : 0;
}

/** The package of a script by its URL; demo/, src/, abr/ and predictor/ are `the page`. */
function ownerOf(url) {
  return /\/node_modules\/(?:\.vite\/deps\/)?([\w-]+)/.exec(url)?.[1] ?? (url === '' ? 'unknown' : 'the page');
}

/** The slope of y on x and half the width of its 95 % interval; NaN for fewer than 5 points. */
function leastSquares(points) {
  const degrees = points.length - 2;
  if (degrees < 3) return { slope: Number.NaN, half: Number.NaN };
  const sum = (of) => points.reduce((total, point) => total + of(point), 0);
  const [meanX, meanY] = [sum(({ x }) => x) / points.length, sum(({ y }) => y) / points.length];
  const spread = sum(({ x }) => (x - meanX) ** 2);
  const slope = sum(({ x, y }) => (x - meanX) * (y - meanY)) / spread;
  const squares = sum(({ x, y }) => (y - meanY - slope * (x - meanX)) ** 2);
  return { slope, half: studentQuantile(0.975, degrees) * Math.sqrt(squares / degrees / spread) };
}
