/** Six players of a browser with one prediction service over HTTP/1.1, which allows six connections to an origin. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { build } from 'vite';
import type * as client from '../../predictor/service-client/index.ts';
import { startService } from '../../service/index.ts';

const FORMS = [
  { pages: 1, playersOfEach: 6 },
  { pages: 6, playersOfEach: 1 },
];
for (const { pages: count, playersOfEach } of FORMS)
  test(`${playersOfEach} players in each of ${count} pages share a stream, and leave connections for media`, async ({
    context,
  }) => {
    const outDir = await mkdtemp(join(tmpdir(), 'leo-abr-shared-service-'));
    await build({ mode: 'plugin-service', logLevel: 'error', build: { outDir } });
    const script = await readFile(join(outDir, 'leo-abr.service.js'));
    const service = await startService({ version: '0', port: 0 });
    const streams = new Set<object>();
    let mostStreams = 0;
    let reports = 0;
    // The page, media that last as long as the test, and the service, from one origin.
    const server = createServer((request, response) => {
      const { method, url = '/', headers } = request;
      if (url === '/') return response.setHeader('content-type', 'text/html').end('<!doctype html>');
      if (url === '/client.js') return response.setHeader('content-type', 'text/javascript').end(script);
      if (url.startsWith('/media')) return response.end('media');
      if (url.startsWith('/v1/events')) {
        streams.add(response);
        mostStreams = Math.max(mostStreams, streams.size);
        response.once('close', () => streams.delete(response));
      } else if (url === '/v1/observations') reports++;
      const onward = send(`${service.url}${url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.once('close', () => onward.destroy());
      request.pipe(onward);
      return response;
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      const pages = await Promise.all(Array.from({ length: count }, () => context.newPage()));
      const beganMs = performance.now();
      const shares = await Promise.all(
        pages.map(async (page) => {
          await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
          return page.evaluate(async (length) => {
            const source = '/client.js';
            const { createServiceForecaster } = (await import(source)) as typeof client;
            const startedMs = performance.now();
            const nowSeconds = () => (performance.now() - startedMs) / 1000;
            const players = Array.from({ length }, () => createServiceForecaster(location.origin));
            Object.assign(window, { players });
            for (const player of players) player.start({ seed: 1 });
            let observedSeconds = 0;
            const play = () => {
              for (; observedSeconds + 0.1 < nowSeconds(); observedSeconds += 0.1) {
                for (const [i, player] of players.entries()) {
                  const endSeconds = observedSeconds + 0.1;
                  player.observe({
                    kind: 'throughput',
                    startSeconds: observedSeconds,
                    endSeconds,
                    bits: (i + 1) * 1e6,
                  });
                }
              }
              for (const player of players) player.latest(nowSeconds());
            };
            const isServed = () =>
              players.every(
                ({ state: { ageSeconds, share } }, i) =>
                  ageSeconds! < 3 && share < 1 && share > (players[i - 1]?.state.share ?? 0),
              );
            // Goes on until the page is closed: a player that stops is soon no player of the link any more.
            setInterval(play, 50);
            while (!isServed()) {
              if (nowSeconds() > 30) throw new Error(JSON.stringify(players.map(({ state }) => state)));
              await new Promise((resolve) => setTimeout(resolve, 50));
            }
            const media = await fetch('/media', { signal: AbortSignal.timeout(5000) });
            if ((await media.text()) !== 'media') throw new Error('no media');
            return players.map(({ state }) => state.share);
          }, playersOfEach);
        }),
      );
      const link = async () => {
        const state = (await (await fetch(`${service.url}/v1/state`)).json()) as { link: object };
        return state.link;
      };
      await expect.poll(link).toMatchObject({ players: 6, subscribers: 1 });
      const seconds = (performance.now() - beganMs) / 1000;
      for (const share of shares.flat()) expect(share).toBeGreaterThan(0);
      expect(mostStreams).toBe(1);
      // Twice a second for all players of a page together, and some at once: for each player, it would be twelve per second.
      expect(reports).toBeLessThan(count * (5 + 4 * seconds));
      for (const page of pages) await page.close();
      await expect.poll(() => streams.size).toBe(0);
    } finally {
      server.closeAllConnections();
      server.close();
      await service.close();
      await rm(outDir, { recursive: true });
    }
  });
