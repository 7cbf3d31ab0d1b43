import { expect, test } from '@jest/globals';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { Scripted, ScriptedPacing } from '../core/scripted.fixture.ts';
import type { LeoAbrOptions } from '../shaka.ts';
import { attached, FakePlayer } from './fake-player.fixture.ts';

useManualClock();

/** Its clock is at 100 s; segments of 4 s, whose first chunks exist after 1 s. */
function livePlayer(serviceDescription: object | null = { targetLatency: 3, minPlaybackRate: 0.9 }): FakePlayer {
  const player = new FakePlayer();
  player.isLiveStream = true;
  player.manifest = {
    presentationTimeline: {
      getSegmentAvailabilityEnd: () => 99,
      getAvailabilityTimeOffset: () => 3,
      getMaxSegmentDuration: () => 4,
    },
    serviceDescription,
  };
  player.end = 98;
  return player;
}

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
  const { request } = player.request(24);
  wait(0.5);
  player.emit('downloadfailed', { request, error: { code: 1001 } });
  expect(handle.state.requestedBits).toBe(4e6);
  player.emit('downloadfailed', { request, error: { code: 1010 } });
  expect(handle.state.requestedBits).toBe(0);
});

function paced(player: FakePlayer, options: LeoAbrOptions = {}) {
  const { handle } = attached({ controller: new ScriptedPacing(0.95), ...options }, player);
  player.load();
  player.element.currentTime = 96;
  player.buffered = [{ start: 90, end: 98 }];
  player.element.dispatchEvent(new Event('playing'));
  player.request(24);
  wait(0.2);
  return handle;
}

test('sets the rate where Shaka would synchronise, and keeps Shaka from it meanwhile', () => {
  const player = livePlayer();
  const handle = paced(player);
  expect(player.element).toMatchObject({ playbackRate: 0.95, defaultPlaybackRate: 0.95 });
  expect(player.config.streaming.liveSync).toMatchObject({ enabled: true, minPlaybackRate: 0, maxPlaybackRate: 0 });
  handle.detach();
  expect(player.element).toMatchObject({ playbackRate: 1, defaultPlaybackRate: 1 });
  expect(player.config.streaming.liveSync).toMatchObject({
    enabled: false,
    minPlaybackRate: 0.95,
    maxPlaybackRate: 1.1,
  });
});

test('leaves the rate alone where Shaka does not synchronise, unless an option sets its bounds', () => {
  const quiet = livePlayer(null);
  paced(quiet);
  expect(quiet.element.playbackRate).toBe(1);
  const asked = livePlayer(null);
  paced(asked, { live: { minPlaybackRate: 0.9 } });
  expect(asked.element.playbackRate).toBe(0.95);
});

test('jumps by seeking to the latency', () => {
  const player = livePlayer();
  const controller = new ScriptedPacing(1);
  controller.more = { jump: true };
  attached({ controller }, player);
  player.load();
  player.element.currentTime = 60;
  player.element.dispatchEvent(new Event('playing'));
  player.request(15);
  wait(0.2);
  expect(player.element.currentTime).toBe(97);
});
