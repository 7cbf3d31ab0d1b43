import { afterEach, expect, test } from '@jest/globals';
import { ScriptedPacing, useManualClock, wait } from '../../session/scripted.fixture.ts';
import type { LeoAbrOptions } from '../index.ts';
import { type FakePlayer, playLive } from './fake-player.fixture.ts';

useManualClock();

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
