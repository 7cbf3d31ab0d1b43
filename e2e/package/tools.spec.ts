/** Tests the packed leo-abr-tools in an empty folder, without a checkout. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from '@playwright/test';
import { seededRandom } from '../../abr/statistics/random.ts';
import { IDP_ROWS } from '../../replay/datasets/source-files.fixture.ts';
import { parseResults } from '../../replay/evaluation/documents/parse-results.ts';
import { drawReport } from '../../trial/session-report.fixture.ts';
import { CHANGE, ROOT } from '../builds.ts';
import { untilPlayed } from '../demo/demo-test.ts';
import { POSIX_LOCALE } from '../posix-locale.ts';
import { installTools, runTools, servingTools } from './installed-tools.ts';

let folder: string;

test.beforeAll(() => {
  test.setTimeout(120_000);
  folder = installTools();
});

const leoAbr = async (args: string[], LANG?: string) => (await runTools(folder, args, LANG)).stderr;

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
  mkdirSync(join(folder, 'fresh'), { recursive: true });
  writeFileSync(join(folder, 'fresh/package.json'), '{"private":true}');
  test.skip(npm('view', 'fastify', 'version').status !== 0, "npm's registry cannot be reached");
  expect(npm('pack', ROOT, '--pack-destination', folder).status).toBe(0);
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  expect(tarballs).toHaveLength(2);
  // Recent releases of npm would list protobufjs, which has a script.
  const flags = ['--engine-strict', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
  const { status, stderr } = npm('install', ...flags, ...tarballs.map((name) => join(folder, name)));
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('public data sets are converted, replayed and reported', CHANGE, async () => {
  test.setTimeout(120_000);
  const file = join(folder, 'by-hand/rcastellotti__idp/data/large_file_download_5parallel.csv');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, IDP_ROWS);
  const fetched = await leoAbr(['datasets', 'fetch', 'tum-idp', '--from', 'by-hand', '--out', 'recordings']);
  expect(fetched).toContain('tum-idp: 2 recordings');
  const plan = ['--algorithms', 'mpc-d', '--scenario', 'hd-16', '--segments', '5'];
  await leoAbr(['simulate', '--traces', 'recordings', ...plan, '--out', 'results.json']);
  await leoAbr(['report', 'results.json', '--out', 'report']);
  expect(readFileSync(join(folder, 'report/report.md'), 'utf8')).toContain('tum-idp');
});

test('the reports of a trial are read with DuckDB', async () => {
  mkdirSync(join(folder, 'reports'), { recursive: true });
  const lines = Array.from({ length: 8 }, (_, i) => JSON.stringify(drawReport(i, seededRandom(i))));
  writeFileSync(join(folder, 'reports/reports-1.ndjson'), lines.join('\n'));
  const { stdout } = await runTools(folder, ['trial', 'reports', '--guard', 'startup <= +0.1 s']);
  expect(stdout).toContain('No guard of the trial pilot can be checked yet: too few sessions.');
});

test('an own algorithm that imports only types plays without vite', async () => {
  await leoAbr(['trace', 'synthesize', '--shipped', '--out', 'shipped']);
  await leoAbr(['new-algorithm', 'mine.ts']);
  const plan = ['--traces', 'shipped', '--scenario', 'hd-16', '--segments', '12', '--algorithms'];
  // Older versions of Node keep the types.
  if ('stripTypeScriptTypes' in nodeModule) await leoAbr(['simulate', ...plan, './mine.ts,mpc-l']);
  else await expect(leoAbr(['simulate', ...plan, './mine.ts'])).rejects.toThrow('npm install vite');
  writeFileSync(
    join(folder, 'mine.mjs'),
    `export const createController = () => ({
      name: 'mine',
      decide: () => ({ representation: 0, controller: 'mine', reason: 'from the import' }),
    });`,
  );
  await leoAbr(['simulate', ...plan, './mine.mjs']);
});

test("the guide's first comparison has enough sessions to rank the tails: MPC-L's is shorter than MPC-D's", async () => {
  test.setTimeout(240_000);
  const blocks = readFileSync(join(ROOT, 'docs/getting-started.md'), 'utf8').split(/^```(?:sh)?$/m);
  const block = blocks.find((text) => text.includes('npx --no leo-abr simulate') && text.includes('--scenario hd-16'))!;
  for (const line of block.trim().split('\n')) {
    // Half of the drives are enough, too. The other links and algorithms would not change this comparison.
    const less = line.replace('200', '100').replace('--traces replay/traces ', '').replace(',bola,mpc-o', '');
    await leoAbr(less.replace('npx --no leo-abr ', '').split(' '));
  }
  const { summary } = parseResults(readFileSync(join(folder, 'results.json'), 'utf8'), 'results.json');
  const { vsBaseline } = summary.find((row) => row.dataset === 'synthetic-driving' && row.algorithm === 'mpc-l')!;
  expect(vsBaseline!.perceivedDiff!.ci95![0]).toBeGreaterThan(0);
  expect(vsBaseline!.severeShareDiff.ci95![1]).toBeLessThan(0);
  expect(vsBaseline!.worst5pctDiff.value).toBeLessThan(0);
});

const [SERVE, ...others] = ['README.md', 'docs/service.md'].map((document) => {
  const lines = readFileSync(join(ROOT, document), 'utf8').split('\n');
  return lines.find((line) => line.startsWith('npx --no leo-abr serve --dish simulated'))?.replace(/ +#.*/, '');
});

