/** A controller sets the playback rate of a live stream instead of the player's catch-up, which returns afterwards. */

import type { MediaPlayerClass } from 'dashjs';
import type shaka from 'shaka-player';
import type { Controller } from '../../abr/controller.ts';
import {
  CORE_WITH_CATCH_UP,
  describePlayers,
  expect,
  isOlder,
  type LabPlayerName,
  liveStream,
  test,
} from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

const LIVE = liveStream(3, { playbackRates: { min: 0.9, max: 1.1 } });
const MEDIA = { ladderBps: [1e6, 2.5e6], segmentSeconds: 2, segmentCount: 60, link: { 600: 20e6 }, live: LIVE };

/** Each player, and its settings of catch-up while that is off. */
const PLAYERS: [LabPlayerName, off: Record<string, unknown>][] = [
  ['dash', { enabled: false }],
  ['Shaka 5', { enabled: true, minPlaybackRate: 0, maxPlaybackRate: 0 }],
  ['Shaka 4', { enabled: true, minPlaybackRate: 0, maxPlaybackRate: 0 }],
];

describePlayers(PLAYERS, (playerName, off) => {
  const engines = isOlder(playerName) ? {} : CORE_WITH_CATCH_UP;
  test('playback follows the pace, and the player keeps out', engines, async ({ onStream }) => {
    const seen = await onStream({ ...MEDIA, startUtcMs: Date.now() }, async (manifest) => {
      const latencies: number[] = [];
      const controller: Controller = {
        name: 'scripted',
        decide: () => ({ representation: 0, controller: 'scripted', reason: 'scripted' }),
        pace({ live }) {
          latencies.push(live!.latencySeconds);
          return { playbackRate: 1.1, jump: false, targetLatencySeconds: 3, reason: 'scripted' };
        },
      };
      let player!: MediaPlayerClass & shaka.Player;
      const catchUp = (): unknown =>
        window.dashjs ? player.getSettings().streaming!.liveCatchup! : player.getConfiguration().streaming.liveSync;
      const settings: string[] = [];
      const before = (lab: { player: never }) => {
        player = lab.player;
        settings.push(JSON.stringify(catchUp()));
      };
      const lab = await window.lab.play({ manifest, options: { controller }, isEndless: true, before });
      const { video, handle, paces, decisions } = lab;
      await window.lab.until('a picture at a rate', () => video.playbackRate === 1.1 && video.currentTime, lab);
      const rates = new Set<number>();
      // At this latency the player itself would play more slowly.
      const isEarly = () => {
        rates.add(video.playbackRate);
        if (!window.dashjs) return video.currentTime > player.seekRange().end + 0.3;
        return player.getCurrentLiveLatency() < player.getTargetLiveDelay() - 0.3;
      };
      await window.lab.until('a latency below that of the player', isEarly, lab);
      const whilePaced = JSON.parse(JSON.stringify(catchUp()));
      handle.detach();
      settings.push(JSON.stringify(catchUp()));
      const states = decisions.map(({ state }) => state);
      return { states, latencies, rates: [...rates], paces, whilePaced, settings, rateAfter: video.playbackRate };
    });
    const { live } = seen.states[0]!;
    expect(live).toMatchObject({ targetLatencySeconds: 3, playbackRates: LIVE.playbackRates });
    const indices = seen.states.map(({ segmentIndex }) => segmentIndex);
    expect(indices).toEqual([...indices].sort((a, b) => a - b));
    expect(new Set(indices).size).toBeGreaterThan(2);
    // The join is at most a segment before the target.
    expect(Math.min(...seen.latencies)).toBeGreaterThan(2);
    expect(Math.min(...seen.latencies)).toBeLessThan(8);
    expect([seen.rates, seen.paces[0]!.playbackRate, seen.rateAfter]).toEqual([[1.1], 1.1, 1]);
    expect(seen.whilePaced).toMatchObject(off);
    expect(seen.settings[1]).toBe(seen.settings[0]);
  });
});
