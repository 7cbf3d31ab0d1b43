/** Tests the packed package with the documents' code and the examples in Vite projects, plain HTML files and Node. */

import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import type { OnnxForecaster } from '../../predictor/onnx/index.ts';
import { type RunningOrigin, startOrigin } from '../../replay/origin/index.ts';
import { builtFolder, CHANGE, ROOT } from '../builds.ts';
import { startProgram } from '../engines/engine.ts';
import { sessionOf } from '../playback/playback-test.ts';

/** The documents' stream and the examples' stream, without `.mpd` or `.m3u8`. */
const STREAM = 'https://example.org/stream';
const DEMO_STREAM = 'http://127.0.0.1:8788/stream';
/** The entries beside the main entry. */
const ENTRIES = 'hls shaka trial onnx onnx-worker service model'.split(' ');
/** Scripts for televisions. */
const LEGACY = ['legacy.global', 'hls.legacy.global', 'shaka.legacy.global'];
const TYPES: Record<string, string> = {
  ...{ '.html': 'text/html', '.css': 'text/css', '.wasm': 'application/wasm' },
  ...{ '.js': 'text/javascript', '.mjs': 'text/javascript' },
};
const read = (path: string) => fs.readFileSync(join(ROOT, path), 'utf8');
/** The policies under which a bundled app and its ONNX Worker have to work. */
const [PAGE_POLICY = '', WORKER_POLICY = ''] = read('docs/onnx.md').match(/(?<=^ {4}content-security-policy: ).+$/gm)!;

let folder: string;
let files: string[];
let origin: RunningOrigin;

