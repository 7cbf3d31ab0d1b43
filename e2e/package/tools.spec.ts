/** The packed leo-abr-tools in an empty folder, as somebody without a checkout has it. */

import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { findBrowser } from '../../replay/browser/find-browser.ts';
import { IDP_ROWS } from '../../replay/datasets/source-files.fixture.ts';
import { untilPlayed } from '../demo/demo-test.ts';
import { POSIX_LOCALE } from '../posix-locale.ts';

const ROOT = join(import.meta.dirname, '../..');
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'cli/package.json'), 'utf8'));

let folder: string;

test.beforeAll(() => {
  test.setTimeout(120_000);
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-tools-'));
  const modules = join(folder, 'node_modules');
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
  // Built beside a copy of the package: other tests may use the checkout's cli/dist.
  const copy = join(folder, 'copy');
  for (const name of ['README.md', 'bin', 'deploy', 'package.json']) {
    cpSync(join(ROOT, 'cli', name), join(copy, name), { recursive: true });
  }
  const build = (outDir: string, ...args: string[]) =>
    run(process.execPath, join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', outDir, ...args);
  const dist = join(copy, 'dist');
  build(dist, '--mode', 'cli');
  build(join(dist, 'bench-page'), '--config', 'replay/browser/page.config.ts');
  build(join(dist, 'demo'), '--emptyOutDir');
  run('npm', 'pack', copy, '--ignore-scripts', '--pack-destination', folder);
  // As `npm install` would, but the dependencies are linked, which avoids a download.
  for (const place of ['leo-abr-tools', '.bin']) mkdirSync(join(modules, place), { recursive: true });
  const { version } = JSON.parse(readFileSync(join(ROOT, 'cli/package.json'), 'utf8'));
  const tarball = join(folder, `leo-abr-tools-${version}.tgz`);
  run('tar', '-xzf', tarball, '-C', join(modules, 'leo-abr-tools'), '--strip-components=1');
  symlinkSync('../leo-abr-tools/bin/leo-abr.js', join(modules, '.bin/leo-abr'));
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  const app = { private: true, dependencies: { 'leo-abr-tools': version } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(app));
});

test.afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** The environment with this locale, or as it is. */
const environment = (LANG?: string) =>
  LANG === undefined ? process.env : { ...process.env, LANG, LANGUAGE: undefined, LC_ALL: undefined };

/** Runs the installed command to its end; returns standard error, and rejects with it if the command fails. */
async function leoAbr(args: string[], LANG?: string): Promise<string> {
  const { executablePath, env: forBrowser } = await findBrowser({ env: environment(LANG) });
  const env = { ...forBrowser, CHROME_PATH: executablePath };
  return new Promise((resolve, reject) => {
    execFile(join(folder, 'node_modules/.bin/leo-abr'), args, { cwd: folder, env }, (error, _stdout, stderr) =>
      error === null ? resolve(stderr) : reject(new Error(stderr)),
    );
  });
}

/** Runs a command, passes the address that it prints to `during`, stops it like Ctrl-C and awaits its end. */
async function serving(command: string, during: (url: string) => Promise<void>, LANG?: string): Promise<void> {
  const [program = '', ...args] = command.split(' ');
  const env = environment(LANG);
  const child = spawn(program, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  // Once no process holds its output: npx ends before the service.
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const listening = new Promise<string>((resolve) => {
    child.stderr.on('data', (text) => {
      stderr += text;
      const url = / is at ([^\s"]+)/.exec(stderr)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const failed = ended.then(() => {
    throw new Error(`${command} ended: ${stderr}`);
  });
  failed.catch(() => {});
  try {
    await during(await Promise.race([listening, failed]));
  } finally {
    process.kill(-child.pid!, 'SIGINT');
  }
  await ended;
}

test('contains the command and its licence, and no sources', () => {
  const installed = join(folder, 'node_modules/leo-abr-tools');
  expect(readdirSync(installed).sort()).toEqual(['README.md', 'bin', 'deploy', 'dist', 'package.json']);
  expect(readFileSync(join(installed, 'dist/LICENSE'), 'utf8')).toContain('Apache License');
});

test('no override of the checkout hides what an installation gets', () => {
  const { overrides } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { overrides: object };
  const listed = ['ls', ...Object.keys(overrides), '--workspace', 'cli', '--omit', 'dev', '--all', '--json'];
  // npm's status is 1 if it finds none.
  const { stdout } = spawnSync('npm', listed, { cwd: ROOT, encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual({ name: 'leo-abr', version: expect.any(String) });
});

test('npm installs both packages without a warning, and none that wants another Node', () => {
  test.setTimeout(180_000);
  const npm = (...args: string[]) => spawnSync('npm', args, { cwd: join(folder, 'fresh'), encoding: 'utf8' });
  mkdirSync(join(folder, 'fresh'));
  writeFileSync(join(folder, 'fresh/package.json'), '{"private":true}');
  test.skip(npm('view', 'fastify', 'version').status !== 0, "npm's registry cannot be reached");
  expect(npm('pack', ROOT, '--ignore-scripts', '--pack-destination', folder).status).toBe(0);
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  expect(tarballs).toHaveLength(2);
  // Recent releases of npm would list packages with scripts.
  const flags = ['--engine-strict', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
  const { status, stderr } = npm('install', ...flags, ...tarballs.map((name) => join(folder, name)));
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('public data sets are fetched, replayed and reported', async () => {
  test.setTimeout(120_000);
  const idp = '/rcastellotti__idp/data/large_file_download_5parallel.csv';
  const requests: string[] = [];
  const mirror = createServer((request, response) => {
    requests.push(request.url!);
    response.writeHead(request.url === idp ? 200 : 404).end(IDP_ROWS);
  });
  await new Promise<void>((resolve) => mirror.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = mirror.address() as AddressInfo;
    const places = ['--mirror', `http://127.0.0.1:${port}`, '--cache', 'cache', '--out', 'recordings'];
    const fetchIdp = ['datasets', 'fetch', 'tum-idp', ...places];
    await expect(leoAbr(fetchIdp)).rejects.toThrow('--accept-licences');
    for (const _time of ['first', 'second']) {
      expect(await leoAbr([...fetchIdp, '--accept-licences'])).toContain('tum-idp: 2 recordings');
    }
    expect(requests).toEqual([idp]);
  } finally {
    await new Promise((resolve) => mirror.close(resolve));
  }
  const plan = ['--algorithms', 'mpc-d', '--scenario', 'hd-16', '--segments', '5'];
  await leoAbr(['simulate', '--traces', 'recordings', ...plan, '--out', 'results.json']);
  await leoAbr(['report', 'results.json', '--out', 'report']);
  expect(readFileSync(join(folder, 'report/report.md'), 'utf8')).toContain('tum-idp');
});

/** Environments, and the language of Chromium in each; Playwright's `locale` sets it in every build of Chromium. */
for (const [LANG, locale] of [
  ['C.UTF-8', POSIX_LOCALE],
  ['de_DE.UTF-8', 'de-DE'],
] as const) {
  test.describe(`under LANG=${LANG}`, () => {
    test.use({ locale });

    test('the demo plays, and the service shows its dish', async ({ page, context }) => {
      const open = async (page: Page, url: string) => {
        const errors: string[] = [];
        page.on('pageerror', (error) => errors.push(String(error)));
        expect(await page.evaluate(() => navigator.language)).toBe(locale);
        await page.goto(url);
        return errors;
      };
      const demo = async (url: string) => {
        const errors = await open(page, url);
        await untilPlayed(page, 2);
        await expect(page.locator('.uplot').first()).toBeVisible();
        expect(errors).toEqual([]);
      };
      const service = async (url: string) => {
        const other = await context.newPage();
        const errors = await open(other, url);
        await expect(other.locator('#headline')).toHaveText(/^The dish is online\./, { timeout: 20_000 });
        expect(errors).toEqual([]);
      };
      await serving('npx leo-abr-tools serve-demo --port 0', demo, LANG);
      await serving('npx leo-abr-tools serve --dish simulated --port 0', service, LANG);
    });
  });
}

test('the benchmark plays in a browser, under a language tag that is not valid', async () => {
  test.setTimeout(120_000);
  const rows = Array.from({ length: 60 }, (_, second) => `${second},80`);
  writeFileSync(join(folder, 'link.csv'), `time_s,throughput_mbps\n${rows.join('\n')}\n`);
  const plan = ['--algorithms', 'mpc-l', '--scenario', 'hd-16', '--segments', '2', '--late-share', '1'];
  await leoAbr(['bench', '--traces', 'link.csv', ...plan, '--out', 'browser.json'], 'C.UTF-8');
  const { sessions } = JSON.parse(readFileSync(join(folder, 'browser.json'), 'utf8'));
  expect(sessions.map(({ endedBy }: { endedBy: string }) => endedBy)).toEqual(['end']);
  expect(sessions[0].segments).toHaveLength(2);
});

for (const document of ['README.md', 'docs/service.md']) {
  const lines = readFileSync(join(ROOT, document), 'utf8').split('\n');
  const command = lines.find((line) => line.startsWith('npx leo-abr-tools serve --dish simulated'));

  test(`the service starts with ${document}'s command`, async () => {
    expect(command).toBeDefined();
    const words = command!.replace(/ +#.*/, '');
    let address = '';
    await serving(`${words} --port 0`, async (url) => {
      address = url;
      expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
      expect(await (await fetch(url, { headers: { accept: 'text/html' } })).text()).toContain('page/page.js');
      expect((await fetch(`${url}/page/page.js`)).status).toBe(200);
      await expect
        .poll(async () => ((await (await fetch(`${url}/v1/state`)).json()) as { dish: { state: string } }).dish.state)
        .not.toBe('connecting');
    });
    await expect(fetch(`${address}/healthz`)).rejects.toThrow('fetch failed');
  });
}
