/**
 * On a fast link that nobody else uses, each low-latency player stays at its own target latency at rate 1. How MPC-L goes
 * there from other latencies: replay/simulator/live-mpc-l-sessions.test.ts.
 */

import type { MediaPlayerClass } from 'dashjs';
import type HlsPlayer from 'hls.js';
import type shaka from 'shaka-player';
import { TIMING } from '../builds.ts';
import {
  describePlayers,
  expect,
  type LabPlayer,
  type LabPlayerName,
  liveStream,
  type StreamOptions,
  test,
} from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

const STREAM: StreamOptions = {
  ...{ ladderBps: [1e6, 2.5e6, 5e6], segmentSeconds: 2, segmentCount: 70, link: { 600: 40e6 } },
  live: liveStream(4),
};
const LIVE = { minPlaybackRate: 0.95, maxPlaybackRate: 1.05 };
/** The plan counts this as at the target (live-outcomes.ts). */
const CLOSE_SECONDS = 0.15;

/** Samples 0.1 s apart, from 3 s after the jump to the target on. */
interface Held {
  rates: number[];
  /** Latency - target, as the player counts them. */
  lateSeconds: number[];
  /** Number of segments that were requested at the lowest bitrate. */
  lowest: number;
}

/** Runs in the page. */
async function hold({ manifest, live }: { manifest: string; live: typeof LIVE }): Promise<Held> {
  const settings = window.shaka ? { streaming: { liveSync: { enabled: true, targetLatency: 0.5 } } } : {};
  /** HLS in parts ends so much later than Shaka says. */
  let laterSeconds = 0;
  const lateIn = ({ player, video }: LabPlayer<unknown>): number => {
    const { getTargetLiveDelay, getCurrentLiveLatency } = player as MediaPlayerClass;
    if (window.dashjs) return getCurrentLiveLatency() - getTargetLiveDelay();
    if (window.shaka) {
      const { presentationTimeline: timeline } = (player as shaka.Player).getManifest()!;
      const seconds = manifest.endsWith('m3u8')
        ? timeline.getMaxSegmentEndTime()! - timeline.getSegmentAvailabilityEnd()
        : 0;
      laterSeconds = Math.max(laterSeconds, seconds);
      return (player as shaka.Player).seekRange().end + laterSeconds - video.currentTime - 0.5;
    }
    const { latency, targetLatency } = player as HlsPlayer;
    return latency - targetLatency!;
  };
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const lab = await window.lab.play({ manifest, options: { live }, settings });
  const { video, handle, requests } = lab;
  const isPlaying = () => video.currentTime > 0 && !video.seeking && handle.state.pace && lateIn(lab) !== undefined;
  await window.lab.until('a picture and a pace', isPlaying, lab);
  // Shaka jumps over gaps at its start.
  for (let i = 0; i < 100; i++) {
    lateIn(lab);
    await sleep(20);
  }
  video.currentTime += Math.max(0, lateIn(lab));
  const joinedAt = requests.length;
  await sleep(3000);
  const held: Held = { rates: [], lateSeconds: [], lowest: 0 };
  for (let i = 0; i < 50; i++) {
    await sleep(100);
    held.rates.push(video.playbackRate);
    held.lateSeconds.push(lateIn(lab));
  }
  const atLowest = requests.slice(joinedAt).filter(({ rung }) => rung === 0);
  held.lowest = new Set(atLowest.map(({ index }) => index)).size;
  await (lab.player as { destroy(): unknown }).destroy();
  return held;
}

const STREAMS: [LabPlayerName, file: string][] = [
  ['dash', 'manifest.mpd'],
  ['hls.js', 'master.m3u8'],
  ['Shaka 5', 'manifest.mpd'],
  ['Shaka 5', 'master.m3u8'],
];

describePlayers(STREAMS, (_, file) => {
  test('holds the target at rate 1', TIMING, async ({ labPage, stream }) => {
    const manifest = stream({ ...STREAM, startUtcMs: Date.now() }) + file;
    const held = await labPage.evaluate(hold, { manifest, live: LIVE });
    const share = (values: readonly number[], isGood: (value: number) => boolean) =>
      values.filter(isGood).length / values.length;
    const seen = JSON.stringify(held);
    expect(
      share(held.lateSeconds, (late) => Math.abs(late) <= CLOSE_SECONDS),
      seen,
    ).toBeGreaterThan(0.9);
    // Within this distance, the last steps to the target are played.
    expect(
      share(held.rates, (rate) => Math.abs(rate - 1) < 0.015),
      seen,
    ).toBeGreaterThan(0.9);
    expect(held.lowest, seen).toBeLessThanOrEqual(2);
  });
});