function run(program: string, args: string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
const runNode = (script: string, args: string[], cwd: string) =>
  run(process.execPath, [join(ROOT, 'node_modules', script), ...args], cwd);

/** Replaces the stream in the code by the test's. */
const playing = (code: string, manifest: string) =>
  code
    .replace(DEMO_STREAM, STREAM)
    .replace(`${STREAM}.mpd`, manifest)
    .replace(`${STREAM}.m3u8`, manifest.replace('manifest.mpd', 'master.m3u8'));

/** The document's first code block with all of `texts`, for the test's stream. */
function codeBlock(document: string, manifest: string, ...texts: string[]): string {
  const blocks = [...read(document).matchAll(/```\w+\n([\s\S]*?)```/g)].map(([, code]) => code!);
  const wanted = [STREAM, ...texts];
  const block = blocks.find((code) => wanted.every((text) => code.includes(text)));
  expect(block, `a code block of ${document} with ${wanted.join(' and ')}`).toBeDefined();
  return playing(block!, manifest);
}

test.beforeAll(async () => {
  test.setTimeout(120_000);
  runNode('typescript/bin/tsc', ['-b', 'src'], ROOT);
  for (const entry of ['', '-legacy', '-hls-legacy', '-shaka-legacy', ...ENTRIES.map((name) => `-${name}`)]) {
    fs.cpSync(builtFolder(`plugin${entry}`), join(ROOT, 'dist'), { recursive: true });
  }
  folder = fs.mkdtempSync(join(tmpdir(), 'leo-abr-package-'));
  const packed = run('npm', ['pack', '--json', '--pack-destination', folder], ROOT);
  const [{ filename, files: listed }] = JSON.parse(packed.slice(packed.indexOf('[\n'))) as [
    { filename: string; files: { path: string }[] },
  ];
  files = listed.map(({ path }) => path);

  fs.mkdirSync(join(folder, 'app'));
  const app = join(folder, 'app');
  fs.writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  // An app would install these itself; linking avoids a download.
  const flags = ['--offline', '--legacy-peer-deps', '--no-audit', '--no-fund', '--no-update-notifier'];
  const { stderr } = spawnSync('npm', ['install', ...flags, join(folder, filename)], { cwd: app, encoding: 'utf8' });
  expect(stderr, 'npm warns of packages with scripts').toBe('');
  for (const own of ['dashjs', 'hls.js', 'shaka-player', 'onnxruntime-web']) {
    fs.symlinkSync(join(ROOT, 'node_modules', own), join(app, 'node_modules', own));
  }

  origin = await startOrigin({
    fallback(request, response) {
      const { pathname } = new URL(request.url ?? '/', 'http://origin');
      const file = join(app, normalize(pathname.endsWith('/') ? `${pathname}index.html` : pathname));
      if (!file.startsWith(app) || !fs.existsSync(file)) return false;
      response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
      const policy = pathname.includes('onnx-worker') ? WORKER_POLICY : PAGE_POLICY;
      if (pathname.startsWith('/dist/')) response.setHeader('content-security-policy', policy);
      response.end(fs.readFileSync(file));
      return true;
    },
  });
});

test.afterAll(async () => {
  await origin?.close();
  if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
});

/** Makes a page for a new stream, and plays the stream in the page. */
async function expectPlayback(page: Page, path: string, make: (manifest: string) => void): Promise<void> {
  const spec = sessionOf({ ladderBps: [300e3, 1e6, 2.5e6], segmentCount: 10, link: { 600: 6e6 } });
  const session = origin.createSession(spec);
  make(origin.manifestUrl(session));
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${origin.url}/${path}`);
  await expect
    .poll(() => page.evaluate(() => document.querySelector('video')?.currentTime ?? 0), { timeout: 20_000 })
    .toBeGreaterThan(1.5);
  expect(errors).toEqual([]);
  const segments = session.log.map(({ path }) => path).filter((path) => path.endsWith('.m4s'));
  expect(segments.filter((path) => path.startsWith('video-2/')).length).toBeGreaterThan(0);
}

test('docs/api.txt has the public types', CHANGE, () => {
  run(process.execPath, [join(ROOT, 'scripts/api-report.js'), '--check'], ROOT);
});

test('contains the builds, types and documents, within the size budget', CHANGE, () => {
  const types = ['index', 'hls', 'shaka'].map((name) => `src/${name}`);
  types.push('trial/index', 'predictor/onnx/index', 'predictor/model-url/index', 'abr/controller');
  const expected = [
    ...['', ...['global', ...LEGACY, ...ENTRIES].map((name) => `.${name}`)].map((name) => `dist/leo-abr${name}.js`),
    ...types.map((name) => `dist/types/${name}.d.ts`),
    ...['onnx', 'md'].map((type) => `predictor/models/built-in.${type}`),
    ...['LICENSE', 'README.md', 'CHANGELOG.md', 'package.json'],
  ];
  expect(files).toEqual(expect.arrayContaining(expected));
  const known =
    /^(dist\/(leo-abr\.|types\/(abr|predictor|session|src|trial)\/)|predictor\/models\/|docs\/|examples\/|[A-Z]+(\.md)?$|package\.json$)/;
  expect(files.filter((file) => !known.test(file) || /\.(test|fixture)\./.test(file))).toEqual([]);
  run(process.execPath, ['scripts/size.js'], ROOT);
});

test("README's links lead to files of the package, but for the list of the repository's folders", () => {
  const [readme = ''] = read('README.md').split('## What is where');
  const links = [...readme.matchAll(/\]\((?![a-z]+:)([^)#]+)[^)]*\)/g)].map(([, path]) => path!);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((path) => !files.includes(path))).toEqual([]);
});

/** Runs a script until its output matches, calls `during`, then ends all of the script's processes. */
async function inShell(
  script: string,
  { cwd, until }: { cwd: string; until: RegExp },
  during: (match: string) => Promise<void>,
) {
  // Without a terminal: npx cannot ask, and with `yes=false` it installs nothing on its own.
  // An earlier test's build may have left `NODE_ENV=production`, with which npm installs no development dependencies.
  const env = { NODE_ENV: '', npm_config_yes: 'false', npm_config_ignore_scripts: 'true', NO_COLOR: '1' };
  const { child, ended, match } = startProgram('bash', ['-ec', script], { cwd, env, detached: true });
  const matched = await match(until);
  try {
    await during(matched);
  } finally {
    process.kill(-child.pid!, 'SIGTERM');
  }
  await ended;
}

test('examples/README.md: its commands need no answer', async () => {
  test.setTimeout(300_000);
  const [, block = ''] = /```sh\n(npm[\s\S]*?)```/.exec(read('examples/README.md')) ?? [];
  // The package is packed above.
  const rest = block.slice(block.indexOf('cd examples'));
  expect(rest).toBe('cd examples/plain\nnpm install\nnpm start\n');
  const { status } = spawnSync('npm', ['view', 'vite', 'version'], { stdio: 'ignore' });
  test.skip(status !== 0, "npm's registry cannot be reached");
  const copy = join(folder, 'copy/examples');
  fs.cpSync(join(ROOT, 'examples'), copy, { recursive: true, filter: (path) => !path.includes('node_modules') });
  const tarball = fs.readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  fs.copyFileSync(join(folder, tarball), join(copy, tarball));
  // Beside another package, as in a folder with all that was packed.
  fs.writeFileSync(join(copy, 'leo-abr-tools-0.4.0.tgz'), '');
  const start = (example: string, pages: string[]) => {
    const script = rest.replace('examples/plain', `examples/${example}`);
    return inShell(script, { cwd: join(folder, 'copy'), until: /Local: +(http\S+\/)\s/ }, async (url) => {
      for (const page of pages) expect((await fetch(new URL(page, url))).status).toBe(200);
      const html = await (await fetch(new URL(pages[0]!, url))).text();
      const scripts = [...html.matchAll(/(?<=["'])(?:\.\/)?node_modules\/[^"']+/g)].map(([path]) => path);
      for (const path of scripts) expect((await fetch(new URL(path, url))).status).toBe(200);
    });
  };
  await start('plain', ['dash.html', 'hls.html', 'shaka.html']);
  await start('vite', ['', 'main.ts']);
});

test("docs/live.md's server passes on chunks as they come, and listens on the loopback only", async () => {
  const script = `${join(ROOT, 'docs/examples/live-server.js')} 0`;
  await inShell(`exec "${process.execPath}" ${script}`, { cwd: folder, until: /(http:\S+\/)\s/ }, async (url) => {
    expect(await (await fetch(url)).text()).toContain('attachLeoAbr');
    for (const path of ['dash.js', 'leo-abr.js']) expect((await fetch(new URL(path, url))).status).toBe(200);
    const chunks = new TransformStream<Uint8Array>();
    const writer = chunks.writable.getWriter();
    const options = { method: 'PUT', body: chunks.readable, duplex: 'half' } as RequestInit;
    const uploaded = fetch(new URL('1.m4s', url), options);
    await writer.write(new TextEncoder().encode('first '));
    const begun = async () => {
      for (;;) {
        const response = await fetch(new URL('1.m4s', url));
        if (response.ok) return response;
      }
    };
    const reader = (await begun()).body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe('first ');
    await writer.write(new TextEncoder().encode('second'));
    await writer.close();
    expect((await reader.read()).value).toBe('second');
    expect((await uploaded).status).toBe(200);
    const { port } = new URL(url);
    const others = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address } of others.filter(({ family, internal }) => family === 'IPv4' && !internal)) {
      await expect(fetch(`http://${address}:${port}/`)).rejects.toThrow('fetch failed');
    }
  });
});

