/**
 * `node scripts/demo-page-heap.js [starts=200] [--seconds 8]`: where the demo's JavaScript heap ends. Starts the server of
 * `npm start`, opens the page in Chromium with the three players that it has by itself and presses "Start again" every so many
 * seconds. Prints the heap by what is in it (bench-demo-page.heap.js) after the 6th start, the last and six between. Exit
 * status 1 where the objects, which are what the page keeps, grow by more than 2 %.
 */
import { cpus } from 'node:os';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { launch } from './bench-demo-page.browser.js';
import { FLAT_SHARE, HEAP_KINDS, heapBytesByKind } from './bench-demo-page.heap.js';
import { ALL_PLAY, startDemo } from './bench-demo-page.server.js';
import { bundledSources } from './bundled-sources.js';

/** Starts before the first snapshot: by then most has been called once. */
const FIRST = 6;
const SNAPSHOTS = 8;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '8' } },
});
const starts = Number(positionals[0] ?? 200);
const seconds = Number(values.seconds);
if (positionals.length > 1 || !(Number.isInteger(starts) && starts > FIRST) || !(seconds >= 1)) {
  const got = stripVTControlCharacters(process.argv.slice(2).join(' '));
  console.error(`expected a whole number of starts over ${FIRST} and --seconds of 1 or more, got ${got}`);
  process.exit(2);
}
const due = new Set(
  Array.from({ length: SNAPSHOTS }, (_, i) => Math.round(FIRST + ((starts - FIRST) * i) / (SNAPSHOTS - 1))),
);

const { findBrowser } = await bundledSources('replay/browser/find-browser.ts');
const { executablePath, args, env } = await findBrowser();
const server = await startDemo();
const browser = await launch({ executablePath, args, env, width: 1280, height: 900 });
try {
  const { product } = await browser.send('Browser.getVersion');
  const page = await browser.page();
  await page.send('Page.enable');
  await page.send('Page.navigate', { url: server.url });
  await pause(seconds);
  console.log(`${product}, ${cpus().length} x ${cpus()[0].model}; ${starts} starts, one every ${seconds} s\n`);
  const snapshots = [];
  for (let start = 1; start <= starts; start++) {
    await page.evaluate(`document.querySelector('#restart').click()`);
    await pause(seconds);
    if (!(await page.evaluate(ALL_PLAY))) throw new Error(`start ${start}: a player does not play within ${seconds} s`);
    if (due.has(start)) {
      snapshots.push(await heapBytesByKind(page));
      print(start, snapshots.at(-1));
    }
  }
  const [first, last] = [snapshots[0].objectBytes, snapshots.at(-1).objectBytes];
  console.log(
    `\nobjects: ${(100 * (last / first - 1)).toFixed(1)} % more after start ${starts} than after start ${FIRST}`,
  );
  process.exitCode = last > (1 + FLAT_SHARE) * first ? 1 : 0;
} finally {
  await browser.close();
  await server.stop();
}

function print(start, bytes) {
  const row = (cells) => console.log(`| ${cells.join(' | ')} |`);
  if (start === FIRST) {
    row(['kB after start', ...Object.values(HEAP_KINDS)]);
    row(['---', ...Object.values(HEAP_KINDS).map(() => '---:')]);
  }
  row([start, ...Object.keys(HEAP_KINDS).map((kind) => Math.round(bytes[kind] / 1000))]);
}

function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}
