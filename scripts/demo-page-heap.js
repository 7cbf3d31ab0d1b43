/**
 * `node scripts/demo-page-heap.js [restarts=46] [--seconds 8]`: what the demo keeps in JavaScript's heap from session to
 * session. Starts the server of `npm start`, opens the page in Chromium with the three players that it has by itself and
 * presses "Start again" every so many seconds; a snapshot of the heap after the 6th start and one after the last, each
 * after a collection of garbage, are compared by what their nodes are. Prints the heap after each start, and what grew:
 *
 * - objects: what the page, the plugin and dash.js hold on to, strings, arrays and functions included. Exit status 1 where
 *   they grow by more than 2 %;
 * - compiled code: V8 compiles a function once more, and faster code of it, after so many calls, and keeps it;
 * - tables: V8's own, of maps and of what depends on them;
 * - native: what the browser keeps for the page, its list of performance entries for one.
 */
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { chromium } from '@playwright/test';
import { startDemo } from './bench-demo-page.server.js';
import { bundledSources } from './bundled-sources.js';

/** Starts before the first snapshot: by then most has been called once. */
const FIRST = 6;
const FLAT_SHARE = 0.02;
const GROUPS = { code: 'compiled code', hidden: 'tables', native: 'native' };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '8' } },
});
const restarts = Number(positionals[0] ?? 46);
const seconds = Number(values.seconds);
if (positionals.length > 1 || !(Number.isInteger(restarts) && restarts > FIRST) || !(seconds >= 1)) {
  const got = stripVTControlCharacters(process.argv.slice(2).join(' '));
  console.error(`expected a whole number of starts over ${FIRST} and --seconds of 1 or more, got ${got}`);
  process.exit(2);
}

const { findBrowser } = await bundledSources('replay/browser/find-browser.ts');
const { executablePath, args, env } = await findBrowser();
const folder = mkdtempSync(join(tmpdir(), 'leo-abr-heap-'));
const server = await startDemo();
const browser = await chromium.launch({ executablePath, args, env });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('HeapProfiler.enable');
  await page.goto(server.url);
  await page.waitForTimeout(1000 * seconds);
  const snapshots = [];
  for (let start = 1; start <= restarts; start++) {
    await page.click('#restart');
    await page.waitForTimeout(1000 * seconds);
    await devTools.send('HeapProfiler.collectGarbage');
    const { usedSize } = await devTools.send('Runtime.getHeapUsage');
    process.stderr.write(`start ${start}: heap ${(usedSize / 1e6).toFixed(2)} MB\n`);
    if (start === FIRST || start === restarts) snapshots.push(await snapshot(devTools, join(folder, `${start}.json`)));
  }
  process.exitCode = report(browser.version(), ...snapshots.map(bytesByGroup));
} finally {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true });
}

/** Writes a snapshot of the heap to the file, and returns its name. */
async function snapshot(devTools, file) {
  const stream = createWriteStream(file);
  const write = ({ chunk }) => stream.write(chunk);
  devTools.on('HeapProfiler.addHeapSnapshotChunk', write);
  await devTools.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  devTools.off('HeapProfiler.addHeapSnapshotChunk', write);
  stream.end();
  await once(stream, 'finish');
  return file;
}

/** Map from group to bytes and number of nodes. */
function bytesByGroup(file) {
  const { snapshot: head, nodes } = JSON.parse(readFileSync(file, 'utf8'));
  const { node_fields: fields, node_types: types } = head.meta;
  const [type, size] = ['type', 'self_size'].map((field) => fields.indexOf(field));
  const groups = new Map(['objects', ...Object.values(GROUPS)].map((name) => [name, { bytes: 0, count: 0 }]));
  for (let i = 0; i < nodes.length; i += fields.length) {
    const group = groups.get(GROUPS[types[type][nodes[i + type]]] ?? 'objects');
    group.bytes += nodes[i + size];
    group.count++;
  }
  return groups;
}

function report(version, first, last) {
  const kilobytes = (bytes) => Math.round(bytes / 1000).toString();
  console.log(`Chromium ${version}, ${restarts} starts, one every ${seconds} s\n`);
  console.log(`| kB | start ${FIRST} | start ${restarts} | growth | of nodes |\n| --- | ---: | ---: | ---: | ---: |`);
  for (const [name, { bytes, count }] of last) {
    const before = first.get(name);
    const cells = [before.bytes, bytes, bytes - before.bytes].map(kilobytes);
    console.log(`| ${[name, ...cells, count - before.count].join(' | ')} |`);
  }
  return last.get('objects').bytes > (1 + FLAT_SHARE) * first.get('objects').bytes ? 1 : 0;
}
