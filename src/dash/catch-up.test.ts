import { afterEach, describe, expect, test } from '@jest/globals';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { ScriptedPacing } from '../core/scripted.fixture.ts';
import { attachLeoAbr, type LeoAbrOptions } from '../index.ts';
import { attachLeoAbr as attachLive } from '../live.ts';
import { attachLeoAbr as attachSmall } from '../mpc-d.ts';
import { attached } from './attached.fixture.ts';
import { asPlayer, FakePlayer, livePlayer } from './fake-player.fixture.ts';

useManualClock();

/** A live stream plays at 97 s of 100, its target; the controller has been asked for its pace. */
function paced(
  options: LeoAbrOptions = {},
  prepare: (player: ReturnType<typeof livePlayer>) => void = () => {},
  controller = new ScriptedPacing(),
) {
  const player = livePlayer();
  prepare(player);
  const before = structuredClone(player.settings);
  const seen = attached({ controller, ...options }, player, attachLive);
  player.trigger('updateTimeSyncOffset', { offset: 0 });
  player.trigger('playbackPlaying');
  player.ask();
  player.request(49, 0, { startTime: 98, duration: 2 });
  wait(0.1);
  return { ...seen, player, before, controller, live: () => controller.states.at(-1)?.live };
}

const enabled = ({ player }: ReturnType<typeof paced>) => player.settings.streaming.liveCatchup.enabled;
const rate = ({ player }: ReturnType<typeof paced>) => player.element!.playbackRate;

describe("in the place of dash.js's catch-up", () => {
  test('the rate is set and catch-up is off, until the plugin is detached', () => {
    const seen = paced();
    expect([rate(seen), enabled(seen)]).toEqual([0.95, false]);
    expect(seen.handle.state.pace).toMatchObject({ playbackRate: 0.95 });
    seen.handle.detach();
    expect(rate(seen)).toBe(1);
    expect(seen.player.settings).toEqual(seen.before);
    wait(1);
    expect([rate(seen), enabled(seen)]).toEqual([1, null]);
    expect(seen.handle.state.faults).toEqual([]);
  });

  test('nothing changes before the first valid pace, and all is given back after a fault', () => {
    const controller = new ScriptedPacing(7);
    const seen = paced({}, () => {}, controller);
    expect([rate(seen), enabled(seen), seen.player.element!.currentTime]).toEqual([1, null, 97]);
    expect(JSON.stringify(seen.player.updates)).not.toContain('liveCatchup');
    expect(seen.handle.state.faults).toMatchObject([{ code: 'controller-failed' }]);
  });

  test('nothing changes where dash.js does not catch up: whole segments, or switched off by the page', () => {
    const off = (player: ReturnType<typeof livePlayer>) => {
      player.settings.streaming.liveCatchup.enabled = false;
    };
    const whole = (player: ReturnType<typeof livePlayer>) => {
      player.live!.isLowLatency = false;
    };
    for (const prepare of [off, whole]) {
      const seen = paced({}, prepare);
      expect(rate(seen)).toBe(1);
      expect(seen.controller.states).toEqual([]);
    }
    const on = paced({}, (player) => {
      whole(player);
      player.settings.streaming.liveCatchup.enabled = true;
    });
    expect([rate(on), enabled(on)]).toEqual([0.95, false]);
    on.handle.detach();
    expect(enabled(on)).toBe(true);
  });

  test('a rate of 1.5 that the page sets stays, also after the plugin is detached', () => {
    const seen = paced();
    seen.player.element!.playbackRate = 1.5;
    wait(3);
    expect([rate(seen), enabled(seen)]).toEqual([1.5, false]);
    seen.handle.detach();
    expect([rate(seen), enabled(seen)]).toEqual([1.5, null]);
  });

  test('a rate of 0 is a stall that dash.js makes, and stays', () => {
    const seen = paced();
    seen.player.element!.playbackRate = 0;
    seen.controller.rate = 1.05;
    wait(3);
    expect(rate(seen)).toBe(0);
  });

  test('a setting that the page gives back is taken again, and then given back as the page set it', () => {
    const seen = paced();
    seen.player.updateSettings({ streaming: { liveCatchup: { enabled: true } } });
    wait(0.2);
    expect([rate(seen), enabled(seen)]).toEqual([0.95, false]);
    seen.handle.detach();
    expect(enabled(seen)).toBe(true);
  });

  test('a jump sets the position by the latency, and no setting', () => {
    const seen = paced();
    seen.player.element!.currentTime = 80;
    seen.controller.more = { jump: true, targetLatencySeconds: 2.5 };
    const updates = seen.player.updates.length;
    wait(0.1);
    expect(seen.player.element!.currentTime).toBe(97.5);
    expect(rate(seen)).toBe(1);
    expect(seen.player.updates).toHaveLength(updates);
  });

  test.each([
    ['main', attachLeoAbr],
    ['small', attachSmall],
  ])('the %s entry leaves a live stream to dash.js and reports one fault', (_, attach) => {
    const player = livePlayer();
    const controller = new ScriptedPacing();
    const live = { targetLatencySeconds: 2 };
    const handle = attach(asPlayer(player), { controller, logger: null, live });
    player.instantiateRules();
    player.trigger('playbackPlaying');
    const request = player.request(49, 0, { startTime: 98, duration: 2 });
    expect([player.ask(), player.ask()]).toEqual([null, null]);
    wait(1);
    player.trigger('fragmentLoadingCompleted', { request });
    expect(controller.states).toEqual([]);
    expect([player.element!.playbackRate, player.settings.streaming.delay.liveDelay]).toEqual([1, Number.NaN]);
    expect(handle.state).toMatchObject({
      status: 'attached',
      nowSeconds: 0,
      requestedBits: 0,
      faults: [{ code: 'unsupported-stream', message: expect.stringContaining('leo-abr/live') }],
    });
    handle.detach();
  });

  test('and decides on the next stream, if it is on demand', () => {
    const player = livePlayer();
    const { decisions, faults } = attached({ controller: 'mpc-d' }, player);
    expect([player.ask(), faults.length]).toEqual([null, 0]);
    player.trigger('streamTeardownComplete');
    player.representations = new FakePlayer().representations;
    expect(player.ask()).toBe('v0');
    expect(decisions).toHaveLength(1);
  });
});

