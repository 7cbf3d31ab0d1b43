/**
 * `node scripts/bench-demo-page.js [minutes=30] [--memory] [--query '?...'] [--out file.json]`: what the demo costs the browser
 * that shows it. Starts the server of `npm start` (Vite's, with the sources as they are), opens the page in Chromium with the
 * three players that it has by itself, and lets them play; where all have finished, it presses "Start again". Real time. Prints
 *
 * - the tasks over 50 ms of the page's main thread, by whose they were: a sampling profiler runs all along. On a busy machine a
 *   task is long because others have the processors, other virtual machines of the same host among them: on Linux that time is
 *   known, and taken off;
 * - where memory stood when a session had ended, after a collection of garbage, and its slope per 10 minutes with a 95 % interval,
 *   by least squares from the second session on. The JavaScript heap is taken apart (bench-demo-page.heap.js): its whole is V8's
 *   compiled code too, which grows until all that is called often has been compiled (scripts/demo-page-heap.js shows for how
 *   long). What the page keeps are the objects and what is native, and they are judged in its stead.
 *
 * With --memory no profiler runs, which might itself keep memory: of the tasks it is then only told how many were over 50 ms.
 * What the measuring itself holds the main thread for is left out, and counted. Exit status 1 where a task of ours was over
 * 50 ms (not with --memory) or something that is judged grows.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { launch } from './bench-demo-page.browser.js';
import { FLAT_SHARE, HEAP_KINDS } from './bench-demo-page.heap.js';
import { Meter, residentBytes } from './bench-demo-page.meter.js';
import { largest, PAGE, slopeOf } from './bench-demo-page.profile.js';
import { ALL_PLAY, startDemo } from './bench-demo-page.server.js';
import { stealSeconds } from './bench-demo-page.waits.js';
import { bundledSources } from './bundled-sources.js';

const SAMPLE_SECONDS = 60;
/** What has ended is let go of meanwhile. */
const AFTER_SESSION_MS = 3000;
const LONG_MS = 50;
const PROFILE_MICROSECONDS = 1000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    memory: { type: 'boolean', default: false },
    query: { type: 'string', default: '' },
    out: { type: 'string' },
  },
});
const minutes = Number(positionals[0] ?? 30);
if (positionals.length > 1 || !(minutes > 0 && minutes <= 24 * 60)) {
  console.error(`expected minutes, 0 to 1440, got ${stripVTControlCharacters(positionals.join(' '))}`);
  process.exit(2);
}

/** Plays for as long as asked: memory by the minute, long tasks, and what the main thread's time went into. */
async function watch() {
  const { product } = await browser.send('Browser.getVersion');
  const page = await browser.page();
  for (const domain of ['Page', 'Performance']) await page.send(`${domain}.enable`);
  const profiled = !values.memory;
  if (profiled) {
    await page.send('Profiler.enable');
    await page.send('Profiler.setSamplingInterval', { interval: PROFILE_MICROSECONDS });
  }
  await page.send('Page.addScriptToEvaluateOnNewDocument', { source: `(${noteLongTasks})()` });
  await page.send('Page.navigate', { url: server.url + values.query });
  if (profiled) await page.send('Profiler.start');
  await waitUntil(page, ALL_PLAY, 'a player does not play');
  const haveEnded = `[...document.querySelectorAll('.state')].every(({ textContent }) => textContent === 'finished')`;
  const meter = new Meter(page, await rendererPid(), { profiled });
  const loadedAt = await page.evaluate('performance.timeOrigin');
  const loading = await meter.look();

  const startMs = performance.now();
  const stealAtStart = stealSeconds();
  const endMs = startMs + minutes * 60_000;
  const looks = [];
  let session = 1;
  const look = async (what) => {
    if ((await page.evaluate('performance.timeOrigin')) !== loadedAt) {
      throw new Error('the page was loaded anew: a source file has changed, or the server was away');
    }
    const minute = (performance.now() - startMs) / 60_000;
    looks.push({ minute, session, load: loadavg()[0], ...(await meter.look(what)) });
    const { memory, tasks } = looks.at(-1);
    const heap = memory === undefined ? '' : ` ended: objects ${(memory.objectBytes / 1e6).toFixed(2)} MB`;
    process.stderr.write(`minute ${minute.toFixed(1)}, session ${session}${heap}, ${tasks.length} long tasks\n`);
  };
  while (performance.now() < endMs) {
    const dueMs = Math.min(performance.now() + SAMPLE_SECONDS * 1000, endMs);
    while (performance.now() < dueMs) {
      await pause(Math.min(1000, Math.max(0, dueMs - performance.now())));
      if (!(await page.evaluate(haveEnded))) continue;
      await pause(AFTER_SESSION_MS);
      await look({ andMemory: true });
      await page.evaluate(`document.querySelector('#restart').click()`);
      await waitUntil(page, `!(${haveEnded})`, 'nothing starts again');
      await waitUntil(page, ALL_PLAY, 'a player does not play again');
      session++;
    }
    await look();
  }
  meter.close();
  const stolenShare = (stealSeconds() - stealAtStart) / cpus().length / ((performance.now() - startMs) / 1000);
  const players = await page.evaluate(`document.querySelectorAll('article').length`);
  return {
    url: await page.evaluate('location.href'),
    product,
    players,
    sessions: session,
    stolenShare,
    loading,
    looks,
  };
}

