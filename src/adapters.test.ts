/** The adapters for all players do the same: each test runs with a stand-in for each of them. */

import { describe, expect, test } from '@jest/globals';
import {
  bitsOf,
  ScriptedAbandoning,
  ScriptedPacing,
  Steady,
  useManualClock,
  wait,
} from '../session/scripted.fixture.ts';
import type { heard, StandIn } from '../session/stand-in.fixture.ts';
import * as dash from './dash/fake-player.fixture.ts';
import * as hls from './hls/fake-player.fixture.ts';
import type { LeoAbrOptions } from './index.ts';
import * as shaka from './shaka/fake-player.fixture.ts';

useManualClock();
hls.useWindow();

type HeardPlayer = ReturnType<typeof heard> & { player: StandIn };

function loaded<S extends HeardPlayer & { player: { load(): void } }>(seen: S): S {
  seen.player.load();
  return seen;
}

/** Plays on demand with the options; the plugin has made its first decision. */
const PLAYERS: Record<string, (options: LeoAbrOptions) => HeardPlayer> = {
  'dash.js': (options) => loaded(dash.attached(options)),
  'hls.js 1.7': (options) => hls.attached(options),
  'hls.js 1.6': (options) => hls.attached(options, { Player: hls.OldHls }),
  'Shaka Player': (options) => loaded(shaka.attached(options)),
};