/** Builds an app from these files or from one module. Returns the app's script. */
function buildApp(sources: string | Record<string, string>): string {
  const app = join(folder, 'app');
  const page = '<video muted autoplay></video><script type="module" src="main.ts"></script>';
  const written = typeof sources === 'string' ? { 'main.ts': sources, 'index.html': page } : sources;
  for (const [name, text] of Object.entries(written)) fs.writeFileSync(join(app, name), text);
  runNode('vite/bin/vite.js', ['build', '--base', './', '--logLevel', 'error'], app);
  const [script] = /assets\/[^"]+\.js/.exec(fs.readFileSync(join(app, 'dist/index.html'), 'utf8'))!;
  return fs.readFileSync(join(app, 'dist', script), 'utf8');
}

for (const [entry, document] of [
  ['leo-abr', 'README.md'],
  ['leo-abr/hls', 'docs/plugin-hls.md'],
  ['leo-abr/shaka', 'docs/plugin-shaka.md'],
] as const) {
  test(`an empty Vite project plays with ${document}'s code`, CHANGE, async ({ page }) => {
    await expectPlayback(page, 'dist/', (manifest) => {
      buildApp(codeBlock(document, manifest, `from '${entry}'`));
    });
  });
}

test.describe('examples', () => {
  /** The pages' lines: index, representation and reason. */
  const expectDecisions = (page: Page) => expect(page.locator('pre')).toHaveText(/[1-9] [\w-]+: built-in: QoE/);

  for (const name of fs.readdirSync(join(ROOT, 'examples/plain')).filter((name) => name.endsWith('.html'))) {
    test(`plain/${name}`, async ({ page }) => {
      await expectPlayback(page, name, (manifest) =>
        fs.writeFileSync(join(folder, 'app', name), playing(read(`examples/plain/${name}`), manifest)),
      );
      await expectDecisions(page);
    });
  }

  test('vite', async ({ page }) => {
    const codeOf = (name: string, manifest: string) => playing(read(`examples/vite/${name}`), manifest);
    await expectPlayback(page, 'dist/', (manifest) =>
      buildApp(Object.fromEntries(['index.html', 'main.ts'].map((name) => [name, codeOf(name, manifest)]))),
    );
    await expectDecisions(page);
  });
});

test.describe('the ONNX forecaster', () => {
  const watched = '\nglobalThis.forecaster = forecaster;\n';
  const expectForecasts = (page: Page) =>
    expect
      .poll(() => page.evaluate(() => (globalThis as unknown as { forecaster: OnnxForecaster }).forecaster.status), {
        timeout: 20_000,
      })
      .toBe('ready');

  test("forecasts in an empty Vite project with the document's code", async ({ page }) => {
    const make = (manifest: string) => buildApp(codeBlock('docs/onnx.md', manifest, "from 'leo-abr/onnx'") + watched);
    await expectPlayback(page, 'dist/', make);
    await expectForecasts(page);
  });

  test("its Worker stays in a Worker of the page's own", () => {
    expect(buildApp("import 'leo-abr/onnx-worker';")).toContain('postMessage');
  });

  test("forecasts in a plain HTML file with the document's code", async ({ page }) => {
    await expectPlayback(page, 'onnx.html', (manifest) => {
      const code = codeBlock('docs/onnx.md', manifest, 'leo-abr.onnx.js').replace(/(?=<\/script>\s*$)/, watched);
      fs.writeFileSync(join(folder, 'app', 'onnx.html'), `<!doctype html>\n${code}`);
    });
    await expectForecasts(page);
  });
});

test('its types need no configuration, and Node can import it', CHANGE, () => {
  const app = join(folder, 'app');
  fs.writeFileSync(
    join(app, 'typed.ts'),
    `import 'leo-abr/global';
     import { MediaPlayer } from 'dashjs';
     import { attachLeoAbr, type Controller, type Forecaster, type LeoAbrOptions } from 'leo-abr';
     import { createOnnxForecaster } from 'leo-abr/onnx';
     import { httpTimeSource } from 'leo-abr/service';
     import { createLeoAbrFactory, type ShakaPlayer } from 'leo-abr/shaka';
     const controller: Controller = {
       name: 'lowest',
       decide: (state) => ({ representation: 0, controller: 'lowest', reason: String(state.bufferLevelSeconds) }),
     };
     const none: Forecaster = { name: 'none', start() {}, observe() {}, latest: () => undefined };
     const onnx = createOnnxForecaster({ modelUrl: 'm', runtimeUrl: 'r', wasmUrl: new URL('w', location.href) });
     const options: LeoAbrOptions = { controller, forecasters: [none, onnx], timeSource: httpTimeSource('/time') };
     const handle = attachLeoAbr(MediaPlayer().create(), { ...options, live: { targetLatencySeconds: 3 } });
     const stop: () => void = handle.on('decision', ({ decision, state }) => [decision.reason, state.ladderBps.length]);
     // @ts-expect-error no such controller
     LeoAbr.attachLeoAbr(MediaPlayer().create(), { controller: 'mpc-d:cap' });
     // @ts-expect-error not for pages
     attachLeoAbr(MediaPlayer().create(), { weights: undefined });
     export const factory = (player: ShakaPlayer) => createLeoAbrFactory(player, options);
     export type Worker = typeof import('leo-abr/onnx-worker');
    `,
  );
  fs.writeFileSync(
    join(app, 'typed.cts'),
    `import Hls from 'hls.js';
     import { createLeoAbrController } from 'leo-abr/hls';
     export const hls = new Hls({ abrController: createLeoAbrController() });
    `,
  );
  const flags = '--noEmit --strict --exactOptionalPropertyTypes --target es2022 --lib es2022,dom'.split(' ');
  for (const [resolution, file] of [
    ['--module esnext --moduleResolution bundler', 'typed.ts'],
    ['--module node16', 'typed.ts'],
    ['--module nodenext', 'typed.cts'],
  ] as const) {
    let output = '';
    try {
      runNode('typescript/bin/tsc', [...flags, ...resolution.split(' '), file], app);
    } catch (error) {
      output = String((error as { stdout?: unknown }).stdout);
    }
    // Errors in dash.js's own declarations do not count.
    expect(output.split('\n').filter((line) => /^(typed|.*leo-abr)/.test(line))).toEqual([]);
  }
  for (const [entry, value, text] of [
    ['leo-abr', 'typeof m.attachLeoAbr', 'function'],
    ['leo-abr/hls', 'm.createLeoAbrController().handle.state.status', 'inactive'],
    ['leo-abr/onnx', 'typeof m.createOnnxForecaster', 'function'],
    ['leo-abr/trial', "typeof m.assignArm({ config: 'https://127.0.0.1:1', logger: null }).then", 'function'],
  ]) {
    const check = `import('${entry}').then((m) => console.log(${value}, typeof globalThis.window))`;
    expect(run(process.execPath, ['--input-type=module', '-e', check], app).trim()).toBe(`${text} undefined`);
  }
});
