/** The demo as static files. Its origin is a service worker. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { median } from '../../abr/statistics/distributions.ts';
import { responseSeconds } from '../../replay/browser/record/lateness.ts';
import { linkOf } from '../../replay/link/trace-link.ts';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { staticSite } from '../../replay/origin/index.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { builtFolder } from '../builds.ts';
import { test as base, CORE } from '../playback/playback-test.ts';
import { expect, expectNoAxeViolations, untilPlayed } from './demo-test.ts';

const TRACE = 'stationary-crowded';
const SCENARIO = 'hd-16';
const REPRESENTATION = 3;
const DOWNLOADS = 10;

/** The address of the site, in a folder of its host. */
const test = base.extend<{ site: string }>({
  site: async ({}, use) => {
    const answer = staticSite(builtFolder('demo'));
    const server: Server = createServer((request, response) => {
      request.url = request.url!.replace(/^\/some\/folder/, '');
      if (!answer(request, response)) response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/some/folder/`);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
});

test('a bare address plays the first scene, and says what happens', CORE, async ({ page, site }) => {
  test.setTimeout(150_000);
  await page.goto(site);
  const seen = { playing: false, isTold: false };
  const look = async () => {
    const [playing, story] = await page.evaluate(() => {
      const videos = [...document.querySelectorAll('video')];
      // A live stream joins 20 s after its start. The picture has a size once a frame is decoded.
      const playing = videos.filter(({ currentTime, videoWidth }) => currentTime >= 20 && videoWidth > 0);
      return [`${playing.length} of ${videos.length}`, document.querySelector('#story')?.textContent] as const;
    });
    seen.playing ||= playing === '2 of 2';
    seen.isTold ||= /^In \d+\ss .*data\.$/.test(story ?? '');
    return seen;
  };
  await expect.poll(look, { timeout: 90_000 }).toEqual({ playing: true, isTold: true });
});

test('three players race on the service worker, which follows the trace', async ({ page, site }) => {
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${site}?players=mpc-l,mpc-l@hls,mpc-l@shaka&trace=${TRACE}&scenario=${SCENARIO}`);
  await untilPlayed(page, 2);
  expect(await page.evaluate(async (url) => (await fetch(url)).status, `${site}traces`)).toBe(200);
  await expect(page.locator('video')).toHaveCount(3);
  const service = page.getByLabel('Forecasts of player 1').getByRole('option', { name: 'a service on this link' });
  await expect(service).toBeDisabled();
  await expect(service).toHaveAttribute('title', /A service needs a server/);
  await page.getByRole('article', { name: 'Player 1' }).getByText('How it plays').click();
  await page.getByLabel('Forecasts of player 1').selectOption('an ONNX model');
  await expect(page.getByRole('article', { name: 'Player 1' })).toContainText('model:leo-abr built-in', {
    timeout: 60_000,
  });

  const { id } = await page.evaluate(
    async (spec) => (await fetch('session', { method: 'POST', body: JSON.stringify(spec) })).json(),
    { trace: TRACE, scenario: SCENARIO },
  );
  const folder = `${site}session/${id}/video-${REPRESENTATION}/`;
  const downloads = await page.evaluate(
    async ([below, count]) => {
      const found: { startSeconds: number; seconds: number; sizeBits: number }[] = [];
      for (let number = 1; number <= count; number++) {
        const startMs = performance.now();
        const response = await fetch(`${below}${number}.m4s`);
        const { byteLength } = await response.arrayBuffer();
        const seconds = (performance.now() - startMs) / 1000;
        const startSeconds = Number(response.headers.get('x-session-seconds'));
        found.push({ startSeconds, seconds, sizeBits: byteLength * 8 });
      }
      return found;
    },
    [folder, DOWNLOADS] as const,
  );
  const trace = synthesizeShippedTraces().find(({ name }) => name === TRACE)!;
  const scenario = SCENARIOS[SCENARIO]!;
  const link = linkOf(trace, scenario).from(0);
  const late = downloads.map(({ startSeconds, seconds, sizeBits }) => {
    const own = seconds - responseSeconds(scenario.browser, sizeBits);
    return own / link.downloadSeconds(startSeconds, sizeBits) - 1;
  });
  expect(median(late)).toBeGreaterThan(-0.03);
  // The median is 0.006 on a quiet host. A busy host delays the page, but not each download.
  expect(Math.min(...late)).toBeLessThan(0.1);

  const log = await page.evaluate(async (url) => (await fetch(url)).json(), `${site}session/${id}/log`);
  expect(log).toMatchObject(Array(DOWNLOADS).fill({ outcome: 'complete' }));
  await expectNoAxeViolations(page);

  expect(errors).toEqual([]);
});
