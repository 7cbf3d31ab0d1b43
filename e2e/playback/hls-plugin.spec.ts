/** hls.js with the plugin as its ABR controller: what only it has. */

import type * as leoAbr from '../../src/hls.ts';
import { CORE, cmcdOf, expect, liveStream, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

for (const playerName of ['hls.js', 'hls.js 1.6'] as const) {
  test.describe(playerName, () => {
    test.use({ playerName });

    test(`abandons a download in an outage, for a level without a playlist`, async ({ labPage, stream }) => {
      const outage: [number, number][] = [
        [2, 8e6],
        [6, 0],
        [60, 8e6],
      ];
      const folder = stream({ segmentSeconds: 2, segmentCount: 4, link: outage });
      const seen = await labPage.evaluate(async (manifest) => {
        const to = (representation: number) => ({ representation, controller: 'own', reason: 'own' });
        const controller: leoAbr.Controller = {
          name: 'own',
          decide: () => to(3),
          reconsider: ({ nowSeconds }, { requestedAtSeconds, abandonments }) =>
            abandonments === 0 && nowSeconds - requestedAtSeconds > 2.5 ? to(0) : 'keep',
        };
        const lab = window.lab.startHls({ manifest, options: { controller } });
        const { video, decisions, requests } = lab;
        await window.lab.until('the end', () => video.ended, lab);
        return {
          requests: requests.map(({ index, rung }) => ({ index, rung })),
          abandoned: decisions.filter(({ kind }) => kind === 'abandon').map(({ state }) => state.segmentIndex),
          downloads: decisions.at(-1)!.state.downloads,
        };
      }, `${folder}manifest.mpd`);
      expect(new Set(await cmcdOf(labPage, folder))).toEqual(new Set([null]));
      expect(seen.abandoned.length).toBeGreaterThan(0);
      const index = seen.abandoned[0]!;
      expect(seen.requests.filter((request) => request.index === index)).toEqual([
        { index, rung: 3 },
        { index, rung: 0 },
      ]);
      expect(seen.downloads.filter(({ abandoned }) => abandoned)[0]).toMatchObject({ segmentIndex: index });
    });
  });
}

test.describe('live', () => {
  test.use({ playerName: 'hls.js' });

  test('plays a low-latency stream at the pace of the plugin', CORE, async ({ onStream }) => {
    const seen = await onStream(
      { segmentSeconds: 2, segmentCount: 40, link: [[600, 20e6]], live: liveStream(2.3) },
      async (manifest) => {
        const lab = window.lab.startHls({ manifest });
        const { video, decisions, paces, requests, player: hls } = lab;
        // WebKit seeks to the live edge after its first picture.
        const isPlaying = () => video.currentTime > 0 && !video.seeking && paces.length > 0;
        await window.lab.until('a pace', isPlaying, lab);
        const start = video.currentTime;
        await window.lab.until('6 s', () => video.currentTime - start > 6, lab);
        return {
          decisions: decisions.map(({ state }) => state.segmentIndex),
          requests: requests.map(({ index }) => index),
          live: decisions.at(-1)!.state.live!,
          paces: paces.map(({ playbackRate }) => playbackRate),
          targetSeconds: hls.targetLatency!,
        };
      },
    );
    expect(seen.live).toMatchObject({ chunkSeconds: 0.25, targetLatencySeconds: seen.targetSeconds });
    expect(seen.live.latencySeconds).toBeGreaterThan(0);
    for (const rate of seen.paces) expect(Math.abs(rate - 1)).toBeLessThan(0.051);
    // One decision for all parts of a segment.
    expect(seen.decisions.filter((index) => index === seen.decisions.at(-1))).toHaveLength(1);
    expect(seen.requests.length).toBeGreaterThan(new Set(seen.requests).size + 5);
  });
});
