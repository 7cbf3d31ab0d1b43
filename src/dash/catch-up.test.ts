import { afterEach, describe, expect, test } from '@jest/globals';
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

describe("in the place of dash.js's catch-up", () => {
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

  test('the page may have it also for whole segments', () => {
    const { playing, catchUp, handle } = paced({}, (player) => {
      whole(player);
      player.settings.streaming.liveCatchup.enabled = true;
    });
    expect(playing()).toEqual([0.95, false]);
    handle.detach();
    expect(catchUp()).toBe(true);
  });

  test('a setting that the page gives back is taken again, and then given back as the page set it', () => {
    const { player, playing, catchUp, handle } = paced();
    player.updateSettings({ streaming: { liveCatchup: { enabled: true } } });
    wait(0.2);
    expect(playing()).toEqual([0.95, false]);
    handle.detach();
    expect(catchUp()).toBe(true);
  });
});

describe('the limits', () => {
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

  test.each<[string, (player: FakePlayer) => void, number[], LeoAbrOptions['live']?]>([
    ['those that viewers do not notice, and 12 s, by default', described(), [0.95, 1.05, 15]],
    ["the stream's: the last without a scope", described(empty, one, scoped), [0.96, 1.04, 6.5]],
    ['only of rates without a target', described({ ...one, latency: { target: 0, max: 2000 } }), [0.96, 1.04, 15]],
    // One rate alone forbids the other.
    ["DVB's before others", described(dvb, one), [1, 1.5, 6.5]],
    ["the page's settings before the stream's, as far as dash.js allows them", pages, [0.5, 1.2, Infinity]],
    ["the options before the stream's", described(one), [0.9, 1.04, 5], { minPlaybackRate: 0.9, maxLatencySeconds: 5 }],
  ])('are %s', (_, prepare, [min, max, maxLatencySeconds], live = {}) => {
    expect(paced({ live }, prepare, 1).live()).toMatchObject({ playbackRates: { min, max }, maxLatencySeconds });
  });

  test('a latency that the viewer has chosen is not free', () => {
    const { live } = paced({ live: { targetLatencySeconds: 'auto' } }, (player) => {
      player.live!.originalSeconds = 1;
    });
    expect(live()).not.toHaveProperty('isTargetFree');
  });

  test("a target in seconds is dash.js's live delay while attached, and is set only when it changes", () => {
    const { player, handle } = paced({ live: { targetLatencySeconds: 2 } });
    const delay = () => [
      player.settings.streaming.delay.liveDelay,
      player.updates.filter((update) => JSON.stringify(update).includes('liveDelay')).length,
    ];
    expect(delay()).toEqual([2, 1]);
    handle.set({ horizon: 3 });
    expect(delay()).toEqual([2, 1]);
    handle.set({ live: { targetLatencySeconds: 4 } });
    expect(delay()[0]).toBe(4);
    handle.detach();
    handle.set({ live: { targetLatencySeconds: 5 } });
    expect(delay()[0]).toBeNaN();
  });

  describe('in Safari', () => {
    const { navigator } = globalThis;
    const browse = (userAgent: string) =>
      Object.defineProperty(globalThis, 'navigator', { value: { userAgent }, configurable: true });
    afterEach(() => {
      Object.defineProperty(globalThis, 'navigator', { value: navigator, configurable: true });
    });

    test('rates are whole quarters', () => {
      browse('Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15');
      const live = { minPlaybackRate: 0.7 };
      expect(paced({ live }, described(one), 1).live()!.playbackRates).toEqual({ min: 0.75, max: 1 });
      expect(paced({ live }, described(one), 0.8).playing()).toEqual([1, false]);
    });

    test('and any in browsers that call themselves Safari too', () => {
      browse('Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36');
      expect(paced({}, described(one), 1).live()!.playbackRates).toEqual({ min: 0.96, max: 1.04 });
    });
  });
});
