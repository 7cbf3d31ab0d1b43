import { expect, test } from '@jest/globals';
import { Scripted, ScriptedAbandoning, ScriptedPacing, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { chunkOf } from '../../session/stand-in.fixture.ts';
import type { LeoAbrOptions } from '../shaka.ts';
import { attached, type FakePlayer, livePlayer, playLive, segmentAt } from './fake-player.fixture.ts';
import { BAD_HTTP_STATUS, type Manifest } from './player.ts';

useManualClock();

function firstState(player: FakePlayer, options: LeoAbrOptions = {}) {
  const controller = new Scripted();
  attached({ controller, ...options }, player);
  player.load();
  return controller.states[0]!;
}

test("joins at the stream's target, on the stream's clock", () => {
  const state = firstState(livePlayer());
  expect(state).toMatchObject({ segmentIndex: 24, segmentsRemaining: Number.POSITIVE_INFINITY, bufferCapSeconds: 6 });
  expect(state.live).toMatchObject({
    offRateShare: 0,
    latencySeconds: 3,
    targetLatencySeconds: 3,
    playbackRates: { min: 0.9, max: 1.1 },
    firstChunkAtSeconds: 24 * 4 + 1 - 100,
    chunkSeconds: 1,
  });
});

test('a segment keeps its index, however long the segment is that plays', () => {
  const player = livePlayer();
  const { controller } = attached({ controller: new ScriptedAbandoning() }, player);
  player.load();
  for (const seconds of [4, 2]) {
    const playing = { ...segmentAt(0), getEndTime: () => seconds };
    for (const { video } of player.variants) video!.segmentIndex = { find: () => 0, get: () => playing };
    player.send(24);
    wait(0.2);
    expect(controller.inFlights.at(-1)!.segmentIndex).toBe(24);
    const { live, nowSeconds } = controller.states.at(-1)!;
    expect(live!.firstChunkAtSeconds - nowSeconds).toBeCloseTo(96 + 1 - 100);
  }
});

const PARTS = '#EXTM3U\n#EXT-X-PART-INF:PART-TARGET=0.5\n';
test.each([
  ['segments', '#EXTM3U\n', true, { chunkSeconds: 4, firstChunkAtSeconds: 4 }],
  ['parts, where the next one is listed too', PARTS, true, { chunkSeconds: 0.5, firstChunkAtSeconds: 1 }],
  ['segments, if the page wants no low latency', PARTS, false, { chunkSeconds: 4, firstChunkAtSeconds: 4 }],
])('HLS ends with its newest %s', (_, playlist, lowLatencyMode, { chunkSeconds, firstChunkAtSeconds }) => {
  const player = livePlayer(null);
  // Shaka says that 98 s of media exist. A part in a preload hint counts as listed.
  const ends = { getSegmentAvailabilityEnd: () => 98, getAvailabilityTimeOffset: () => 0, getDelay: () => 1 };
  player.manifest = {
    type: 'HLS',
    presentationTimeline: { ...ends, getMaxSegmentDuration: () => 4, getMaxSegmentEndTime: () => 98 },
  };
  player.playlist = new TextEncoder().encode(playlist);
  Object.assign(player.config.streaming, { lowLatencyMode });
  const { live, segmentIndex } = firstState(player);
  expect(live).toMatchObject({ chunkSeconds, latencySeconds: live!.targetLatencySeconds });
  expect(live!.firstChunkAtSeconds + 98 - 4 * segmentIndex).toBe(firstChunkAtSeconds);
});

test('an HLS stream in parts ends where its newest playlist ends, even if Shaka says earlier', () => {
  const player = livePlayer(null);
  player.media.currentTime = 95;
  const { presentationTimeline } = player.manifest as Manifest;
  Object.assign(player.manifest!, { type: 'HLS' });
  player.playlist = new TextEncoder().encode(PARTS);
  const { controller } = attached({ controller: new Scripted() }, player);
  player.load();
  let endSeconds = 0;
  presentationTimeline.getSegmentAvailabilityEnd = () => endSeconds;
  for (endSeconds of [96.5, 97, 97.5]) {
    player.send(24).completed(4e6);
    player.ask();
  }
  const seen = controller.states.map(({ live }) => [live!.latencySeconds, live!.targetLatencySeconds]);
  expect(seen).toEqual([98.5, 98.5, 99, 99.5].map((nowSeconds) => [nowSeconds - 95, 0.5]));
});

test('what the encoder limits in a segment of chunks is not the link', async () => {
  const player = livePlayer();
  const { controller } = attached({ controller: new Scripted() }, player);
  player.load();
  const chunk = chunkOf(125_000);
  for (const index of [25, 26]) {
    const sent = player.send(index, 0);
    // A chunk of 1 Mbit a second, in two parts 50 ms apart: 10 Mbit/s.
    for (const waitSeconds of [1.05, 0.95, 0.95, 0.95]) {
      wait(waitSeconds);
      await sent.read(chunk.subarray(0, 62_500));
      wait(0.05);
      await sent.read(chunk.subarray(62_500));
    }
    sent.completed(4e6);
  }
  player.ask();
  const { downloads, live } = controller.states.at(-1)!;
  expect(live!.chunkSeconds).toBe(1);
  const { receivedBits, downloadSeconds } = downloads.at(-1)!;
  expect(receivedBits / downloadSeconds).toBeCloseTo(10e6, -5);
});

test('the text of a refusal is no part of a chunk', async () => {
  const player = livePlayer();
  const { controller } = attached({ controller: new Scripted() }, player);
  player.load();
  for (const isRefused of [false, true]) {
    const sent = player.send(25, 0);
    if (isRefused) {
      await sent.read(new TextEncoder().encode('Not Found'));
      sent.failed(BAD_HTTP_STATUS);
    }
    wait(1);
    if (isRefused) sent.attempted();
    // Chunks of 0.5 s, each 50 ms after it exists.
    wait(0.05);
    for (let chunk = 0; chunk < 8; chunk++) {
      if (chunk > 0) wait(0.5);
      await sent.read(chunkOf(62_500));
    }
    sent.completed(4e6);
  }
  player.ask();
  const { live, downloads } = controller.states.at(-1)!;
  expect(live!.chunkSeconds).toBe(0.5);
  expect(downloads[1]!.downloadSeconds).toBeCloseTo(8 * 0.05);
});

test("the target is the option's, else liveSync's, else the stream's, else where Shaka joins", () => {
  const target = (player: FakePlayer, options?: LeoAbrOptions) =>
    firstState(player, options).live!.targetLatencySeconds;
  expect(target(livePlayer(null))).toBe(2);
  const synchronised = () => {
    const player = livePlayer();
    player.config.streaming.liveSync.enabled = true;
    return player;
  };
  expect(target(synchronised())).toBe(2.5);
  expect(target(synchronised(), { live: { targetLatencySeconds: 5 } })).toBe(5);
});

test('a target that the page sets while the plugin sets the rate counts, and stays', () => {
  const player = livePlayer();
  const { liveSync } = player.config.streaming;
  liveSync.enabled = true;
  const { controller, handle } = playLive({ controller: new ScriptedPacing() }, player);
  player.configure({ streaming: { liveSync: { targetLatency: 4 } } });
  wait(0.1);
  expect(controller!.states.at(-1)!.live!.targetLatencySeconds).toBe(6);
  handle.detach();
  expect(liveSync).toMatchObject({ enabled: true, targetLatency: 4, maxPlaybackRate: 1.1 });
});

test('a live stream whose end is known is live from Shaka 5, on demand in Shaka 4', () => {
  const player = livePlayer();
  player.isLiveStream = false;
  expect(firstState(player).live).toBeUndefined();
  expect(firstState(Object.assign(livePlayer(), { isLiveStream: false, isDynamic: () => true })).live).toBeDefined();
});

test('a segment that does not exist yet stays requested until Shaka gives up', () => {
  const player = livePlayer();
  const { handle } = attached({ controller: new Scripted() }, player);
  player.load();
  const sent = player.send(24);
  wait(0.5);
  sent.failed(1001);
  expect(handle.state.requestedBits).toBe(4e6);
  sent.failed(1010);
  expect(handle.state.requestedBits).toBe(0);
  player.send(24).failed(1001, { error: { code: 1001, severity: 2 } });
  expect(handle.state.requestedBits).toBe(0);
});

test.each([
  ['', {}, 1],
  [', unless an option sets its bounds', { live: { minPlaybackRate: 0.9 } }, 0.95],
])('leaves the rate alone where Shaka does not synchronise%s', (_, options, rate) => {
  const { player } = playLive({ controller: new ScriptedPacing(0.95), ...options }, livePlayer(null));
  expect(player.media).toMatchObject({ playbackRate: rate, defaultPlaybackRate: rate });
});
