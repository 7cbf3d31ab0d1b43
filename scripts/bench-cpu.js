/** `npm run bench:cpu`: measures the plugin's cost on the main thread of a page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { bundledSources } from './bundled-sources.js';
import { commandLine, ROOT } from './command-line.js';

const { values: flags, refuse } = commandLine(
  `usage: npm run build:plugin && npm run bench:cpu -- [--live] [--seconds 30] [--throttle 1,6,20]

Plays a stream with dash.js in Chromium: without the plugin, with it, and with it and a listener on \`decision\`. The CPU is
slowed down by each factor and the main thread is sampled. On demand: 2 s segments, a buffer of up to 18 s, and a link with
a dip every 15 s. --live: 2 s segments in chunks of 0.25 s, played 1 s behind the capture. The first 6 s are the start, the
rest is the steady state. Script times are per 30 s of playback, those of the start are sums:

  dash.js      script time in dash.js's file
  plugin       script time in the plugin's file; with dash.js: dash.js's for the plugin's calls in addition
  ratio        plugin / dash.js of the same run
  tick         duration of one call of the plugin's timer in the steady state, in ms
  heap         JavaScript heap in MB after garbage collection, at the end

--dist <folder>: other builds of the plugin.`,
  {
    options: {
      live: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '30' },
      throttle: { type: 'string', default: '1,6,20' },
      dist: { type: 'string', default: join(ROOT, 'dist') },
    },
  },
);
const seconds = Number(flags.seconds);
const factors = flags.throttle.split(',').map(Number);
if (!(seconds > 6)) refuse(`--seconds: expected a number > 6, got ${flags.seconds}`);
if (!factors.every((factor) => factor >= 1)) refuse(`--throttle: expected numbers >= 1, got ${flags.throttle}`);

/** Time between two samples of the main thread. */
const SAMPLE_MICROS = 200;
const START_SECONDS = 6;
const VARIANTS = ['no plugin', 'plugin', 'listener'];
const PLUGIN = 'leo-abr.js';
const DASH = 'dash.all.min.js';
/** The plugin wraps the body's reader (src/dash/live.ts). Time in this wrapper is the browser's. */
const READ = 'read';
const FILES = {
  [DASH]: join(createRequire(import.meta.url).resolve('dashjs'), '..', DASH),
  [PLUGIN]: join(flags.dist, PLUGIN),
};
const PAGE = `<!doctype html><video width="320" muted></video><script src="${DASH}"></script>
<script type="module">import { attachLeoAbr } from './${PLUGIN}'; window.attachLeoAbr = attachLeoAbr;</script>`;

const { startOrigin } = await bundledSources('replay/origin/index.ts');
const { SCENARIOS } = await bundledSources('replay/scenarios.ts');
const { findBrowser } = await bundledSources('replay/browser/find-browser.ts');
const origin = await startOrigin({
  fallback({ url }, response) {
    const name = url.slice(1);
    if (url !== '/' && !(name in FILES)) return false;
    const type = url === '/' ? 'text/html' : 'text/javascript';
    response.writeHead(200, { 'content-type': type }).end(url === '/' ? PAGE : readFileSync(FILES[name]));
    return true;
  },
});
const { executablePath, args, env } = await findBrowser();
const browser = await chromium.launch({ executablePath, args, env });
try {
  for (const factor of factors) for (const variant of VARIANTS) await measure(factor, variant);
} finally {
  await browser.close();
  await origin.close();
}

