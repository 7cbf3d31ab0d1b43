/** The plugin with Shaka Player, of both versions: what only it has. */

import type * as leoAbrShaka from '../../src/shaka.ts';
import { CORE, CORE_WITH_CATCH_UP, expect, liveStream, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

const LIVE = liveStream(3, { playbackRates: { min: 0.9, max: 1.1 } });

for (const playerName of ['Shaka 5', 'Shaka 4'] as const) {
  test.describe(playerName, () => {
    test.use({ playerName });
    // Other engines play with the newer version only.
    const [engines, enginesWithCatchUp] = playerName === 'Shaka 5' ? [CORE, CORE_WITH_CATCH_UP] : [{}, {}];

    test('decides as the buffer empties, after a seek, and for the next source', engines, async ({ onStream }) => {
      const seen = await onStream({ segmentCount: 16 }, async (manifest) => {
        const lab = await window.lab.startShaka({ manifest, settings: { streaming: { bufferingGoal: 3 } } });
        const { player, video, handle, decisions, requests } = lab;
        await window.lab.until('a picture', () => video.currentTime > 2.5, lab);
        const levels = decisions.map(({ state }) => state.bufferLevelSeconds);
        const beforeSeek = decisions.length;
        video.currentTime = 12.5;
        await window.lab.until('a picture after the seek', () => video.currentTime > 12.6, lab);
        const afterSeek = decisions[beforeSeek]!.state;
        await player.load(manifest);
        await window.lab.until('a picture of the next source', () => video.currentTime > 0.2, lab);
        const sessions = decisions.map(({ session }) => session);
        const first = decisions.find(({ session }) => session === 2)!.state;
        handle.detach();
        const [decided, requested] = [decisions.length, requests.length];
        const isGoingOn = () => requests.length > requested + 3 && video.currentTime > 2;
        await window.lab.until('playback without the plugin', isGoingOn, lab);
        const decidedLater = decisions.length - decided;
        await player.destroy();
        return { levels, afterSeek, sessions, first, decidedLater, status: handle.state.status };
      });
      // The goal, and what plays between two looks of Shaka at its buffer.
      for (const level of seen.levels) expect(level).toBeLessThan(3.6);
      expect(seen.afterSeek).toMatchObject({ bufferLevelSeconds: 0, segmentIndex: 12 });
      expect(new Set(seen.sessions)).toEqual(new Set([1, 2]));
      expect(seen.first).toMatchObject({ segmentIndex: 0, nowSeconds: 0, downloads: [] });
      expect(seen).toMatchObject({ decidedLater: 0, status: 'detached' });
    });

    test('plays a live stream at its edge', engines, async ({ onStream }) => {
      const media = { ladderBps: [1e6, 2.5e6], segmentSeconds: 2, segmentCount: 60, startUtcMs: Date.now() };
      const seen = await onStream({ ...media, link: { 600: 20e6 }, live: LIVE }, async (manifest) => {
        const lab = await window.lab.startShaka({ manifest, isEndless: true });
        const { player, video, decisions } = lab;
        const isThere = () => decisions.length >= 5 && video.currentTime > player.seekRange().end - 8;
        await window.lab.until('five decisions at the edge', isThere, lab);
        return decisions.map(({ state }) => ({ index: state.segmentIndex, live: state.live! }));
      });
      const indices = seen.map(({ index }) => index);
      expect(indices).toEqual([...indices].sort((a, b) => a - b));
      // A busy host is asked again.
      expect(new Set(indices).size).toBeGreaterThan(2);
      for (const { live } of seen) expect(live.latencySeconds).toBeGreaterThan(0);
    });

    test('paces a live stream, and gives the rate back', enginesWithCatchUp, async ({ labPage, stream }) => {
      const media = { ladderBps: [1e6, 2.5e6], segmentSeconds: 2, segmentCount: 60 };
      const manifest = `${stream({ ...media, link: { 600: 20e6 }, live: LIVE, startUtcMs: Date.now() })}manifest.mpd`;
      const seen = await labPage.evaluate(async (manifest) => {
        const latencies: number[] = [];
        const controller: leoAbrShaka.Controller = {
          name: 'scripted',
          decide: () => ({ representation: 0, controller: 'scripted', reason: 'scripted' }),
          pace({ live }) {
            latencies.push(live!.latencySeconds);
            return { playbackRate: 1.1, jump: false, targetLatencySeconds: 3, reason: 'scripted' };
          },
        };
        const lab = await window.lab.startShaka({ manifest, options: { controller }, isEndless: true });
        const { player, video, handle, decisions, paces } = lab;
        await window.lab.until('a picture at a rate', () => video.playbackRate === 1.1 && video.currentTime, lab);
        const rates = new Set<number>();
        // There Shaka would play more slowly.
        const isEarly = () => {
          rates.add(video.playbackRate);
          return video.currentTime > player.seekRange().end + 0.3;
        };
        await window.lab.until('a latency below the end of the seek range', isEarly, lab);
        const sync = player.getConfiguration().streaming.liveSync;
        handle.detach();
        const after = player.getConfiguration().streaming.liveSync;
        await player.destroy();
        const paced = paces.map(({ playbackRate }) => playbackRate);
        return { first: decisions[0]!.state, latencies, rates: [...rates], paced, sync, after };
      }, manifest);
      expect(seen.first.live).toMatchObject({ targetLatencySeconds: 3, playbackRates: { min: 0.9, max: 1.1 } });
      // By the stream's clock: the join is at most a segment before the target.
      for (const latency of seen.latencies) expect(latency).toBeGreaterThan(2);
      expect(Math.min(...seen.latencies)).toBeLessThan(8);
      expect(seen.rates).toEqual([1.1]);
      expect(seen.paced[0]).toBe(1.1);
      expect(seen.sync).toMatchObject({ enabled: true, minPlaybackRate: 0, maxPlaybackRate: 0 });
      expect(seen.after).toMatchObject({ enabled: false, minPlaybackRate: 0.95, maxPlaybackRate: 1.1 });
    });
  });
}