describe.each(Object.entries(PLAYERS))('%s', (name, start) => {
  const scripted = (next = 0, more: LeoAbrOptions = {}) => {
    const controller = new ScriptedAbandoning(next);
    return { ...start({ controller, ...more }), controller, state: () => controller.states.at(-1)! };
  };

  test('gives the controller the state in seconds and bits, and loads what it decides', () => {
    const { controller, player, handle, decisions, state } = scripted();
    expect(decisions).toHaveLength(1);
    expect(state()).toMatchObject({ nowSeconds: 0, started: false, segmentIndex: 0, downloads: [] });
    expect(state().previousBitrateBps).toBeUndefined();
    player.download(0, 3e6, 1.5);
    controller.next = 2;
    expect(player.ask()).toBe(2);
    const playing = { nowSeconds: 1.5, started: true, isPaused: false, playbackRate: 1, bufferLevelSeconds: 4 };
    const next = { segmentIndex: 1, segmentSeconds: 4, segmentsRemaining: 9, previousBitrateBps: 1e6 };
    expect(state()).toMatchObject({ ...playing, ...next, ladderBps: [1e6, 2e6, 4e6], weights: { mu: 4, lambda: 1 } });
    const download = { segmentIndex: 0, bitrateBps: 1e6, receivedBits: 3e6, sizeBits: 3e6, abandoned: false };
    const times = { requestedAtSeconds: 0, latencySeconds: 0.05, downloadSeconds: 1.5 };
    expect(state().downloads).toMatchObject([{ ...download, ...times }]);
    // One small segment promises nothing: sizes are as declared.
    expect(state().upcomingSizesBits).toHaveLength(9);
    expect(state().upcomingSizesBits[0]).toEqual([4e6, 8e6, 16e6]);
    const { decision, kind } = decisions.at(-1)!;
    expect([kind, decision.representation, decisions.at(-1)!.state]).toEqual(['decide', 2, state()]);
    const session = { status: 'attached', controller: 'scripted', session: 1, nowSeconds: 1.5, requestedBits: 3e6 };
    expect(handle.state).toMatchObject({ ...session, decision: { representation: 2 }, faults: [] });
  });

  test('responses that the browser says came from a cache are no measurements', () => {
    const entries: object[] = [];
    const answered = (bits: number, transferSize: number) => {
      const size = bits / 8;
      entries.push({ startTime: performance.now(), decodedBodySize: size, encodedBodySize: size, transferSize });
    };
    const real = globalThis.PerformanceObserver;
    let observers = 0;
    globalThis.PerformanceObserver = class {
      observe() {
        observers++;
      }
      disconnect() {
        observers--;
      }
      takeRecords = () => entries.splice(0);
    } as never;
    try {
      const { player, state, handle } = scripted();
      for (const index of [0, 1, 2, 3]) {
        answered(3e6, 0);
        player.download(index, 3e6, 0.1);
        player.ask();
      }
      expect(state().downloads).toEqual([]);
      expect(handle.state).toMatchObject({ requestedBits: 12e6, faults: [] });
      // Over the network, though as fast.
      answered(3e6, 3e6 / 8 + 300);
      player.download(4, 3e6, 0.1);
      player.ask();
      expect(state().downloads).toMatchObject([{ segmentIndex: 4, receivedBits: 3e6 }]);
      player.nextSource();
      expect(observers).toBe(0);
    } finally {
      globalThis.PerformanceObserver = real;
    }
  });

  test('after a change of server, its own throughput counts, and that of the other one at its return', () => {
    const { player, state } = scripted();
    let index = 0;
    const seconds = (server: string, ...all: number[]) => {
      player.server = `https://${server}.example`;
      for (const one of all) player.download(index++, 4e6, one);
      player.ask();
      return state().downloads.map(({ downloadSeconds }) => Math.round(10 * downloadSeconds) / 10);
    };
    expect(seconds('fast', 0.5, 0.5)).toEqual([0.5, 0.5]);
    expect(seconds('slow', 2)).toEqual([0.5, 0.5, 2]);
    expect(seconds('slow', 2)).toEqual([2, 2]);
    expect(seconds('fast', 0.6)).toEqual([0.5, 0.5, 0.6]);
    expect(seconds('slow', 2)).toEqual([2, 2, 2]);
  });

  test('until something is measured, the state has the rates that player and browser assume', () => {
    Object.assign(navigator, { connection: { downlink: 10 } });
    const { player, state } = scripted();
    const playerBps = name === 'Shaka Player' ? 1.5e6 : 1e6;
    expect(state().assumed).toEqual({ playerBps, browserBps: 10e6 });
    Reflect.deleteProperty(navigator, 'connection');
    player.download(0, 3e6, 1);
    player.ask();
    expect(state().assumed).toBeUndefined();
  });

  test('another source begins another session', () => {
    const { player, handle, state } = scripted();
    player.ask();
    const sizesBits = state().upcomingSizesBits[0];
    player.download(0, 3e6, 1);
    expect(handle.state).toMatchObject({ session: 1, requestedBits: 3e6 });
    player.nextSource();
    player.ask();
    expect(handle.state).toMatchObject({ session: 2, requestedBits: 0 });
    expect(state()).toMatchObject({ nowSeconds: 0, segmentIndex: 0, downloads: [], started: false });
    expect(state().previousBitrateBps).toBeUndefined();
    expect(state().upcomingSizesBits[0]).toEqual(sizesBits);
  });

  test('after a seek, the next segment is the one at the playhead, and none was before it', () => {
    const { player, controller, handle, state } = scripted(1);
    player.plays();
    player.download(0, 4e6, 1);
    const sent = player.send(1);
    wait(0.5);
    sent.arrived(1e6);
    player.seeks(21);
    sent.aborted();
    expect(handle.state.wastedBits).toBe(0);
    player.ask();
    expect(state()).toMatchObject({ segmentIndex: 5, segmentsRemaining: 5, bufferLevelSeconds: 0, started: true });
    expect(state().previousBitrateBps).toBeUndefined();
    player.download(5, 4e6, 1);
    controller.next = 0;
    player.ask();
    expect(state()).toMatchObject({ segmentIndex: 6, previousBitrateBps: 2e6 });
  });

  test('an element with autoplay is paused until it plays, which is no pause of the viewer', () => {
    const { player, state } = scripted();
    Object.assign(player.media, { autoplay: true, paused: true });
    const isPausedAfter = (index: number) => {
      player.download(index, 4e6, 1);
      player.ask();
      return [state().started, state().isPaused];
    };
    expect(isPausedAfter(0)).toEqual([true, false]);
    player.media.played = { length: 1 };
    expect(isPausedAfter(1)).toEqual([true, true]);
  });

  test('a download is reconsidered ten times a second, even if nothing arrives, and loaded anew at a lower bitrate', () => {
    const { player, controller, handle, decisions, state } = scripted(2);
    player.download(0, 16e6, 1);
    player.ask();
    const sent = player.send(1);
    wait(0.55);
    expect(controller.inFlights.length).toBeGreaterThanOrEqual(5);
    expect(controller.inFlights.at(-1)).toMatchObject({ segmentIndex: 1, bitrateBps: 4e6, receivedBits: 0 });
    expect(controller.inFlights.at(-1)!.firstByteAtSeconds).toBeUndefined();
    sent.arrived(8e5);
    wait(0.1);
    expect(controller.inFlights.at(-1)).toMatchObject({ receivedBits: 8e5, firstByteAtSeconds: 1.55 });
    expect(state()).toMatchObject({ segmentIndex: 1, segmentsRemaining: 9 });
    expect(handle.state).toMatchObject({ requestedBits: 16e6 + 16e6, wastedBits: 0 });
    controller.next = controller.instead = 0;
    wait(0.1);
    expect(player.abandon(sent)).toBe(0);
    expect(decisions.at(-1)).toMatchObject({ kind: 'abandon', decision: { representation: 0 } });
    expect(decisions.at(-1)!.inFlight).toMatchObject({ segmentIndex: 1, abandonments: 0 });
    expect(handle.state).toMatchObject({ requestedBits: 16e6 + 16e6, wastedBits: 8e5 });
    const asked = controller.inFlights.length;
    wait(1);
    expect(controller.inFlights).toHaveLength(asked);
    player.send(1, 0);
    wait(0.15);
    // What is loaded is what the controller prefers.
    expect(controller.inFlights.at(-1)).toMatchObject({ segmentIndex: 1, bitrateBps: 1e6, abandonments: 1 });
    expect(handle.state).toMatchObject({ requestedBits: 16e6 + 16e6 + 4e6, wastedBits: 8e5 });
    expect(state().downloads).toMatchObject([
      { segmentIndex: 0, bitrateBps: 4e6, abandoned: false },
      { segmentIndex: 1, bitrateBps: 4e6, abandoned: true, receivedBits: 8e5 },
    ]);
  });

  test('nothing is decided while the page has switched adaptation off', () => {
    const { player, controller } = scripted(2);
    player.ask();
    player.setAdaptive(false);
    const asked = controller.states.length;
    controller.instead = 0;
    player.send(0);
    wait(1);
    player.ask();
    expect(controller.states).toHaveLength(asked);
    player.setAdaptive(true);
    wait(0.1);
    expect(controller.inFlights).toHaveLength(1);
  });

  test('a request that fails is not recorded', () => {
    const { player, handle, state } = scripted();
    const sent = player.send(0);
    wait(1);
    sent.failed();
    expect(handle.state).toMatchObject({ requestedBits: 0, wastedBits: 0 });
    player.download(0, 4e6, 1);
    player.ask();
    expect(state().downloads).toMatchObject([{ receivedBits: 4e6, downloadSeconds: 1 }]);
  });

  test("the player's own algorithm decides where the controller fails, with one fault", () => {
    const { player, controller, handle } = scripted();
    player.download(0, 4e6, 1);
    controller.next = 7;
    expect([player.ask() ?? 0, player.ask() ?? 0]).toEqual([0, 0]);
    expect(handle.state).toMatchObject({ status: 'attached', faults: [{ code: 'controller-failed' }] });
    controller.next = 1;
    expect(player.ask()).toBe(1);
  });

  test('leaves nothing behind when it is detached', () => {
    const { player, controller, handle } = scripted(1);
    expect(player.left).toBeGreaterThan(0);
    player.download(0, 8e6, 1);
    player.ask();
    const sent = player.send(1);
    handle.detach();
    handle.detach();
    expect(player.left).toBe(0);
    const asked = controller.states.length;
    wait(5);
    sent.arrived(1000);
    sent.completed(8e6);
    player.ask();
    expect([handle.state.status, controller.states.length]).toEqual(['detached', asked]);
  });

  test.each([
    ["the page's", [new Steady()], 'steady', 'steady'],
    ['its own', [], undefined, 'built-in'],
  ])('MPC-L uses %s forecasts; decisions and the state name them', (_, forecasters, first, source) => {
    const { player, handle, decisions } = start({ forecasters, prior: forecasters.length === 0 });
    // It ends between two ticks.
    player.download(0, 4e6, 1.98);
    player.ask();
    const [{ decision: before }, { decision, forecast }] = [decisions[0]!, decisions.at(-1)!];
    expect([before.forecastSource, decision.forecastSource, forecast!.source]).toEqual([first, source, source]);
    expect(decision.candidates).toHaveLength(3);
    expect(handle.state).toMatchObject({ controller: 'mpc-l', forecast: { source }, faults: [] });
    for (const steady of forecasters) expect(bitsOf(steady)).toBeCloseTo(4e6);
  });
});

