/** The plugin counts bytes of every kind of server, so that MPC-L switches up. */

import { DELIVERIES } from '../../replay/origin/delivery.ts';
import { expect, LADDER_BPS, type StreamOptions, test } from './playback-test.ts';

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
