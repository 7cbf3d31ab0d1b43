import { expect, jest, test } from '@jest/globals';
import Hls, { type Part } from 'hls.js';
import {
  Scripted,
  ScriptedAbandoning,
  ScriptedPacing,
  Steady,
  useManualClock,
  wait,
} from '../../session/scripted.fixture.ts';
import { playLive, useWindow } from './fake-player.fixture.ts';

useManualClock();
useWindow();

test('a live stream of whole segments: each exists when it is listed, with the size of EXT-X-BITRATE', () => {
  const controller = new ScriptedAbandoning();
  const { player, hls, decisions, frag, stats } = playLive({ controller }, { kbps: 200 });
  const { state } = decisions.at(-1)!;
  expect(state).toMatchObject({ segmentsRemaining: Infinity, segmentSeconds: 4 });
  expect(state.live).toMatchObject({ latencySeconds: 12, targetLatencySeconds: 12, chunkSeconds: 4, offRateShare: 0 });
  // The playlist ends with segment 119; the last playlist is as old as the buffer allows, from the first one on.
  wait(0.4);
  stats.loaded = 5e4;
  wait(0.2);
  const { segmentIndex, upcomingSizesBits } = controller.states.at(-1)!;
  expect([segmentIndex, upcomingSizesBits[0]![0]]).toEqual([119, 4 * 200e3]);
  player.loaded(frag, 1e5);
  player.bufferLevelSeconds = frag.end - player.media.currentTime;
  player.ask();
  const next = decisions.at(-1)!.state;
  expect(next).toMatchObject({ segmentIndex: 120, downloads: [{ segmentIndex: 119, latencySeconds: 0.5 }] });
  // It exists, and is listed, 4 s after the playlist grew.
  expect(next.live!.firstChunkAtSeconds - next.nowSeconds).toBeCloseTo(4 - hls.latestLevelDetails!.age);
  // After a small segment, too.
  for (const row of next.upcomingSizesBits) {
    for (const [i, bps] of next.ladderBps.entries()) expect(row[i]).toBeGreaterThanOrEqual(0.8 * 4 * bps);
  }
});

test('a live stream in parts: one request with chunks', () => {
  const controller = new ScriptedAbandoning();
  const { player, hls, decisions, handle, frag } = playLive({ controller }, { parts: 4 });
  frag.abortRequests();
  player.ask();
  expect(decisions.at(-1)!.state.live).toMatchObject({ chunkSeconds: 0.5, targetLatencySeconds: 1.5 });
  const made = decisions.length;
  const parts = hls.latestLevelDetails!.partList!;
  const load = (part: Part) => {
    player.request(part.fragment, part);
    wait(0.1);
    part.stats.loaded = 20e3;
    wait(0.1);
    expect(controller.inFlights.at(-1)).toMatchObject({ segmentIndex: 120, receivedBits: part.index * 4e5 + 1.6e5 });
    player.loaded(part.fragment, 50e3, part);
  };
  for (const part of parts) load(part);
  // Between parts, the level stays.
  controller.next = 2;
  expect([player.ask(), decisions.length]).toEqual([0, made]);
  const { start } = parts[0]!;
  for (let index = 4; index < 8; index++) {
    const times = { start: { value: start + index * 0.5 }, end: { value: start + (index + 1) * 0.5 } };
    wait(0.3);
    load(Object.create(parts[3]!, { index: { value: index }, ...times }));
  }
  expect([player.ask(), decisions.length]).toEqual([2, made + 1]);
  const { state } = decisions.at(-1)!;
  expect(state).toMatchObject({ segmentIndex: 121, live: { chunkSeconds: 0.5 }, previousBitrateBps: 1e6 });
  // Waits for the encoder are not the link's time.
  const download = state.downloads.at(-1)!;
  expect(download).toMatchObject({ segmentIndex: 120, receivedBits: 3.2e6, sizeBits: 3.2e6 });
  expect(download.downloadSeconds).toBeLessThan(2);
  expect(handle.state.faults).toEqual([]);
});

