/**
 * Installs each example of wrappers from the packed package, starts it as its README says, and plays it in Chromium: the
 * plugin decides up and down with the link, in a second source too, and leaves the player on request.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { type RunningOrigin, startOrigin } from '../../replay/origin/index.ts';
import { builtFolder, once, ROOT, TIMING } from '../builds.ts';
import { startProgram } from '../engines/engine.ts';
import { sessionOf } from '../playback/playback-test.ts';

const STREAM = /http:\/\/127\.0\.0\.1:8788\/stream\.(mpd|m3u8)(\?next)?/g;
/** Mbit/s in these seconds: fast, slow, fast. Only a fast link carries the highest rung. */
const SLOW = { from: 8, until: 28 };
const LINK = { [SLOW.from]: 8e6, [SLOW.until]: 0.15e6, 600: 8e6 };
const LADDER_BPS = [100e3, 600e3, 1.5e6];
const TOP = LADDER_BPS.length - 1;
/** `e2e/package/package.spec.ts` plays these. */
const OTHERS = ['plain', 'vite'];
const EXAMPLES = fs
  .readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !OTHERS.includes(entry.name))
  .map(({ name }) => name);
const read = (path: string) => fs.readFileSync(join(ROOT, path), 'utf8');
const filesOf = (example: string) =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: join(ROOT, 'examples', example),
    encoding: 'utf8',
  })
    .trim()
    .split('\n');

test.describe.configure({ mode: 'parallel' });

type Session = ReturnType<RunningOrigin['createSession']>;
let origin: RunningOrigin;
test.beforeAll(async () => {
  origin = await startOrigin();
});
test.afterAll(() => origin.close());

/** Packs the package, which the examples' package.json expect beside their folder. */
const packed = () =>
  once('packed', (folder) => {
    // A copy is packed, because other tests may use the checkout's dist.
    const copy = join(folder, 'copy');
    for (const mode of ['plugin', 'plugin-hls', 'plugin-shaka']) {
      fs.cpSync(builtFolder(mode), join(copy, 'dist'), { recursive: true });
    }
    fs.copyFileSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
    execFileSync('npm', ['pack', copy, '--pack-destination', folder], { stdio: 'ignore' });
    fs.rmSync(copy, { recursive: true });
  });

/** Copies the example and installs its packages. Each page then plays two streams of its own. */
function install(example: string, parent: string): Record<string, [Session, Session]> {
  const folder = join(parent, example);
  fs.cpSync(packed(), parent, { recursive: true });
  fs.mkdirSync(folder);
  const names = filesOf(example);
  const pages: Record<string, [Session, Session]> = {};
  const spec = sessionOf({ ladderBps: LADDER_BPS, segmentCount: 300, link: LINK });
  for (const name of names) {
    const own = `${name.split('.')[0]}.html`;
    const page = names.includes(own) ? own : 'index.html';
    const sessions = () => (pages[page] ??= [origin.createSession(spec), origin.createSession(spec)]);
    const code = read(`examples/${example}/${name}`);
    const changed = code.replaceAll(STREAM, (_, type: string, next?: string) => {
      const manifest = origin.manifestUrl(sessions()[next ? 1 : 0]);
      return type === 'mpd' ? manifest : manifest.replace('manifest.mpd', 'master.m3u8');
    });
    fs.writeFileSync(join(folder, name), changed);
  }
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  execFileSync('npm', ['install', ...flags], { cwd: folder, stdio: 'pipe', env: { ...process.env, NODE_ENV: '' } });
  return pages;
}

/** Positions in the ladder of the video segments requested after a time of the link. */
const rungs = ({ log }: Session, afterSeconds = 0) =>
  log
    .filter(({ requestedAtSeconds, segmentIndex }) => segmentIndex !== undefined && requestedAtSeconds >= afterSeconds)
    .flatMap(({ representationId }) => /^video-(\d+)/.exec(representationId)?.[1] ?? [])
    .map(Number);

