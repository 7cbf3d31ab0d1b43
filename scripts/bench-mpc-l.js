/**
 * Times MPC-L: `node scripts/bench-mpc-l.js [--browser] [--calls N]`. Prints microseconds per `decide` and `reconsider`
 * (6 representations, 24 futures) at the horizons of the scenarios: the first call, the first 50, and p50, p99 and the
 * largest of the rest; in Node, or with `--browser` on the main thread of a page in Chromium.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { chromium } from 'playwright-core';
import { build } from 'vite';

const { values } = parseArgs({
  options: { browser: { type: 'boolean', default: false }, calls: { type: 'string', default: '5000' } },
});
const calls = Number(values.calls);
if (!Number.isInteger(calls) || calls < 100) {
  console.error(`--calls: expected a whole number of at least 100, got ${stripVTControlCharacters(values.calls)}`);
  process.exit(2);
}

const outDir = resolve('build/bench');
mkdirSync(outDir, { recursive: true });

async function bundle(entry, fileName) {
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
  return resolve(outDir, fileName);
}

/** A page that is isolated from other origins has a clock of 5 microseconds, any other one of 100. */
function servePage(script) {
  const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
  const server = createServer((request, response) => {
    const isScript = request.url === '/bench.mjs';
    response.writeHead(200, { ...headers, 'Content-Type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? script : '<!doctype html><title>MPC-L</title>');
  });
  return new Promise((started) => server.listen(0, '127.0.0.1', () => started(server)));
}

async function measureInBrowser(file) {
  const { findBrowser } = await import(
    pathToFileURL(await bundle('replay/browser/find-browser.ts', 'find-browser.mjs')).href
  );
  const { executablePath, args, env } = await findBrowser();
  const server = await servePage(readFileSync(file));
  const browser = await chromium.launch({ executablePath, args, env });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const rows = await page.evaluate(async (count) => (await import('/bench.mjs')).measure(count), calls);
    return { where: `Chromium ${browser.version()}, main thread`, rows };
  } finally {
    await browser.close();
    server.close();
  }
}

const file = await bundle('scripts/bench-mpc-l.entry.js', 'bench-mpc-l.mjs');
const { where, rows } = values.browser
  ? await measureInBrowser(file)
  : { where: `Node ${process.versions.node}`, rows: (await import(pathToFileURL(file).href)).measure(calls) };

const cell = (value) => value.toFixed(0).padStart(8);
console.log(`${`microseconds in ${where}`.padEnd(40)} horizon   first   50: p50, max       p50     p99     max`);
for (const { what, horizon, first, fresh, warm } of rows) {
  console.log(
    `${what.padEnd(40)}${cell(horizon)}${cell(first)}${cell(fresh.p50)}${cell(fresh.max)}  ${cell(warm.p50)}${cell(warm.p99)}${cell(warm.max)}`,
  );
}