type LiveSeen = HeardPlayer & { catchUp(): unknown; edge(): number };

const CATCHING_UP = { parts: 4, config: { maxLiveSyncPlaybackRate: 1.1 } };
/** Plays a live stream at its target; the player's catch-up, on and off. */
const LIVE: [string, (options: LeoAbrOptions) => LiveSeen, on: unknown, off: unknown][] = [
  ['dash.js', (options) => dash.playLive(options), null, false],
  ['hls.js', (options) => hls.playLive(options, CATCHING_UP), 1.1, 1],
  ['Shaka Player', (options) => shaka.playLive(options), [false, 0.95, 1.1], [true, 0, 0]],
];

describe.each(LIVE)('a live stream in %s', (_, start, on, off) => {
  const paced = (controller = new ScriptedPacing(), live: LeoAbrOptions['live'] = {}) => {
    const seen = start({ controller, live });
    return { ...seen, controller, media: seen.player.media, live: () => controller.states.at(-1)!.live! };
  };

  test("the rate is the controller's and the player's catch-up is off, until the plugin is detached", () => {
    const { media, catchUp, handle, live } = paced();
    expect([media.playbackRate, catchUp()]).toEqual([0.95, off]);
    expect(handle.state.pace).toMatchObject({ playbackRate: 0.95 });
    wait(1);
    expect(live().offRateShare).toBeGreaterThan(0);
    handle.detach();
    wait(1);
    expect([media.playbackRate, media.defaultPlaybackRate, catchUp()]).toEqual([1, 1, on]);
    expect(handle.state).toMatchObject({ pace: undefined, faults: [] });
  });

  test('nothing changes before the first valid pace', () => {
    const { media, catchUp, handle } = paced(new ScriptedPacing(7));
    expect([media.playbackRate, catchUp()]).toEqual([1, on]);
    expect(handle.state.faults).toMatchObject([{ code: 'controller-failed' }]);
  });

  test('the rate is given back with the source', () => {
    const { player, media, catchUp } = paced();
    player.nextSource();
    expect([media.playbackRate, catchUp()]).toEqual([1, on]);
  });

  test.each(['detach', 'nextSource'] as const)('a controller that leads to %s sets no rate any more', (what) => {
    const { player, media, catchUp, controller, handle } = paced();
    const { pace } = controller;
    controller.rate = 1.05;
    controller.pace = (...input) => {
      controller.pace = pace;
      if (what === 'detach') handle.detach();
      else player.nextSource();
      return pace.apply(controller, input);
    };
    wait(1.3);
    expect([media.playbackRate, catchUp(), handle.state.pace]).toEqual([1, on, undefined]);
  });

  test('a rate of 1.5 that the page sets stays, also after the plugin is detached', () => {
    const { media, catchUp, handle } = paced();
    media.playbackRate = 1.5;
    wait(3);
    expect([media.playbackRate, catchUp()]).toEqual([1.5, off]);
    handle.detach();
    expect([media.playbackRate, catchUp()]).toEqual([1.5, on]);
  });

  test.each([
    ['ignores', () => {}],
    [
      'refuses',
      () => {
        throw new DOMException('no', 'NotSupportedError');
      },
    ],
  ])('an element that %s rates is left to the player, without a fault', (_, set) => {
    const { media, catchUp, controller, handle } = paced();
    Object.defineProperty(media, 'playbackRate', { get: () => 1, set });
    controller.rate = 1.05;
    wait(3);
    expect([media.defaultPlaybackRate, catchUp()]).toEqual([1, on]);
    expect(handle.state).toMatchObject({ pace: undefined, faults: [] });
  });

  test('a rate of 0 is a stall that the player makes, and stays', () => {
    const { media, controller } = paced();
    media.playbackRate = 0;
    controller.rate = 1.05;
    wait(3);
    expect(media.playbackRate).toBe(0);
  });

  test('a wait for the target sets a rate of 0, which ends', () => {
    const { media, edge, player } = paced();
    media.currentTime = edge() + 0.5;
    // Shaka still has the rate of its own catch-up.
    Object.assign(player, { bufferLevelSeconds: 0.4, getPlaybackRate: () => 0.95 });
    wait(1.2);
    expect(media.playbackRate).toBe(0);
    media.currentTime = edge() - 4;
    wait(1.2);
    expect(media.playbackRate).toBe(0.95);
  });

  test('a jump sets the position by the latency, at rate 1', () => {
    const controller = new ScriptedPacing();
    controller.more = { jump: true, targetLatencySeconds: 2.5 };
    const { media, edge } = paced(controller);
    expect(media.currentTime).toBeCloseTo(edge() - 2.5, 1);
    expect(media.playbackRate).toBe(1);
  });

  test('the options bound rate and latency before all; they change while attached', () => {
    const bounds = { minPlaybackRate: 0.9, maxPlaybackRate: 1.3 };
    const { live, handle } = paced(new ScriptedPacing(1), { ...bounds, maxLatencySeconds: 500 });
    const limits = { playbackRates: { min: 0.9, max: 1.3 }, maxLatencySeconds: 500 };
    expect(live()).toMatchObject(limits);
    // A limit before the target is none.
    handle.set({ live: { ...bounds, maxPlaybackRate: 1.2, maxLatencySeconds: 1 } });
    wait(0.1);
    expect(live().playbackRates).toEqual({ min: 0.9, max: 1.2 });
    expect(live().maxLatencySeconds).toBeGreaterThan(live().targetLatencySeconds);
    expect(() => handle.set({ live: { maxPlaybackRate: 3 } })).toThrow(
      'options.live.maxPlaybackRate: expected a number from 1 to 2, got 3',
    );
    wait(0.1);
    expect(live().playbackRates).toEqual({ min: 0.9, max: 1.2 });
  });
});
