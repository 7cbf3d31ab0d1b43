/**
 * On a fast link that nobody else uses, a low-latency player stays at its target latency at rate 1, and one that joins
 * below its target goes there.
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
const RATES = { minPlaybackRate: 0.95, maxPlaybackRate: 1.05 };
/**
 * At its lowest rate, a player needs 5 s from `belowSeconds` to a latency close to the target. `settleSeconds` later,
 * the rate is 1, or about 1 if latency is not yet at the target.
 */
const LIMITS = { ...RATES, closeSeconds: 0.1, belowSeconds: 0.35, climbSeconds: 12, settleSeconds: 13, heldSeconds: 8 };
const JOINS = ['at the target', 'below the target'] as const;
type Join = (typeof JOINS)[number];

/** Behaviour of a player. Samples are 0.1 s apart. */
interface Held {
  join: Join;
  /** Seconds until latency was close to the target. Undefined if latency never was. */
  arrivedSeconds: number | undefined;
  /** Rates until latency was close to the target and settled. */
  climbingRates: number[];
  /** Rates, and latency - target, after playback has settled. */
  rates: number[];
  lateSeconds: number[];
  /** Number of segments that were requested at the lowest bitrate. */
  lowest: number;
}

type Hold = { join: Join; manifest: string; limits: typeof LIMITS };

/** Runs in the page. */
async function hold({ join, manifest, limits }: Hold): Promise<Held> {
  const { closeSeconds, belowSeconds, climbSeconds, settleSeconds, heldSeconds, ...live } = limits;
  const settings = window.shaka ? { streaming: { liveSync: { enabled: true, targetLatency: 0.5 } } } : {};
  /** HLS in parts ends so much later than Shaka says. */
  let laterSeconds = 0;
  /** Latency - target, as the player counts them. */
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
  let raisedSeconds = 0;
  if (join === 'at the target') video.currentTime += Math.max(0, lateIn(lab));
  else {
    raisedSeconds = belowSeconds + lateIn(lab);
    const { targetLatencySeconds } = handle.state.pace!;
    handle.set({ live: { ...live, targetLatencySeconds: targetLatencySeconds + raisedSeconds } });
    // dash.js and hls.js take the plugin's target for their own.
    if (!window.shaka) raisedSeconds = 0;
  }
  const joinedMs = performance.now();
  const joinedAt = requests.length;
  const held: Held = { join, arrivedSeconds: undefined, climbingRates: [], rates: [], lateSeconds: [], lowest: 0 };
  const seconds = () => (performance.now() - joinedMs) / 1000;
  const isSettled = () => held.arrivedSeconds !== undefined && seconds() > held.arrivedSeconds + settleSeconds;
  while (seconds() < (held.arrivedSeconds ?? climbSeconds) + settleSeconds + heldSeconds) {
    await sleep(100);
    const late = lateIn(lab) - raisedSeconds;
    if (Math.abs(late) < closeSeconds) held.arrivedSeconds ??= seconds();
    if (!isSettled()) held.climbingRates.push(video.playbackRate);
    else {
      held.rates.push(video.playbackRate);
      held.lateSeconds.push(late);
    }
  }
  const atLowest = requests.slice(joinedAt).filter(({ rung }) => rung === 0);
  held.lowest = new Set(atLowest.map(({ index }) => index)).size;
  await (lab.player as { destroy(): unknown }).destroy();
  return held;
}

/** Lists faults of a player's behaviour. */
function judge({ join, arrivedSeconds, climbingRates, rates, lateSeconds, lowest }: Held): string[] {
  const share = (values: readonly number[], isGood: (value: number) => boolean) =>
    values.filter(isGood).length / values.length;
  const isClose = share(lateSeconds, (late) => Math.abs(late) <= LIMITS.closeSeconds);
  // Within this distance, the last steps to the target are played.
  const isNormal = share(rates, (rate) => Math.abs(rate - 1) < 0.015);
  const slowest = Math.min(...climbingRates, ...rates);
  return [
    ...(arrivedSeconds! < LIMITS.climbSeconds ? [] : [`arrived after ${arrivedSeconds} s`]),
    ...(isClose > 0.9 && isNormal > 0.95 ? [] : [`${isClose} of the time close to the target, ${isNormal} at rate 1`]),
    // A player may set the rate to 0 to keep playback in a stall.
    ...(slowest > 0.949 ? [] : [`a rate of ${slowest}`]),
    ...(lowest <= 2 ? [] : [`${lowest} segments at the lowest bitrate`]),
  ].map((fault) => `${join}: ${fault}`);
}

const STREAMS: [LabPlayerName, file: string][] = [
  ['dash', 'manifest.mpd'],
  ['hls.js', 'master.m3u8'],
  ['Shaka 5', 'manifest.mpd'],
  ['Shaka 5', 'master.m3u8'],
];

describePlayers(STREAMS, (_, file) => {
  test('holds the target at rate 1, and climbs to it from below', TIMING, async ({ labPage, stream }) => {
    const held = await Promise.all(
      JOINS.map((join) => {
        const manifest = stream({ ...STREAM, startUtcMs: Date.now() }) + file;
        return labPage.evaluate(hold, { join, manifest, limits: LIMITS });
      }),
    );
    expect(held.flatMap(judge)).toEqual([]);
  });
});