/** Runs in the page, before anything else there. */
function noteLongTasks() {
  const noted = [];
  const note = (entries) => {
    for (const { startTime, duration } of entries) noted.push({ startMs: startTime, ms: duration });
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ type: 'longtask' });
  window.takeLongTasks = () => {
    note(observer.takeRecords());
    return noted.splice(0);
  };
}

/** Throws what would be wrong where the expression is not true in the page within a minute. */
async function waitUntil(page, expression, otherwise) {
  for (const untilMs = performance.now() + 60_000; !(await page.evaluate(expression)); await pause(100)) {
    if (performance.now() > untilMs) throw new Error(`${otherwise} within 60 s`);
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The process that draws the page: of all renderers the one with most in memory. Undefined where nobody can tell. */
async function rendererPid() {
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
  return processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => ({ id, bytes: residentBytes(id) ?? 0 }))
    .sort((a, b) => b.bytes - a.bytes)[0]?.id;
}

/** Prints it all; the exit status. */
function report({ url, product, players, sessions, stolenShare, loading, looks }) {
  const { model } = cpus()[0];
  const load = looks.reduce((sum, one) => sum + one.load, 0) / looks.length;
  const played = looks.at(-1).minute;
  const stolen = stolenShare > 0 ? `, ${(100 * stolenShare).toFixed(1)} % of them taken by other machines` : '';
  console.log(
    `${product} (${source}), ${cpus().length} x ${model}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, load ${load.toFixed(1)}${stolen}; Node ${process.versions.node}`,
  );
  console.log(
    `${stripVTControlCharacters(url)}\n${players} players, ${sessions} sessions of each, ${played.toFixed(1)} minutes\n`,
  );

  const ours = values.memory ? undefined : reportTasks(looks, loading);
  if (ours === undefined) {
    const tasks = looks.flatMap((look) => look.tasks);
    const busy = tasks.filter(({ ownMs }) => ownMs > LONG_MS);
    console.log(
      `tasks over ${LONG_MS} ms: ${tasks.length} by the clock, ${busy.length} without waiting, unknown whose\n`,
    );
  }

  const verdicts = printMemory(looks);
  const judged = verdicts.filter(({ isJudged }) => isJudged);
  const growing = judged.filter(({ verdict }) => verdict === 'grows').map(({ what }) => what);
  const unclear = judged.filter(({ verdict }) => verdict === 'unclear').map(({ what }) => what);
  const found = ours === undefined ? '' : `long tasks of the page’s own scripts: ${ours}; `;
  console.log(
    `\n${found}growing: ${growing.join(', ') || 'nothing'}${unclear.length > 0 ? `; too little to tell: ${unclear.join(', ')}` : ''}`,
  );
  if (values.out !== undefined) {
    const about = { url, browser: product, source, cpu: model, cores: cpus().length, node: process.versions.node };
    const result = {
      about: { ...about, players, sessions, minutes: played, load, stolenShare },
      loading,
      looks,
      memory: verdicts,
    };
    writeFileSync(values.out, `${JSON.stringify(result, null, 1)}\n`);
  }
  return (ours ?? 0) > 0 || growing.length > 0 ? 1 : 0;
}

/** Prints whose the long tasks were, and the main thread's time; how many tasks were the page's. */
function reportTasks(looks, loading) {
  const tasks = looks.flatMap((look) => look.tasks);
  const ours = printTasks('while they played', tasks, looks);
  printTasks('until all had a first picture', loading.tasks, [loading]);

  const totalMs = looks.at(-1).minute * 60_000;
  const share = (owner) => looks.reduce((sum, { spentMs }) => sum + (spentMs[owner] ?? 0), 0) / totalMs;
  const owners = [...new Set(looks.flatMap(({ spentMs }) => Object.keys(spentMs)))].filter((one) => one !== 'idle');
  const shares = owners.map((owner) => [owner, share(owner)]).sort((a, b) => b[1] - a[1]);
  console.log(
    `the main thread’s time: ${shares.map(([owner, of]) => `${owner} ${(100 * of).toFixed(1)} %`).join(', ')}\n`,
  );
  return ours;
}

/**
 * Tasks over 50 ms by whose most of their time was, by the clock and without the time in which the thread waited for a processor;
 * how many were the page's, without it.
 */
function printTasks(when, tasks, looks) {
  const held = looks.reduce((sum, one) => sum + one.held, 0);
  const title = `tasks over ${LONG_MS} ms ${when}${held > 0 ? ` (and ${held} of the measuring)` : ''}`;
  console.log(`${title.padEnd(58)}by the clock   without waiting   longest without`);
  const ownerOf = ({ ms }) => largest(ms)[0].replace('idle', 'nobody: the thread waited');
  const owners = [...new Set([PAGE, ...tasks.map(ownerOf)])];
  const counts = owners.map((owner) => {
    const owned = tasks.filter((task) => ownerOf(task) === owner);
    const busy = owned.filter(({ ownMs }) => ownMs > LONG_MS);
    const longest = owned.reduce((most, task) => (task.ownMs > most.ownMs ? task : most), { ownMs: 0, functions: {} });
    const [what] = largest(longest.functions[owner] ?? {});
    return { owner, all: owned.length, busy: busy.length, longest, what };
  });
  for (const { owner, all, busy, longest, what } of counts.sort((a, b) => b.all - a.all)) {
    const numbers = `${String(all).padStart(12)}${String(busy).padStart(18)}${longest.ownMs.toFixed(0).padStart(15)} ms`;
    console.log(`  ${owner.padEnd(56)}${numbers}${what && `, most in ${what}`}`);
  }
  console.log();
  return counts.find(({ owner }) => owner === PAGE).busy;
}

const MB = 1e6;
const SERIES = [
  { what: 'JavaScript heap, MB', of: ({ heapBytes }) => heapBytes / MB, digits: 2, isJudged: false },
  ...Object.entries(HEAP_KINDS).map(([kind, name]) => ({
    what: `${name}, MB`,
    of: (memory) => memory[kind] / MB,
    digits: 2,
    isJudged: kind === 'objectBytes' || kind === 'nativeBytes',
  })),
  { what: 'of the DOM, MB', of: ({ embedderBytes }) => embedderBytes / MB, digits: 2, isJudged: true },
  { what: 'array buffers, MB', of: ({ backingBytes }) => backingBytes / MB, digits: 2, isJudged: true },
  { what: 'nodes', of: ({ nodes }) => nodes, digits: 0, isJudged: true },
  { what: 'listeners', of: ({ listeners }) => listeners, digits: 0, isJudged: true },
  { what: 'documents', of: ({ documents }) => documents, digits: 0, isJudged: true },
  { what: 'renderer resident, MB', of: ({ residentBytes: bytes }) => bytes && bytes / MB, digits: 1, isJudged: true },
];

/** What there was after the first session, after the last, and the slope between; with a verdict on each series. */
function printMemory(looks) {
  const ends = looks.filter(({ memory }) => memory !== undefined);
  if (ends.length === 0) {
    console.log('memory: no session has ended');
    return [];
  }
  console.log(
    `when a session had ended               first     last   per 10 minutes (95 %), from the 2nd of ${ends.length} on`,
  );
  const counted = ends.slice(1);
  return SERIES.filter(({ of }) => of(ends[0].memory) !== undefined).map(({ what, of, digits, isJudged }) => {
    const minutesAt = counted.map(({ minute }) => minute / 10);
    const series = counted.map(({ memory }) => of(memory));
    const slope = slopeOf(series, minutesAt);
    const [first, last] = [ends[0], ends.at(-1)].map(({ memory }) => of(memory));
    const number = (value) => value.toFixed(digits).padStart(9);
    const text = slope === undefined ? '-' : `${signed(slope.value)} ± ${slope.halfWidth.toPrecision(2)}`;
    const verdict = slope === undefined ? 'unclear' : verdictOn(slope, series);
    console.log(`  ${what.padEnd(32)}${number(first)}${number(last)}   ${text.padEnd(22)}${verdict}`);
    return { what, first, last, slopePer10Minutes: slope ?? null, verdict, isJudged };
  });
}

/** Flat: growth by more than FLAT_SHARE of the mean is excluded. */
function verdictOn({ value, halfWidth }, series) {
  const mean = series.reduce((sum, one) => sum + one, 0) / series.length;
  if (value + halfWidth <= FLAT_SHARE * mean) return 'flat';
  return value - halfWidth > 0 ? 'grows' : 'unclear';
}

function signed(value) {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toPrecision(2)}`;
}

const { findBrowser } = await bundledSources('replay/browser/find-browser.ts');
const { executablePath, args, env, source } = await findBrowser();
const server = await startDemo();
const browser = await launch({ executablePath, args, env, width: 1280, height: 900 });
let watched;
try {
  watched = await watch();
} finally {
  await browser.close();
  await server.stop();
}
process.exitCode = report(watched);
