import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { Controller } from '../../abr/controller.ts';
import { createLiveMpcL } from '../../abr/mpc-l/live/live-mpc-l.ts';
import type { PaceEvent } from './events.ts';
import { adapted, FakePort, livePort } from './fake-port.fixture.ts';
import { useManualClock, wait } from './manual-clock.fixture.ts';
import type { LiveOptions } from './options.ts';
import { Scripted, ScriptedPacing } from './scripted.fixture.ts';

useManualClock();

/** A live stream plays; the controller has not been asked yet. */
function playing(controller?: Controller, port = livePort(), live: LiveOptions = {}) {
  const core = requested(controller, port, live);
  core.session.playing();
  return core;
}

type Playing = ReturnType<typeof playing>;
const broken = () => {
  throw new Error('broken');
};

/** The first segment is requested; nothing plays yet. */
function requested(controller: Controller = new ScriptedPacing(), port = livePort(), options: LiveOptions = {}) {
  const core = adapted({ controller, live: options }, port);
  const paces: PaceEvent[] = [];
  core.events.on('pace', (event) => paces.push(event));
  const request = {};
  const live = { nowSeconds: 100, firstChunkSeconds: 0.5, startSeconds: 98.5, segmentSeconds: 4 };
  core.downloads.requested(request, { isMedia: true, segment: port.segment(0), live });
  return { ...core, request, paces, controller: controller as ScriptedPacing };
}

describe('the rate of a live stream', () => {
  test('is the one that the controller asks for, ten times a second, between downloads too', () => {
    const { port, controller, downloads, request, pacing } = playing();
    wait(0.1);
    expect(port.rates).toEqual([0.95]);
    downloads.ended(request, 'whole', 0.1);
    wait(1);
    expect(controller.states).toHaveLength(11);
    expect(controller.states.at(-1)).toMatchObject({ segmentIndex: 1, live: { latencySeconds: 3 } });
    expect(port.rates).toEqual([0.95]);
    expect(pacing!.pace).toMatchObject({ playbackRate: 0.95, reason: 'scripted' });
  });

  test('changes at most once a second; but at once to 1', () => {
    const { port, controller } = playing();
    wait(0.1);
    controller.rate = 1.05;
    wait(0.9);
    expect(port.rates).toEqual([0.95]);
    wait(0.1);
    expect(port.rates).toEqual([0.95, 1.05]);
    controller.rate = 1;
    wait(0.1);
    expect(port.rates).toEqual([0.95, 1.05, 1]);
    controller.rate = 0.9;
    port.play({ bufferLevelSeconds: 0.2 });
    wait(0.9);
    expect(port.rates).toEqual([0.95, 1.05, 1]);
    wait(0.1);
    expect(port.rates).toEqual([0.95, 1.05, 1, 0.9]);
  });

  test('stays for smaller differences than can be seen, and keeps to the bounds', () => {
    const { port, controller, events } = playing();
    wait(0.1);
    controller.rate = 0.953;
    wait(2);
    controller.rate = 0.899;
    wait(0.1);
    expect(port.rates).toEqual([0.95, 0.9]);
    expect(events.faults).toEqual([]);
  });

  test('is whole steps from 1 where the player plays others badly', () => {
    const port = livePort({ playbackRates: { min: 0.5, max: 1.6 } });
    port.rate.rateStep = 0.25;
    const { controller } = playing(new ScriptedPacing(0.7), port);
    wait(0.1);
    controller.rate = 1.2;
    wait(1.1);
    expect(port.rates).toEqual([0.75, 1]);
  });

  test("is the player's where there is no live stream, no catch-up and no pace", () => {
    const onDemand = new FakePort();
    onDemand.play({ bufferLevelSeconds: 1 });
    for (const { port } of [
      playing(new Scripted(), livePort()),
      playing(new ScriptedPacing(), livePort({ isPaceable: false })),
      playing(new ScriptedPacing(), onDemand),
    ]) {
      wait(1);
      expect(port.rates).toEqual([]);
    }
  });

  test('is not asked for before the first picture, nor while the player has moved on to another period', () => {
    const port = livePort();
    const { controller, session } = requested(new ScriptedPacing(), port);
    wait(1);
    session.playing();
    const { period } = port.now!;
    port.now = { ...port.now!, period: { ...period, id: 'p1' } };
    wait(1);
    expect(controller.states).toHaveLength(0);
    port.now = { ...port.now!, period };
    wait(0.1);
    expect(port.rates).toEqual([0.95]);
  });

  test('stays while the viewer pauses', () => {
    const { port, controller } = playing();
    wait(0.1);
    port.play({ isPaused: true });
    controller.rate = 1.05;
    wait(5);
    expect(controller.states).toHaveLength(1);
    port.play({ isPaused: false });
    wait(0.1);
    expect(port.rates).toEqual([0.95, 1.05]);
  });

  test('is left alone while it is neither the set one nor 1; it was chosen by the viewer or the page', () => {
    const { port, controller, paces } = playing();
    wait(0.1);
    port.play({ playbackRate: 1.5 });
    controller.rate = 1.05;
    wait(5);
    expect(port.rates).toEqual([0.95]);
    port.play({ playbackRate: 1 });
    wait(0.1);
    expect(port.rates).toEqual([0.95, 1.05]);
    // The player has set 1 for reasons of its own.
    port.play({ playbackRate: 1 });
    wait(1);
    expect(port.rates).toEqual([0.95, 1.05, 1.05]);
    port.play({ playbackRate: 1 });
    controller.rate = 1;
    wait(0.1);
    expect(paces.at(-1)).toMatchObject({ playbackRate: 1 });
  });
});