/** Environments, and Chromium's language in each. Playwright's `locale` sets it in every build of Chromium. */
for (const [LANG, locale] of [
  ['C.UTF-8', POSIX_LOCALE],
  ['de_DE.UTF-8', 'de-DE'],
] as const) {
  test.describe(`under LANG=${LANG}`, () => {
    test.use({ locale });

    test("the demo plays, and the documents' service shows its dish", async ({ context }) => {
      expect(SERVE).toBeDefined();
      expect(others).toEqual([SERVE]);
      const errors: string[] = [];
      const open = async (url: string) => {
        const page = await context.newPage();
        page.on('pageerror', (error) => errors.push(String(error)));
        expect(await page.evaluate(() => navigator.language)).toBe(locale);
        await page.goto(url);
        return page;
      };
      const demo = async (url: string) => {
        const page = await open(url);
        await untilPlayed(page, 2);
        await expect(page.locator('.uplot').first()).toBeVisible();
      };
      let address = '';
      const service = async (url: string) => {
        address = url;
        expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
        const headline = (await open(url)).locator('#headline');
        await expect(headline).toHaveText(/^The dish is online\./, { timeout: 20_000 });
      };
      await Promise.all([
        servingTools(folder, 'npx --no leo-abr serve-demo --port 0', demo, LANG),
        servingTools(folder, `${SERVE} --port 0`, service, LANG),
      ]);
      expect(errors).toEqual([]);
      await expect(fetch(`${address}/healthz`)).rejects.toThrow('fetch failed');
    });
  });
}

test('the benchmark plays in a browser, under a language tag that is not valid', CHANGE, async () => {
  test.setTimeout(120_000);
  const rows = Array.from({ length: 60 }, (_, second) => `${second},80`);
  writeFileSync(join(folder, 'link.csv'), `time_s,throughput_mbps\n${rows.join('\n')}\n`);
  const plan = ['--algorithms', 'mpc-l', '--scenario', 'hd-16', '--segments', '2', '--late-share', '1'];
  await leoAbr(['bench', '--traces', 'link.csv', ...plan, '--out', 'browser.json'], 'C.UTF-8');
  const { sessions } = JSON.parse(readFileSync(join(folder, 'browser.json'), 'utf8'));
  expect(sessions.map(({ endedBy }: { endedBy: string }) => endedBy)).toEqual(['end']);
  expect(sessions[0].segments).toHaveLength(2);
});