/** Does in the page what a wrapper's menu does for the lowest or for automatic quality. False if the page has no wrapper. */
function pickInMenu(isLowest: boolean): boolean {
  type Quality = { height: number; bitrate: number; selected: boolean };
  type Menu = Iterable<Quality> & { selectedIndex: number; autoSelect?(): void };
  const wrapper = document.querySelector<HTMLElement & { videoRenditions?: Menu; qualities?: Menu }>(
    'hls-video, dash-video, shaka-video, media-player',
  );
  const menu = wrapper?.videoRenditions ?? wrapper?.qualities;
  if (!menu) return false;
  const qualities = [...menu];
  const lowest = qualities.reduce((low, one) => (one.bitrate < low.bitrate ? one : low));
  if (!isLowest && menu.autoSelect) menu.autoSelect();
  else if (menu.autoSelect) lowest.selected = true;
  else menu.selectedIndex = isLowest ? qualities.indexOf(lowest) : -1;
  return true;
}

async function expectDecisions(page: Page, [first, next]: [Session, Session]): Promise<void> {
  const decisions = async () => (await page.locator('pre').textContent())!.trim().split('\n').length;
  const until = (message: string, condition: () => boolean) =>
    expect.poll(condition, { message, timeout: 90_000 }).toBe(true);
  await until('up', () => rungs(first).includes(TOP));
  await until('down', () => rungs(first, SLOW.from).some((rung) => rung < TOP));
  await until('up again', () => rungs(first, SLOW.until).includes(TOP));
  await expect(page.locator('pre')).toHaveText(/[1-9] [\w:/.-]+: built-in: QoE/);
  // Players decide on the first segments, and not again on a segment that they are loading.
  expect(await decisions()).toBeGreaterThanOrEqual(rungs(first).length - 3);

  const pick = (isLowest: boolean) => page.evaluate(pickInMenu, isLowest);
  if (await pick(true)) {
    await until('the lowest, which the viewer picked', () => rungs(first).at(-1) === 0);
    const [picked, requested] = [await decisions(), rungs(first).length];
    await until('still the lowest', () => rungs(first).length > requested + 2);
    expect(await decisions()).toBe(picked);
    await pick(false);
    await until('up, in automatic quality', () => rungs(first).at(-1) === TOP);
    expect(await decisions()).toBeGreaterThan(picked);
  }

  const before = await decisions();
  await page.getByRole('button', { name: 'Next' }).click();
  await until('up in the next stream', () => rungs(next).includes(TOP));
  expect(await decisions()).toBeGreaterThan(before);

  await page.getByRole('button', { name: /Detach|Unmount/ }).click();
  const [last, requested] = [await decisions(), rungs(next).length];
  if ((await page.locator('video').count()) > 0)
    await until('without the plugin', () => rungs(next).length > requested + 3);
  else await page.waitForTimeout(3000);
  expect(await decisions()).toBe(last);
}

for (const example of EXAMPLES) {
  test(example, TIMING, async ({ browser }) => {
    test.setTimeout(400_000);
    const { status } = spawnSync('npm', ['view', 'vite', 'version'], { stdio: 'ignore' });
    test.skip(status !== 0, "npm's registry cannot be reached");
    const parent = fs.mkdtempSync(join(tmpdir(), 'leo-abr-examples-'));
    const pages = install(example, parent);
    const env = { NODE_ENV: '', NO_COLOR: '1' };
    const { child, ended, match } = startProgram('npm', ['start'], { cwd: join(parent, example), env, detached: true });
    try {
      const url = await match(/Local: +(http\S+\/)\s/);
      await Promise.all(
        Object.entries(pages).map(async ([name, sessions]) => {
          const page = await browser.newPage();
          const problems: string[] = [];
          page.on('pageerror', (error) => {
            // Wrappers do not await `play()`, which a new source interrupts.
            if (error.name !== 'AbortError') problems.push(String(error));
          });
          page.on('console', (message) => {
            if (message.text().includes('leo-abr')) problems.push(message.text());
          });
          // On a busy host, players keep to lower bitrates once frames were dropped.
          await page.addInitScript(() => {
            const quality = { creationTime: 0, corruptedVideoFrames: 0, droppedVideoFrames: 0, totalVideoFrames: 0 };
            HTMLVideoElement.prototype.getVideoPlaybackQuality = () => quality;
          });
          await page.goto(`${url}${name}`);
          await test.step(name, () => expectDecisions(page, sessions));
          expect(problems).toEqual([]);
          await page.close();
        }),
      );
    } finally {
      process.kill(-child.pid!, 'SIGTERM');
      await ended;
      fs.rmSync(parent, { recursive: true, force: true });
    }
  });
}