describe('the limits', () => {
  const latency = { target: 3000, max: 6000 };
  const described =
    (...serviceDescriptions: object[]) =>
    (player: ReturnType<typeof livePlayer>) => {
      for (const { mediaInfo } of player.representations)
        Object.assign(mediaInfo.streamInfo.manifestInfo, { serviceDescriptions });
    };
  const ofStream = described({ schemeIdUri: null, latency, playbackRate: { min: 0.96, max: 1.04 } });

  test('are those that viewers do not notice, and 12 s, by default', () => {
    expect(paced().live()).toMatchObject({ playbackRates: { min: 0.95, max: 1.05 }, maxLatencySeconds: 15 });
  });

  test("are the stream's as dash.js reads it: the last without a scope, DVB's before others", () => {
    const other = {
      schemeIdUri: 'urn:other',
      latency: { target: 1000, max: 2000 },
      playbackRate: { min: 0.5, max: 2 },
    };
    const early = { schemeIdUri: null, latency: null, playbackRate: null };
    const one = { schemeIdUri: null, latency, playbackRate: { min: 0.96, max: 1.04 } };
    const dvb = { ...one, schemeIdUri: 'urn:dvb:dash:lowlatency:scope:2019', playbackRate: { min: NaN, max: 1.5 } };
    const controller = () => new ScriptedPacing(1);
    expect(paced({}, described(early, one, other), controller()).live()).toMatchObject({
      playbackRates: { min: 0.96, max: 1.04 },
      maxLatencySeconds: 6.5,
    });
    expect(
      paced({}, described({ ...one, latency: { target: 0, max: 2000 } }), controller()).live()!.maxLatencySeconds,
    ).toBe(15);
    // One rate alone forbids the other.
    expect(paced({}, described(dvb, one), controller()).live()!.playbackRates).toEqual({ min: 1, max: 1.5 });
  });

  test("are the page's settings before the stream's, as far as dash.js allows them", () => {
    const seen = paced(
      {},
      (player) => {
        ofStream(player);
        player.updateSettings({ streaming: { liveCatchup: { maxDrift: 0, playbackRate: { min: -0.7, max: 0.2 } } } });
      },
      new ScriptedPacing(1),
    );
    expect(seen.live()).toMatchObject({ playbackRates: { min: 0.5, max: 1.2 }, maxLatencySeconds: Infinity });
  });

  test('are the options before all; they change while attached', () => {
    const controller = new ScriptedPacing(1);
    const live = { minPlaybackRate: 0.9, maxLatencySeconds: 5, targetLatencySeconds: 'auto' as const };
    const seen = paced({ live }, ofStream, controller);
    expect(seen.live()).toMatchObject({
      playbackRates: { min: 0.9, max: 1.04 },
      maxLatencySeconds: 5,
      isTargetFree: true,
    });
    seen.handle.set({ live: { maxPlaybackRate: 1.1, maxLatencySeconds: 2 } });
    wait(0.1);
    // A limit before the target is none.
    expect(seen.live()).toMatchObject({ playbackRates: { min: 0.96, max: 1.1 }, maxLatencySeconds: 6.5 });
    expect(seen.live()).not.toHaveProperty('isTargetFree');
    const { live: before } = seen.controller.states.at(-1)!;
    expect(() => seen.handle.set({ live: { maxPlaybackRate: 3 } })).toThrow(
      'options.live.maxPlaybackRate: expected a number from 1 to 2, got 3',
    );
    wait(0.1);
    expect(seen.live()).toMatchObject({ playbackRates: before!.playbackRates });
  });

  test('a latency that the viewer has chosen is not free', () => {
    const live = { targetLatencySeconds: 'auto' as const };
    const seen = paced({ live }, (player) => {
      player.live!.originalSeconds = 1;
    });
    expect(seen.live()).not.toHaveProperty('isTargetFree');
  });

  test("a target in seconds is dash.js's live delay while attached, and is set only when it changes", () => {
    const seen = paced({ live: { targetLatencySeconds: 2 } });
    const delay = () => seen.player.settings.streaming.delay.liveDelay;
    const updates = () => seen.player.updates.filter((one) => JSON.stringify(one).includes('liveDelay')).length;
    expect([delay(), updates()]).toEqual([2, 1]);
    seen.handle.set({ horizon: 3 });
    expect([delay(), updates()]).toEqual([2, 1]);
    seen.handle.set({ live: { targetLatencySeconds: 4 } });
    expect(delay()).toBe(4);
    seen.handle.detach();
    expect(delay()).toBeNaN();
    seen.handle.set({ live: { targetLatencySeconds: 5 } });
    expect(delay()).toBeNaN();
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
      expect(paced({ live }, ofStream, new ScriptedPacing(1)).live()!.playbackRates).toEqual({ min: 0.75, max: 1 });
      const seen = paced({ live }, ofStream, new ScriptedPacing(0.8));
      expect([rate(seen), enabled(seen)]).toEqual([1, false]);
    });

    test('and any in browsers that call themselves Safari too', () => {
      browse('Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36');
      expect(paced({}, ofStream, new ScriptedPacing(1)).live()!.playbackRates).toEqual({ min: 0.96, max: 1.04 });
    });
  });
});