test.each<[string, (player: ReturnType<typeof playLive>['player']) => void]>([
  ['the page has stopped it', ({ hls }) => hls.stopLoad()],
  [
    'the browser has media enough',
    (player) => {
      player.isBuffering = false;
    },
  ],
  [
    'the viewer has paused, and its buffer is full',
    (player) => {
      player.media.paused = true;
      player.bufferLevelSeconds = player.hls.maxBufferLength;
    },
  ],
])('between two parts, hls.js stays idle when %s, and the link is not slow', (_, stop) => {
  const [controller, steady] = [new ScriptedAbandoning(), new Steady()];
  const { player, hls, handle, frag, decisions } = playLive({ controller, forecasters: [steady] }, { parts: 4 });
  frag.abortRequests();
  player.ask();
  const [part] = hls.latestLevelDetails!.partList!;
  player.request(part!.fragment, part);
  wait(0.1);
  player.loaded(part!.fragment, 50e3, part);
  stop(player);
  const { loadingEnabled } = hls;
  wait(1);
  const observed = steady.observations.length;
  controller.instead = 2;
  wait(60);
  expect(decisions.filter(({ kind }) => kind === 'abandon')).toEqual([]);
  expect(hls.loadingEnabled).toBe(loadingEnabled);
  hls.startLoad();
  player.request(player.fragment(18));
  expect(handle.state.wastedBits).toBe(0);
  wait(1);
  const dead = steady.observations.slice(observed).filter((one) => one.kind === 'throughput' && one.endSeconds < 60);
  expect(dead).toEqual([]);
});

test.each([
  ["hls.js's alone on a stream without parts, by default", {}, {}, undefined],
  ["the controller's in parts", {}, { parts: 4 }, 1.05],
  ["the controller's where the page wants hls.js to catch up", {}, { config: { maxLiveSyncPlaybackRate: 1.3 } }, 1.3],
  ["the controller's with a limit of the plugin's options", { live: { maxPlaybackRate: 1.3 } }, {}, 1.3],
])('the playback rate is %s', (_, options, stream, max) => {
  const controller = new ScriptedPacing();
  const { player, handle, catchUp } = playLive({ controller, ...options }, stream);
  expect(controller.states.at(-1)?.live?.playbackRates).toEqual(max && { min: 0.95, max });
  expect([player.media.playbackRate, catchUp()]).toEqual([max ? 0.95 : 1, 1]);
  // The loop of hls.js runs without an effect on the rate.
  player.media.emit('timeupdate');
  expect(player.media.playbackRate).toBe(max ? 0.95 : 1);
  handle.detach();
  expect(catchUp()).toBe('config' in stream ? 1.3 : 1);
});

test('the playback rate is restored when the player is destroyed', () => {
  const { player, hls } = playLive({ controller: new ScriptedPacing() }, { parts: 4 });
  expect(player.media.playbackRate).toBe(0.95);
  hls.destroy();
  expect(player.media.playbackRate).toBe(1);
  expect(jest.getTimerCount()).toBe(0);
});

test("the playback rate is the element's own while an interstitial plays in it, and is set again after it", () => {
  const { player, hls, handle } = playLive({ controller: new ScriptedPacing() }, { parts: 4 });
  const plays = (hasMedia: boolean) => {
    player.hasMedia = hasMedia;
    if (hasMedia) hls.trigger(Hls.Events.MEDIA_ATTACHED, { media: player.media as unknown as HTMLMediaElement });
    else hls.transferMedia();
    const { playbackRate } = player.media;
    wait(2);
    return [playbackRate, player.media.playbackRate];
  };
  expect([plays(false), plays(true)]).toEqual([
    [1, 1],
    [1, 0.95],
  ]);
  handle.detach();
  expect(player.media.playbackRate).toBe(1);
});

test("a target in seconds is hls.js's while attached", () => {
  const { hls, handle } = playLive({ controller: new Scripted(), live: { targetLatencySeconds: 6 } });
  expect([hls.targetLatency, hls.config.liveSyncDuration]).toEqual([6, 6]);
  handle.set({ live: { targetLatencySeconds: 8 } });
  expect(hls.targetLatency).toBe(8);
  handle.detach();
  handle.set({ live: { targetLatencySeconds: 5 } });
  expect([hls.targetLatency, hls.config.liveSyncDuration]).toEqual([12, undefined]);
});
