/** Abandoned downloads, also while nothing arrives. */

import type { Page } from '@playwright/test';
import { expect, test } from './playback-test.ts';

type WatchedSession = Awaited<ReturnType<typeof playOver>>;

const LADDER_BPS = [300e3, 1e6, 3e6, 6e6];
const SEGMENTS = 10;

/** Plays with segments of 2 s and a buffer of 6 s. */
async function playOver(page: Page, manifest: string, options: object) {
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
    { manifest, options, segments: SEGMENTS },
  );
}

/** The invariants of MPC-L's abandonments. */
function expectValidAbandonments(seen: WatchedSession): void {
  const { requests, abandonments, abandoned, wastedBits, requestedBits } = seen;
  expect(abandonments.length).toBeGreaterThan(0);
  expect(abandoned.map(({ index }) => index)).toEqual(abandonments.map(({ state }) => state.segmentIndex));
  expect(wastedBits).toBe(abandoned.reduce((sum, { receivedBits }) => sum + receivedBits, 0));
  expect(requestedBits).toBeGreaterThan(wastedBits);
  // Every segment is requested; each new request for it is lower; at most four abandonments.
  expect([...new Set(requests.map(({ index }) => index))]).toEqual(Array.from({ length: SEGMENTS }, (_, i) => i));
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
    [{ abandon: true }, { abandon: false }].map(({ abandon }) =>
      playOver(labPage, `${stream(media)}manifest.mpd`, { abandon, qoe: 'linear', risk: 0.1 }),
    ),
  );
  expectValidAbandonments(seen!);
  // During the outage, not after it; a busy host may cause others.
  const times = seen!.abandonments.map(({ state }) => state.nowSeconds);
  expect(times.filter((seconds) => seconds > 9 && seconds < 13.5)).not.toEqual([]);
  expect(without).toMatchObject({ abandoned: [], wastedBits: 0 });
  expect(without!.requests).toHaveLength(SEGMENTS);
});
