/**
 * `npm run bench:demo -- [minutes=30] [--query '?...']`: what the demo costs the browser that shows it. Serves the page as
 * `npm start` does, lets its players play in Chromium and presses "Start again" whenever all have finished. Real time. Prints
 *
 * - the scripts that held the main thread for more than 50 ms, by the file whose callback it was (long animation frames). They
 *   are timed by the clock, so the machine must have nothing else to do: the load is printed as well;
 * - memory whenever a session had ended, after a garbage collection, and its slope per 10 minutes with a 95 % interval (least
 *   squares from the second session on). V8's compiled code and tables grow for a long time and are not judged.
 *
 * Exit status 1 where a script of the page or of the plugin took more than 50 ms, or where memory that is judged grows.
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
/** Chromium lets go of an ended session within this time. */
const AFTER_SESSION_MS = 3000;
/** Growth by less than this share per 10 minutes counts as flat. */
const FLAT_SHARE = 0.02;
/** V8's types of heap nodes that are not objects of the page. */
const NODE_KINDS = { code: 'compiled code', hidden: 'tables of V8', native: 'native' };
const NOT_JUDGED = ['compiled code', 'tables of V8'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { query: { type: 'string', default: '' } },
});
const minutes = Number(positionals[0] ?? 30);
if (!(minutes > 0 && minutes <= 24 * 60)) {
  console.error(`expected minutes, 0 to 1440, got ${positionals[0]}`);
  process.exit(2);
}

const { findBrowser } = await bundledSources('replay/browser/find-browser.ts');
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
 * The first page, over the pipe of the DevTools protocol. Playwright would keep every response for the inspector, and segments
 * of 15 MB would be most of what is measured.
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

/** Plays until time is up: the long scripts, and the memory at the end of each session. */
async function watch({ send, evaluate, snapshotChunks }) {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const waitUntil = async (expression) => {
    for (const end = performance.now() + 60_000; !(await evaluate(expression)); await pause(100)) {
      if (performance.now() > end) throw new Error(`not so within 60 s: ${expression}`);
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
    console.error(`minute ${minute.toFixed(1)}: session ${sessions.length} has ended, load ${loadavg()[0].toFixed(1)}`);
    // The measurement itself held the page.
    await evaluate('longScripts.length = 0, document.querySelector("#restart").click()');
    await waitUntil(`!(${finished}) && ${playing}`);
  }
  scripts.push(...(await evaluate('longScripts.splice(0)')));
  return { loading, scripts, sessions };
}

/** Runs in the page, before anything else there. */
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

/** In MB or as a number, after a garbage collection. */
async function memoryOf(send, chunks) {
  await send('HeapProfiler.collectGarbage');
  const { embedderHeapUsedSize, backingStorageSize } = await send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await send('Memory.getDOMCounters');
  // All chunks come before the answer.
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

/** Prints both tables; the exit status. */
function report({ loading, scripts, sessions }) {
  console.log(
    `${cpus().length} x ${cpus()[0].model}, load ${loadavg()[2].toFixed(1)}, ${minutes} minutes, ${sessions.length} sessions ended\n`,
  );
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
    const series = sessions.map(({ memory }) => memory[name]);
    const slope = slopeOf(
      series.slice(1),
      sessions.slice(1).map(({ minute }) => minute / 10),
    );
    const flat = FLAT_SHARE * series.at(-1);
    const verdict =
      slope === undefined || (slope.value - slope.half <= 0 && slope.value + slope.half > flat)
        ? 'unclear'
        : slope.value + slope.half <= flat
          ? 'flat'
          : 'grows';
    if (verdict === 'grows' && !NOT_JUDGED.includes(name)) growing++;
    const text = slope === undefined ? '-' : `${slope.value.toPrecision(2)} ± ${slope.half.toPrecision(2)}`;
    console.log(`| ${name} | ${series[0].toFixed(2)} | ${series.at(-1).toFixed(2)} | ${text} | ${verdict} |`);
  }
  return growing > 0 || of(scripts, 'the page').length > 0 ? 1 : 0;
}

/** By the file that Vite serves it from: demo/, src/, abr/ and predictor/ are `the page`. */
function ownerOf(url) {
  return /\/node_modules\/(?:\.vite\/deps\/)?([\w-]+)/.exec(url)?.[1] ?? (url === '' ? 'unknown' : 'the page');
}

/** Least squares of `y` on `x`: slope and half the width of its 95 % interval; undefined for fewer than 5 points. */
function slopeOf(y, x) {
  const degrees = y.length - 2;
  if (degrees < 3) return undefined;
  const centred = (some) => some.map((one) => one - some.reduce((sum, other) => sum + other, 0) / some.length);
  const dot = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);
  const [left, own] = [centred(y), centred(x)];
  const value = dot(own, left) / dot(own, own);
  const residuals = left.map((one, i) => one - value * own[i]);
  // The 97.5 % quantile of Student's t, by the expansion of Cornish and Fisher.
  const z = 1.959964;
  const t = z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
  return { value, half: t * Math.sqrt(dot(residuals, residuals) / degrees / dot(own, own)) };
}