async function measure(factor, variant) {
  const page = await browser.newPage();
  await page.addInitScript(timeTicks);
  await page.goto(origin.url);
  const cdp = await page.context().newCDPSession(page);
  for (const domain of ['Profiler', 'HeapProfiler']) await cdp.send(`${domain}.enable`);
  await cdp.send('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: factor });
  const session = origin.createSession(streamOf(seconds + 60));
  const profileOf = async (phaseSeconds) => {
    await cdp.send('Profiler.start');
    await page.waitForTimeout(1000 * phaseSeconds);
    return scriptMicros((await cdp.send('Profiler.stop')).profile, factor);
  };
  await page.evaluate(play, { manifest: origin.manifestUrl(session), variant });
  const start = await profileOf(START_SECONDS);
  await page.evaluate(() => window.seen());
  const steady = await profileOf(seconds - START_SECONDS);
  const { tickMillis, played, faults } = await page.evaluate(() => window.seen());
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  await page.close();
  origin.removeSession(session.id);
  if (!(played > 0.5 * seconds)) console.log(`only ${played.toFixed(1)} s were played`);
  for (const fault of faults) console.log(`fault: ${fault}`);
  const sorted = tickMillis.sort((a, b) => a - b);
  const at = (level) => sorted[Math.floor(level * sorted.length)].toFixed(1);
  const times = ({ dash, plugin, forPlugin }, scale) => {
    const millis = (micros) => ((micros / 1000) * scale).toFixed(0);
    const ratio = (plugin / dash).toFixed(2);
    const ofPlugin = `, plugin ${millis(plugin)} ms, with dash.js ${millis(plugin + forPlugin)} ms, ratio ${ratio}`;
    return `dash.js ${millis(dash)} ms${variant === 'no plugin' ? '' : ofPlugin}`;
  };
  const ticks = sorted.length > 0 ? `${sorted.length} ticks: p50 ${at(0.5)} p99 ${at(0.99)} ms, ` : '';
  const heap = `heap ${(usedSize / 1e6).toFixed(1)} MB`;
  const scale = 30 / (seconds - START_SECONDS);
  console.log(`CPU / ${factor}, ${variant}: ${times(steady, scale)}, ${ticks}${heap}; start: ${times(start, 1)}`);
}

/** Sums time by the file of the innermost script. `forPlugin` is dash.js's time in calls by the plugin. */
function scriptMicros({ nodes, samples, timeDeltas }, factor) {
  // A longer time means that the page has waited for a busy host.
  const longestMicros = 3 * SAMPLE_MICROS * factor;
  const owners = new Map();
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const ownerOf = (id) => {
    let file;
    for (let at = id; at !== undefined; at = parents.get(at)) {
      const { url, functionName } = frames.get(at);
      const name = [DASH, PLUGIN].find((one) => url.endsWith(`/${one}`));
      if (file === undefined && name === PLUGIN && functionName === READ) continue;
      file ??= name;
      if (file === DASH && name === PLUGIN) return 'forPlugin';
    }
    return file === undefined ? 'other' : file === DASH ? 'dash' : 'plugin';
  };
  const sums = { dash: 0, plugin: 0, forPlugin: 0, other: 0 };
  samples.forEach((id, i) => {
    if (!owners.has(id)) owners.set(id, ownerOf(id));
    sums[owners.get(id)] += Math.min(longestMicros, timeDeltas[i]);
  });
  return { ...sums, dash: sums.dash + sums.forPlugin };
}

/** A stream and its link of 8 Mbit/s, with 1 Mbit/s for 1 s of each 15. */
function streamOf(mediaSeconds) {
  const epochs = Math.ceil(mediaSeconds / 15) + 2;
  const ends = Array.from({ length: epochs }, (_, i) => [15 * i + 11, 15 * i + 12]).flat();
  const segmentSeconds = 2;
  return {
    trace: {
      name: 'a dip every 15 s',
      stepEndsSeconds: Float64Array.from(ends),
      ratesBps: Float64Array.from(ends, (_, i) => (i % 2 ? 1e6 : 8e6)),
      durationSeconds: ends.at(-1),
      metadata: { dataset: 'bench', recordingGroup: 'bench', startUtcMs: Date.now() },
    },
    scenario: {
      ...SCENARIOS[flags.live ? 'live-hd-1' : 'hd-16'],
      segmentSeconds,
      ladderBps: [300e3, 1e6, 2.5e6, 5e6],
      segmentCount: Math.ceil(mediaSeconds / segmentSeconds),
      traceScale: { factor: 1 },
    },
  };
}

/** Runs in the page and times the plugin's timers. `seen` returns the times since its last call. */
function timeTicks() {
  const tickMillis = [];
  const original = window.setInterval;
  // A stack costs more than a timer, and the plugin starts its timer for each download.
  const isPlugins = new WeakMap();
  window.setInterval = (action, ...rest) => {
    if (!isPlugins.has(action)) isPlugins.set(action, /\/leo-abr[\w.]*\.js/.test(new Error().stack));
    if (!isPlugins.get(action)) return original(action, ...rest);
    const timed = () => {
      const began = performance.now();
      action();
      tickMillis.push(performance.now() - began);
    };
    return original(timed, ...rest);
  };
  window.seen = () => {
    const faults = window.handle?.state.faults.map(({ message }) => message) ?? [];
    return { tickMillis: tickMillis.splice(0), faults, played: document.querySelector('video').currentTime };
  };
}

/** Runs in the page. */
function play({ manifest, variant }) {
  const player = window.dashjs.MediaPlayer().create();
  if (variant !== 'no plugin') window.handle = window.attachLeoAbr(player);
  if (variant === 'listener') window.handle.on('decision', (decision) => (window.last = decision));
  player.initialize(document.querySelector('video'), manifest, true);
}
