/** Abandoned downloads, also while nothing arrives. */

import type { Page } from '@playwright/test';
import { expect, test } from './playback-test.ts';

type WatchedSession = Awaited<ReturnType<typeof playOver>>;

const LADDER_BPS = [300e3, 1e6, 3e6, 6e6];
const SEGMENTS = 10;

/** Plays with segments of 2 s and a buffer of 6 s. */
async function playOver(page: Page, manifest: string, options: object = { abandon: true }, segments = SEGMENTS) {
  return page.evaluate(
    async ({ manifest, options, segments }) => {
      const lab = window.lab.start({
        options,
        settings: {
          streaming: {
            buffer: { bufferTimeDefault: 6, bufferTimeAtTopQuality: 6, bufferTimeAtTopQualityLongForm: 6 },
            scheduling: { defaultTimeout: 20 },
          },
        },
      });
      const { player, video, handle, decisions, requests } = lab;
      player.initialize(video, manifest, true);
      /** As dash.js reports them. */
      const abandoned: { index: number; receivedBits: number }[] = [];
      player.on('fragmentLoadingAbandoned' as 'fragmentLoadingCompleted', ({ request }) => {
        abandoned.push({ index: request.index, receivedBits: (request.bytesLoaded || 0) * 8 });
      });
      let loaded = -1;
      player.on('fragmentLoadingCompleted', ({ request }) => {
        if (request.type === 'MediaSegment') loaded = request.index;
      });
      await window.lab.until('the last segment', () => loaded === segments - 1);
      const { wastedBits, requestedBits } = handle.state;
      const abandonments = decisions.filter(({ kind }) => kind === 'abandon');
      return { requests, abandonments, abandoned, wastedBits, requestedBits };
    },
    { manifest, options, segments },
  );
}

/** The invariants of MPC-L's abandonments. */
function expectValidAbandonments(seen: WatchedSession, segments = SEGMENTS): void {
  const { requests, abandonments, abandoned, wastedBits, requestedBits } = seen;
  expect(abandonments.length).toBeGreaterThan(0);
  expect(abandoned.map(({ index }) => index)).toEqual(abandonments.map(({ state }) => state.segmentIndex));
  expect(wastedBits).toBe(abandoned.reduce((sum, { receivedBits }) => sum + receivedBits, 0));
  expect(requestedBits).toBeGreaterThan(wastedBits);
  // Every segment is requested; each new request for it is lower; at most four abandonments.
  expect([...new Set(requests.map(({ index }) => index))]).toEqual(Array.from({ length: segments }, (_, i) => i));
  for (const { index } of abandoned) {
    const rungs = requests.filter((request) => request.index === index).map(({ rung }) => rung);
    expect(rungs.length).toBeLessThanOrEqual(1 + 4);
    expect(rungs).toEqual([...new Set(rungs)].sort((a, b) => b - a));
    // The next segment does not return to the abandoned bitrate.
    const next = requests.find((request) => request.index === index + 1);
    if (next !== undefined) expect(next.rung).toBeLessThan(Math.max(1, ...rungs));
  }
}

test('mpc-l acts in an outage, unless abandon is false', async ({ labPage, stream }) => {
  const link = { 9: 10e6, 14: 0, 60: 10e6 };
  const media = { ladderBps: LADDER_BPS, segmentSeconds: 2, segmentCount: SEGMENTS, link };
  const [seen, without] = await Promise.all(
    [{ abandon: true }, { abandon: false }].map((options) =>
      playOver(labPage, `${stream(media)}manifest.mpd`, options),
    ),
  );
  expectValidAbandonments(seen!);
  // During the outage, not after it; a busy host may cause others.
  const times = seen!.abandonments.map(({ state }) => state.nowSeconds);
  expect(times.filter((seconds) => seconds > 9 && seconds < 13.5)).not.toEqual([]);
  expect(without).toMatchObject({ abandoned: [], wastedBits: 0 });
  expect(without!.requests).toHaveLength(SEGMENTS);
});

test('mpc-l abandons a download in a hidden tab, whose timers fire once a second', async ({ labPage, stream }) => {
  // Chromium throttles timers of a hidden page like this, but not progress events and requests.
  await labPage.addInitScript(() => {
    const { setInterval, setTimeout } = window;
    type Start = (handler: () => void, ms?: number) => unknown;
    const slow = (start: Start): Start => {
      return (handler, ms) => start(handler, Math.max(1000, ms ?? 0));
    };
    Object.assign(window, { setInterval: slow(setInterval), setTimeout: slow(setTimeout) });
  });
  await labPage.reload();
  // One download of the higher representation gets no byte: one that is nearly complete is rightly kept.
  let held: number | undefined;
  await labPage.route('**/video-1/*.m4s', async (route) => {
    const index = Number(/(\d+)\.m4s$/.exec(route.request().url())![1]) - 1;
    if (held !== undefined || index < 4) await route.continue();
    else held = index;
  });
  // With throttled timers everything takes longer: few segments.
  const segments = 9;
  const media = { ladderBps: [300e3, 3e6], segmentSeconds: 2, segmentCount: segments, link: { 60: 10e6 } };
  const seen = await playOver(labPage, `${stream(media)}manifest.mpd`, { abandon: true }, segments);
  expectValidAbandonments(seen, segments);
  const first = seen.abandonments.find(({ state }) => state.segmentIndex === held);
  expect(first).toMatchObject({ representationId: 'video-0', inFlight: { receivedBits: 0 } });
});