describe("the player's catch-up goes on", () => {
  test.each([
    ['the source ends', (core: Playing) => core.sourceEnded()],
    ['the plugin is detached', (core: Playing) => core.stop()],
    [
      'the controller has no pace any more',
      ({ controller, downloads, request }: Playing) => {
        Object.assign(controller, { pace: undefined });
        downloads.ended(request, 'whole', 0.1);
      },
    ],
    ['the page switches catch-up off', ({ port }: Playing) => port.play({}, { isPaceable: false })],
    ['the player gives no situation', ({ port }: Playing) => void Object.assign(port, { situation: broken })],
  ])('when %s', (_, end) => {
    const core = playing();
    wait(0.1);
    end(core);
    wait(0.1);
    expect(core.port.rates).toEqual([0.95, undefined]);
    expect(core.pacing!.pace).toBeUndefined();
    wait(2);
    expect(core.port.rates).toHaveLength(2);
  });

  test.each([
    ['throws', broken, 'broken'],
    ['returns nothing', () => undefined, 'a rate from 0.9 to 1.1 and a latency, got undefined and undefined s'],
    ['is too slow', () => ({ playbackRate: 0.89, jump: false, targetLatencySeconds: 3 }), 'got 0.89 and 3 s'],
    ['is no number', () => ({ playbackRate: Number.NaN, jump: false, targetLatencySeconds: 3 }), 'got NaN and 3 s'],
    ['has no target', () => ({ playbackRate: 1, jump: true, targetLatencySeconds: Infinity }), 'got 1 and Infinity s'],
  ])('after one fault, when the pace %s', (_, pace, message) => {
    const { port, controller, events, decisions } = playing();
    wait(0.1);
    controller.pace = pace as unknown as ScriptedPacing['pace'];
    wait(1);
    expect(port.rates).toEqual([0.95, undefined]);
    expect(port.jumps).toEqual([]);
    expect(events.faults).toMatchObject([{ code: 'controller-failed', message: expect.stringContaining(message) }]);
    controller.pace = ScriptedPacing.prototype.pace;
    wait(1);
    expect(port.rates).toHaveLength(2);
    // Its decisions still count.
    expect(decisions.decide()).toBeDefined();
  });
});

