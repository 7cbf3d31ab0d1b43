/**
 * In each player at low latency, media play before their segment ends, playlists are reloaded as the server asks, and a
 * failed part stalls the player with the plugin no longer than the player alone.
 */

import type { Page } from '@playwright/test';
import type HlsPlayer from 'hls.js';
import { TIMING } from '../builds.ts';
import { describePlayers, expect, type LabPlayerName, liveStream, type StreamOptions, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

const LIVE = liveStream(2.5);
const STREAM: StreamOptions = {
  ...{ ladderBps: [1e6, 2.5e6, 5e6], segmentSeconds: 2, segmentCount: 60, link: { 600: 40e6 }, live: LIVE },
};
/** In each session, one request for each of these segments fails, if there is a failure for it. The join is in 20. */
const FAILING = [24, 26, 28];
/** Longer stalls are a fault. A pause of a busy host may cause shorter stalls. */
const TOLERATED_STALL_SECONDS = 1;

/** A failed request gets HTTP status 404, a closed connection, or half of the body. */
type Failure = 'missing' | 'cut off' | 'truncated';
/** Each player, its manifest, and failures that the player survives alone. */
const PLAYERS: [name: LabPlayerName, file: string, failures: Failure[]][] = [
  ['dash', 'manifest.mpd', ['missing', 'cut off']],
  ['hls.js', 'master.m3u8', ['missing', 'cut off', 'truncated']],
  ['hls.js 1.6', 'master.m3u8', ['missing', 'missing']],
  ['Shaka 5', 'manifest.mpd', ['missing', 'cut off']],
  ['Shaka 5', 'master.m3u8', ['missing', 'cut off']],
];

/** Makes requests for parts of `FAILING` fail. Returns a list of sessions and segments that grows with each failure. */
async function failParts(page: Page, failures: readonly Failure[]): Promise<string[]> {
  const failed: string[] = [];
  await page.route(/\/video-\d+\/\d+\.m4s/, async (route) => {
    const [, session, number] = /session\/(\d+)\/video-\d+\/(\d+)\.m4s/.exec(route.request().url())!;
    const key = `${session} ${number}`;
    const failure = failures[FAILING.indexOf(Number(number))];
    if (failure === undefined || failed.includes(key)) return route.continue();
    failed.push(key);
    if (failure === 'cut off') return route.abort('connectionreset');
    if (failure === 'missing') {
      return route.fulfill({ status: 404, headers: { 'access-control-allow-origin': '*' }, body: 'missing' });
    }
    const response = await route.fetch();
    const body = await response.body();
    return route.fulfill({ response, body: body.subarray(0, body.length / 2) });
  });
  return failed;
}

/** Runs in the page, and plays for `playSeconds` from the first picture on. */
async function play({ manifest, isPlain, playSeconds }: { manifest: string; isPlain: boolean; playSeconds: number }) {
  // A stall would raise hls.js's target.
  const ofHls = { liveSyncOnStallIncrease: 0 };
  const settings = window.Hls ? ofHls : window.shaka ? { streaming: { liveSync: { enabled: true } } } : {};
  const lab = await window.lab.play({ manifest, isPlain, settings });
  const { video, decisions, faults } = lab;
  await window.lab.until('a picture', () => video.currentTime > 0 && !video.seeking, lab);
  const startMs = performance.now();
  let [atMs, mediaSeconds, stalledSeconds] = [startMs, video.currentTime, 0];
  while (performance.now() < startMs + playSeconds * 1000) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const seconds = (performance.now() - atMs) / 1000;
    if (video.currentTime - mediaSeconds < 0.2 * seconds) stalledSeconds += seconds;
    [atMs, mediaSeconds] = [performance.now(), video.currentTime];
  }
  const { targetLatency } = lab.player as HlsPlayer;
  await (lab.player as { destroy(): unknown }).destroy();
  return {
    ...{ stalledSeconds, targetLatency, live: decisions.at(-1)?.state.live },
    faults: faults.map(({ code, message }) => `${code}: ${message}`),
    rates: decisions.at(-1)?.state.downloads.map(({ receivedBits, downloadSeconds }) => receivedBits / downloadSeconds),
  };
}

describePlayers(PLAYERS, (playerName, file, failures) => {
  test(`plays on after parts that are ${failures.join(', ')}`, TIMING, async ({ labPage, stream }) => {
    const failed = await failParts(labPage, failures);
    const reloads: string[] = [];
    labPage.on('request', (request) => {
      if (/video-\d+\.m3u8/.test(request.url())) reloads.push(request.url());
    });
    const [plugin, plain] = await Promise.all(
      [false, true].map((isPlain) => {
        const manifest = stream({ ...STREAM, startUtcMs: Date.now() }) + file;
        return labPage.evaluate(play, { manifest, isPlain, playSeconds: 8 + 4 * failures.length });
      }),
    );
    expect(failed.length).toBeGreaterThanOrEqual(2 * failures.length);
    const { live, rates, targetLatency, faults, stalledSeconds } = plugin!;
    expect(faults).toEqual([]);
    expect(stalledSeconds, JSON.stringify([plugin, plain])).toBeLessThan(
      plain!.stalledSeconds + TOLERATED_STALL_SECONDS,
    );
    // Media come in chunks, and their waits for the encoder are not taken for the link.
    expect(live!.chunkSeconds).toBe(LIVE.chunkSeconds);
    expect(live!.latencySeconds).toBeGreaterThan(0);
    expect(Math.max(...rates!)).toBeGreaterThan(10e6);
    if (file === 'manifest.mpd') return;
    // The newest media in a playlist were captured `encoderLatencySeconds` before.
    const holdBackSeconds = LIVE.targetLatencySeconds - LIVE.encoderLatencySeconds;
    if (!playerName.startsWith('hls')) expect(live!.targetLatencySeconds).toBeGreaterThan(holdBackSeconds);
    else expect([live!.targetLatencySeconds, targetLatency]).toEqual([holdBackSeconds, holdBackSeconds]);
    const blocking = reloads.filter((url) => url.includes('_HLS_msn'));
    expect(blocking.length).toBeGreaterThan(reloads.length / 2);
  });
});
