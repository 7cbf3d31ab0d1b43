/** Live streams, through the stand-in: a segment of 2 s in chunks of 0.25 s exists from 0.55 s after its start on. */

import { afterEach, expect, test } from '@jest/globals';
import { ScriptedAbandoning, ScriptedPacing, Steady, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { chunkOf } from '../../session/stand-in.fixture.ts';
import type { LeoAbrOptions } from '../index.ts';
import { attached, type FakePlayer, FIRST_CHUNK_SECONDS, livePlayer, playLive } from './fake-player.fixture.ts';

useManualClock();

function start(live: Parameters<typeof livePlayer>[0] = {}) {
  const steady = new Steady();
  const controller = new ScriptedAbandoning();
  const seen = attached({ controller, forecasters: [steady] }, livePlayer(live));
  const { player } = seen;
  player.emit('updateTimeSyncOffset', { offset: live.offsetMs ?? 0 });
  player.plays();
  const request = (index: number, more: object = {}) =>
    player.send(index, 0, { startTime: index * 2, duration: 2, ...more });
  /** Observations of the link, or of its silences alone. */
  const observed = (bits?: number) =>
    steady.observations.filter((one) => one.kind === 'throughput' && one.bits === (bits ?? one.bits));
  const state = () => {
    player.ask();
    return controller.states.at(-1)!;
  };
  /** The first chunk of `bytes` comes after 20 ms, the others every 0.25 s. */
  const chunks = (sent: object, count: number, bytes: number) => {
    for (let number = 0; number < count; number++) {
      wait(number === 0 ? 0.02 : 0.25);
      player.chunk(sent, chunkOf(bytes).buffer);
    }
  };
  return { ...seen, controller, observed, request, state, chunks };
}

test('the state on a live stream has latency, target and the time of the next segment; the cap is what exists', () => {
  const state = start().state();
  expect(state.live).toEqual({
    latencySeconds: 3,
    targetLatencySeconds: 3,
    chunkSeconds: FIRST_CHUNK_SECONDS,
    playbackRates: { min: 0.95, max: 1.05 },
    maxLatencySeconds: 15,
    offRateShare: 0,
    firstChunkAtSeconds: 49 * 2 + FIRST_CHUNK_SECONDS - 100,
  });
  expect(state).toMatchObject({ segmentIndex: 49, segmentsRemaining: Number.POSITIVE_INFINITY });
  expect(state.bufferCapSeconds).toBeCloseTo(3 - FIRST_CHUNK_SECONDS + 2);
});

test('the state on a live stream of whole segments: at most the delay less the encoder', () => {
  const { bufferCapSeconds, live } = start({ lowLatency: false }).state();
  expect(bufferCapSeconds).toBeCloseTo(8 - 0.3);
  expect(live).toMatchObject({ latencySeconds: 8, chunkSeconds: 2 });
});

test.each([3000, undefined])("the state follows dash.js's clock, or its latency where it has told %s", (offset) => {
  const { player, request, state } = start({ offsetMs: offset ?? 0 });
  player.emit('updateTimeSyncOffset', { offset });
  // A timeline forgets old segments: dash.js counts from the oldest one.
  request(49, { index: 7 });
  const { live, segmentIndex, nowSeconds } = state();
  expect(segmentIndex).toBe(50);
  expect(live!.firstChunkAtSeconds - nowSeconds).toBeCloseTo(FIRST_CHUNK_SECONDS);
});

test('durations of a timeline vary: a segment begins where it is said, and the next where the last one ends', () => {
  const { player, controller, request, state } = start();
  request(49);
  player.bufferLevelSeconds = 1;
  // The manifest is read again, and begins with a shorter segment.
  for (const one of player.representations) one.segmentDuration = 1.9;
  const { live, nowSeconds } = state();
  expect(live!.firstChunkAtSeconds - nowSeconds).toBeCloseTo(FIRST_CHUNK_SECONDS - 0.1);
  wait(1);
  expect(controller.states.at(-1)!.live!.firstChunkAtSeconds).toBeCloseTo(FIRST_CHUNK_SECONDS - 0.1 - 2);
});

test('low-latency downloads that the encoder limits do not lower the estimate, and are no outage', () => {
  const { player, request, chunks, state, observed, faults } = start();
  wait(0.55);
  const sent = request(50);
  // 2 Mbit in 1.77 s.
  chunks(sent, 8, 31_250);
  sent.endDate = new Date();
  player.emit('fragmentLoadingCompleted', { request: sent });
  const { downloads, live } = state();
  expect(downloads).toHaveLength(1);
  expect(downloads[0]!.receivedBits / downloads[0]!.downloadSeconds).toBeGreaterThan(10e6);
  expect(observed(0)).toEqual([]);
  expect(live!.chunkSeconds).toBe(0.25);
  expect(faults).toEqual([]);
});

test('low-latency downloads are reconsidered while a chunk is late, and only then', () => {
  const { controller, player, request, chunks, state } = start();
  wait(0.55);
  state();
  chunks(request(50), 1, 31_250);
  const before = controller.inFlights.length;
  wait(0.2);
  expect(controller.inFlights).toHaveLength(before);
  controller.instead = 1;
  wait(0.5);
  expect(controller.inFlights.length).toBeGreaterThan(before);
  const { requestedAtSeconds, firstByteAtSeconds } = controller.inFlights.at(-1)!;
  // Less the wait for the second chunk, at the announced duration.
  expect(requestedAtSeconds).toBeCloseTo(FIRST_CHUNK_SECONDS - 0.02);
  expect(firstByteAtSeconds! - requestedAtSeconds).toBeCloseTo(0.02);
  expect(player.qualitySet).toEqual([{ id: 'v1', reason: { forceAbandon: true, message: 'scripted: slow' } }]);
});

test('live downloads that the server refuses are no outage; an answer that does not come is one', () => {
  const { player, request, observed } = start();
  wait(0.55);
  const sent = request(50);
  for (let refusal = 0; refusal < 3; refusal++) {
    wait(0.1);
    player.refuse(sent);
    wait(1);
    player.attempt(sent);
  }
  expect(observed()).toEqual([]);
  wait(1);
  request(51);
  expect(observed().length).toBeGreaterThan(3);
});

test('low-latency downloads of audio wait for the encoder as well', () => {
  const { request, chunks, observed } = start();
  wait(0.55);
  chunks(request(50, { mediaType: 'audio' }), 8, 1000);
  expect(observed(0)).toEqual([]);
});

/** `live`: the live state in which the controller was asked for a pace. */
function paced(options: LeoAbrOptions = {}, prepare?: (player: FakePlayer) => void, rate?: number) {
  const controller = new ScriptedPacing(rate);
  const seen = playLive({ controller, ...options }, prepare);
  const { media } = seen.player;
  const playing = () => [media.playbackRate, seen.catchUp()];
  return { ...seen, playing, controller, live: () => controller.states.at(-1)?.live };
}

const off = (player: FakePlayer) => player.updateSettings({ streaming: { liveCatchup: { enabled: false } } });
const whole = (player: FakePlayer) => {
  player.live!.isLowLatency = false;
};

test.each([
  ['switched off by the page', off],
  ['whole segments', whole],
])('nothing changes where dash.js does not catch up: %s', (_, prepare) => {
  const { player, controller } = paced({}, prepare);
  expect(player.media.playbackRate).toBe(1);
  expect(controller.states).toEqual([]);
});

test("the page may have dash.js's catch-up also for whole segments", () => {
  const { playing, catchUp, handle } = paced({}, (player) => {
    whole(player);
    player.settings.streaming.liveCatchup.enabled = true;
  });
  expect(playing()).toEqual([0.95, false]);
  handle.detach();
  expect(catchUp()).toBe(true);
});

test('catch-up that the page gives back is taken again, and then given back as the page set it', () => {
  const { player, playing, catchUp, handle } = paced();
  player.updateSettings({ streaming: { liveCatchup: { enabled: true } } });
  wait(0.2);
  expect(playing()).toEqual([0.95, false]);
  handle.detach();
  expect(catchUp()).toBe(true);
});

const latency = { target: 3000, max: 6000 };
const scoped = { schemeIdUri: 'urn:other', latency: { target: 1000, max: 2000 }, playbackRate: { min: 0.5, max: 2 } };
const empty = { schemeIdUri: null, latency: null, playbackRate: null };
const one = { schemeIdUri: null, latency, playbackRate: { min: 0.96, max: 1.04 } };
const dvb = { ...one, schemeIdUri: 'urn:dvb:dash:lowlatency:scope:2019', playbackRate: { min: NaN, max: 1.5 } };
const described =
  (...serviceDescriptions: object[]) =>
  (player: FakePlayer) => {
    for (const { mediaInfo } of player.representations)
      Object.assign(mediaInfo.streamInfo.manifestInfo, { serviceDescriptions });
  };

const pages = (player: FakePlayer) => {
  described(one)(player);
  player.updateSettings({ streaming: { liveCatchup: { maxDrift: 0, playbackRate: { min: -0.7, max: 0.2 } } } });
};

test.each<[string, (player: FakePlayer) => void, number[]]>([
  ['those that viewers do not notice, and 12 s, by default', described(), [0.95, 1.05, 15]],
  ["the stream's: the last without a scope", described(empty, one, scoped), [0.96, 1.04, 6.5]],
  ['only of rates without a target', described({ ...one, latency: { target: 0, max: 2000 } }), [0.96, 1.04, 15]],
  // One rate alone forbids the other.
  ["DVB's before others", described(dvb, one), [1, 1.5, 6.5]],
  ["the page's settings before the stream's, as far as dash.js allows them", pages, [0.5, 1.2, Infinity]],
])('the limits are %s', (_, prepare, [min, max, maxLatencySeconds]) => {
  expect(paced({}, prepare, 1).live()).toMatchObject({ playbackRates: { min, max }, maxLatencySeconds });
});

test("a target in seconds is dash.js's live delay while attached, and is set only when it changes", () => {
  const { player, handle } = paced({ live: { targetLatencySeconds: 2 } });
  const { delay } = player.settings.streaming;
  expect(delay.liveDelay).toBe(2);
  handle.set({ horizon: 3 });
  expect(player.updates.filter((update) => JSON.stringify(update).includes('liveDelay'))).toHaveLength(1);
  handle.set({ live: { targetLatencySeconds: 4 } });
  expect(delay.liveDelay).toBe(4);
  handle.detach();
  handle.set({ live: { targetLatencySeconds: 5 } });
  expect(delay.liveDelay).toBeNaN();
});

const { navigator } = globalThis;
const browse = (value: object) => void Object.defineProperty(globalThis, 'navigator', { value, configurable: true });
afterEach(() => browse(navigator));

test.each([
  ['whole quarters in Safari', 'Version/18.0 Safari/605.1.15', { min: 0.75, max: 1 }, 1],
  ['any in browsers that call themselves Safari too', 'Chrome/150.0.0.0 Safari/537.36', { min: 0.7, max: 1.04 }, 0.8],
])('the limits are %s', (_, agent, playbackRates, rate) => {
  browse({ userAgent: `Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) ${agent}` });
  const { live, playing } = paced({ live: { minPlaybackRate: 0.7 } }, described(one), 0.8);
  expect(live()!.playbackRates).toEqual(playbackRates);
  expect(playing()).toEqual([rate, false]);
});