test('the rate is set again when the page switches catch-up on again', () => {
  const { port, paces } = playing();
  wait(0.1);
  port.play({}, { isPaceable: false });
  wait(0.1);
  port.play({}, { isPaceable: true });
  wait(0.1);
  expect(port.rates).toEqual([0.95, undefined, 0.95]);
  expect(paces).toHaveLength(2);
});

describe('a jump', () => {
  test('goes to the latency of the pace at rate 1, and not again until the player has had time', () => {
    const { port, controller, paces } = playing();
    wait(0.1);
    controller.more = { jump: true, targetLatencySeconds: 2.5 };
    wait(4.9);
    expect(port.jumps).toEqual([2.5]);
    expect(port.rates).toEqual([0.95, 1]);
    expect(paces.map(({ pace }) => pace.jump)).toEqual([false, true]);
    wait(0.2);
    expect(port.jumps).toEqual([2.5, 2.5]);
  });
});

describe('in a hidden tab', () => {
  afterEach(() => {
    jest.restoreAllMocks();
    Reflect.deleteProperty(globalThis, 'document');
  });

  test('the rate is 1 unless playback is late, and progress events replace the timer', async () => {
    const { port, controller, downloads, request } = playing();
    wait(0.1);
    Object.assign(globalThis, { document: { hidden: true } });
    wait(0.1);
    expect(port.rates).toEqual([0.95, 1]);
    controller.rate = 1.1;
    wait(2);
    expect(port.rates).toEqual([0.95, 1]);
    port.play({}, { latencySeconds: 4.1 });
    // A throttled timer: time passes, and nothing runs.
    const asked = controller.states.length;
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 1000);
    downloads.received(request, { totalBits: 1000 });
    await Promise.resolve();
    expect(controller.states).toHaveLength(asked + 1);
    expect(port.rates).toEqual([0.95, 1, 1.1]);
  });
});

describe('the event', () => {
  test('has all inputs, and comes when the rate or, once a second, the target changes', () => {
    const { controller, paces, downloads, request } = playing();
    wait(0.1);
    const [first] = paces;
    expect(first).toEqual({
      session: 1,
      pace: { playbackRate: 0.95, jump: false, targetLatencySeconds: 3, reason: 'scripted' },
      playbackRate: 0.95,
      state: controller.states[0],
      inFlight: expect.objectContaining({ segmentIndex: 0, bitrateBps: 1e6, receivedBits: 0 }),
      forecast: undefined,
    });
    downloads.ended(request, 'whole', 0.1);
    let target = 3;
    for (let tick = 0; tick < 30; tick++) {
      target += 0.01;
      controller.more = { targetLatencySeconds: target };
      wait(0.1);
    }
    expect(paces).toHaveLength(4);
    controller.rate = 1;
    wait(0.1);
    expect(paces.at(-1)).toMatchObject({ playbackRate: 1 });
    controller.rate = 1.05;
    wait(0.5);
    // Not yet.
    expect(paces).toHaveLength(5);
    wait(0.6);
    expect(paces.at(-1)).toMatchObject({ playbackRate: 1.05, inFlight: undefined });
    expect(paces).toHaveLength(6);
  });

  test('lets a fresh controller compute each pace again', () => {
    const { port, paces } = playing(createLiveMpcL());
    for (let round = 0; round < 20; round++) {
      for (const latencySeconds of [3.7, 2.9, 3, 3.1, 5.5]) {
        port.play({}, { latencySeconds });
        wait(1);
      }
    }
    const shares = paces.map(({ state }) => state.live!.offRateShare!);
    expect(Math.min(...shares)).toBe(0);
    expect(Math.max(...shares)).toBeGreaterThan(0.15);
    expect(new Set(paces.map(({ pace }) => pace.playbackRate)).size).toBeGreaterThanOrEqual(4);
    for (const { state, inFlight, forecast, pace } of paces) {
      expect(createLiveMpcL().pace!(state, inFlight, forecast)).toEqual(pace);
    }
  });
});
