/** The plugin counts bytes of every kind of server, so that MPC-L switches up. */

import { DELIVERIES } from '../../replay/origin/delivery.ts';
import { TIMING } from '../builds.ts';
import { describePlayers, expect, LADDER_BPS, type LabPlayerName, type StreamOptions, test } from './playback-test.ts';

/** This worker forwards segments in its own stream, without Content-Length. */
const WORKER = `
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (!event.request.url.endsWith('.m4s')) return;
  const headers = { 'content-type': 'video/mp4' };
  event.respondWith(fetch(event.request).then(({ body }) => new Response(body, { headers })));
});`;

test.use({ files: { '/worker.js': ['text/javascript', WORKER] } });

const STREAM: StreamOptions = { segmentCount: 7, sizeSpread: 0.2, link: { 60: 12e6 } };

/** Plays to the end with default options: MPC-L and its forecasts. */
async function playInPage(manifest: string) {
  const settings = { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } };
  const lab = window.lab.start({ manifest, settings });
  await window.lab.until('the end', ({ video }) => video.ended, lab);
  const { decisions, requests } = lab;
  const sizes = await (await fetch(new URL('sizes.json', manifest))).json();
  return {
    sources: decisions.map(({ decision }) => decision.forecastSource),
    highest: Math.max(...requests.map(({ rung }) => rung)),
    downloads: decisions.at(-1)!.state.downloads,
    bytes: sizes.representations as Record<string, number[]>,
  };
}

/** Each download has its true size, and MPC-L switched up with its own forecasts. A busy host may prevent the top. */
function expectMeasured(seen: Awaited<ReturnType<typeof playInPage>>): void {
  expect(seen.downloads).toHaveLength(6);
  for (const { segmentIndex, bitrateBps, receivedBits } of seen.downloads) {
    const id = `video-${LADDER_BPS.indexOf(bitrateBps)}`;
    expect([segmentIndex, receivedBits]).toEqual([segmentIndex, seen.bytes[id]![segmentIndex]! * 8]);
  }
  expect(seen.highest).toBeGreaterThan(0);
  expect(seen.sources).toContain('built-in');
}

test(`media in ${DELIVERIES.join(', ')}`, async ({ onStream }) => {
  const seen = await Promise.all(DELIVERIES.map((delivery) => onStream({ ...STREAM, delivery }, playInPage)));
  for (const [i, delivery] of DELIVERIES.entries()) await test.step(delivery, () => expectMeasured(seen[i]!));
});

test('media from a service worker', async ({ labPage, onStream }) => {
  await labPage.evaluate(async () => {
    const isControlled = new Promise((resolve) =>
      navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }),
    );
    await navigator.serviceWorker.register('/worker.js');
    await isControlled;
  });
  expectMeasured(await onStream(STREAM, playInPage));
});

test('media from the cache, and over a link that takes milliseconds', async ({ labPage, origin, stream }) => {
  const folder = stream({ ...STREAM, rttSeconds: 0, link: { 60: 1e9 }, delivery: 'cacheable' });
  const session = origin.session(new URL(folder).pathname.split('/')[2]!)!;
  const isSegment = ({ kind }: { kind: string }) => kind === 'segment';
  for (let run = 0; run < 2; run++) {
    const seen = await labPage.evaluate(playInPage, `${folder}manifest.mpd`);
    expect(seen.downloads.length).toBeGreaterThan(0);
    expect(seen.highest).toBeGreaterThan(0);
  }
  expect(session.log.filter(isSegment).length).toBeLessThan(14);
});

/** Settings that buffer six seconds, so that decisions follow the change of server. */
const STEERED: [LabPlayerName, object][] = [
  ['dash', { streaming: { buffer: { bufferTimeDefault: 6, bufferTimeAtTopQuality: 6 } } }],
  ['hls.js', { maxBufferLength: 6, maxMaxBufferLength: 6 }],
  ['Shaka 5', { streaming: { bufferingGoal: 6 } }],
];
const CORS = { 'access-control-allow-origin': '*' };

describePlayers(STEERED, (_, settings) => {
  test('content steering to a slow server and back', TIMING, async ({ labPage, stream }) => {
    const folders = [20e6, 1.5e6].map((bps) => stream({ segmentCount: 40, link: { 600: bps } }));
    const servers = folders.map((url, i) => url.replace('127.0.0.1', `server${i}.localhost`)) as [string, string];
    const names = ['fast', 'slow'];
    let asked = 0;
    await labPage.route('**/steering*', (route) => {
      const isSlow = [1, 2].includes(asked++);
      const json = { VERSION: 1, TTL: 4, 'PATHWAY-PRIORITY': isSlow ? ['slow', 'fast'] : names };
      return route.fulfill({ json, headers: CORS });
    });
    await labPage.route('**/steered/*', async (route) => {
      const isHls = route.request().url().endsWith('m3u8');
      const text = await (await fetch(folders[0] + (isHls ? 'master.m3u8' : 'manifest.mpd'))).text();
      const steering = `${servers[0]}steering`;
      const [, head = '', variants = ''] = /^([\s\S]*?)(#EXT-X-STREAM-INF[\s\S]*)$/.exec(text) ?? [];
      const parts = servers.map((url, i) =>
        isHls
          ? variants.replace(/(INF:.*)\n(.*)/g, `$1,PATHWAY-ID="${names[i]}"\n${url}$2`)
          : `<BaseURL serviceLocation="${names[i]}">${url}</BaseURL>`,
      );
      const body = isHls
        ? `${head}#EXT-X-CONTENT-STEERING:SERVER-URI="${steering}",PATHWAY-ID="fast"\n${parts.join('')}`
        : text.replace(
            /<MPD[^>]*>/,
            `$&${parts.join('')}<ContentSteering defaultServiceLocation="fast" queryBeforeStart="true">${steering}</ContentSteering>`,
          );
      const contentType = isHls ? 'application/vnd.apple.mpegurl' : 'application/dash+xml';
      return route.fulfill({ body, contentType, headers: CORS });
    });
    const sent: { server: string; rung: number }[] = [];
    labPage.on('request', (request) => {
      const [, server, rung] = /server(\d).*video-(\d+)\/\d+\.m4s/.exec(request.url()) ?? [];
      if (server) sent.push({ server, rung: Number(rung) });
    });
    const manifest = `${servers[0].replace(/session.*/, '')}steered/manifest.mpd`;
    const stalledSeconds = await labPage.evaluate(
      async ({ manifest, settings }) => {
        const lab = await window.lab.play({ manifest, settings, options: { abandon: true, prior: false } });
        await window.lab.until('the begin', ({ video }) => video.currentTime > 0, lab);
        const beganMs = performance.now();
        await window.lab.until('22 s', ({ video }) => video.currentTime > 22, lab);
        return (performance.now() - beganMs) / 1000 - lab.video.currentTime;
      },
      { manifest, settings },
    );
    // A busy host stalls, too.
    expect(stalledSeconds).toBeLessThan(2);
    const slow = sent.filter(({ server }) => server === '1').map(({ rung }) => rung);
    // The slow server carries 1 Mbit/s.
    expect(slow.length).toBeGreaterThan(3);
    expect(Math.min(...slow)).toBeLessThan(2);
    expect(sent.at(-1)).toMatchObject({ server: '0', rung: expect.any(Number) });
    expect(sent.at(-1)!.rung).toBeGreaterThan(1);
  });
});
