import { afterEach, expect, jest, test } from '@jest/globals';
import type { Controller } from '../../abr/controller.ts';
import { adapted, FakePort, livePort } from '../fake-port.fixture.ts';
import type { PaceEvent } from '../page/event-types.ts';
import type { LivePosition } from '../player-port.ts';
import { broken, Scripted, ScriptedPacing, useManualClock, wait } from '../scripted.fixture.ts';

useManualClock();

/** The first segment of a live stream is requested; nothing plays yet. */
function requested(controller: Controller = new ScriptedPacing(), port = livePort()) {
  const core = adapted({ controller }, port);
  const paces: PaceEvent[] = [];
  core.events.on('pace', (event) => paces.push(event));
  const request = {};
  const live = { nowSeconds: 100, firstChunkSeconds: 0.5, startSeconds: 98.5, segmentSeconds: 4 };
  core.flow.began(request, { isMedia: true, segment: port.segment(0), live });
  return { ...core, request, paces, controller: controller as ScriptedPacing };
}

/** It plays, and the controller has been asked once. */
function playing(...given: Parameters<typeof requested>) {
  const core = requested(...given);
  core.flow.played();
  wait(0.1);
  return core;
}

type Playing = ReturnType<typeof playing>;
const paces = (rate: number) => (core: Playing) => {
  core.controller.rate = rate;
};
const plays =
  (...changes: Parameters<FakePort['play']>) =>
  ({ port }: Playing) =>
    port.play(...changes);

test('the rate of a live stream is the one that the controller asks for, ten times a second, between downloads too', () => {
  const { port, flow, controller, request } = playing();
  expect(port.rates).toEqual([0.95]);
  flow.ended(request, 'whole', 0.1);
  wait(1);
  expect(controller.states).toHaveLength(11);
  expect(controller.states.at(-1)).toMatchObject({ segmentIndex: 1, live: { latencySeconds: 3 } });
  expect(port.rates).toEqual([0.95]);
  expect(flow.pacing!.pace).toMatchObject({ playbackRate: 0.95, reason: 'scripted' });
});

test('the rate of a live stream is asked for on the state of each tick, which a download reconsidered there shares', () => {
  const keeping = { reconsider: () => 'keep' as const, keepsForSeconds: () => 1 };
  const { port, controller } = playing(Object.assign(new ScriptedPacing(), keeping));
  expect(port.firsts).toHaveLength(1);
  wait(0.3);
  expect(controller.states.map(({ nowSeconds }) => nowSeconds)).toEqual([0.1, 0.2, 0.3, 0.4]);
});

test('the rate of a live stream is asked for again when the answer expires, at most a second later, and until its rate is set', () => {
  const controller = Object.assign(new ScriptedPacing(), { more: { keepsForSeconds: 0.5 } });
  const { port } = playing(controller);
  wait(1);
  controller.more = { keepsForSeconds: 60 };
  wait(2);
  expect(controller.states.map(({ nowSeconds }) => nowSeconds)).toEqual([0.1, 0.6, 1.1, 1.6, 2.6]);
  Object.assign(controller, { rate: 1, more: {} });
  wait(0.6);
  Object.assign(controller, { rate: 0.9, more: { keepsForSeconds: 1 } });
  wait(1.1);
  expect(port.rates).toEqual([0.95, 1, 0.9]);
});

type PacingStep = [change: (core: Playing) => void, seconds: number, ...rates: (number | undefined)[]];
test.each<[string, ...PacingStep[]]>([
  ['changes at most once a second', [paces(1.05), 0.9], [() => {}, 0.1, 1.05]],
  ['changes at once to 1', [paces(1), 0.1, 1], [paces(0.9), 0.9], [plays({ bufferLevelSeconds: 0.2 }), 0.1, 0.9]],
  ['stays for smaller differences than can be seen', [paces(0.953), 2]],
  ['keeps to the bounds', [() => {}, 1], [paces(0.899), 0.1, 0.9]],
  ['stays in a pause', [plays({ isPaused: true }), 0], [paces(1.05), 5], [plays({ isPaused: false }), 0.1, 1.05]],
  ['is left alone while somebody has set another than 1', [plays({ playbackRate: 1.5 }), 0], [paces(1.05), 5]],
  ['is set again once it is 1', [plays({ playbackRate: 1.5 }), 5], [plays({ playbackRate: 1 }), 1, 0.95]],
  [
    'stays after an outage, however long',
    [plays({}, { nowSeconds: 157, latencySeconds: 60, maxLatencySeconds: Infinity }), 2],
  ],
  [
    'stays after a long pause that ends in a jump',
    [plays({ isPaused: true }, { nowSeconds: 157, latencySeconds: 60 }), 1],
    [plays({ isPaused: false }), 5],
  ],
  [
    "is the player's after a seek back, until playback is near live again",
    [plays({}, { latencySeconds: 60 }), 0.1, undefined],
    [plays({}, { nowSeconds: 110 }), 5],
    [plays({}, { latencySeconds: 5 }), 0.1, 0.95],
  ],
  [
    "is the player's after a long pause that ends in no jump",
    [plays({ isPaused: true }, { nowSeconds: 157, latencySeconds: 60, maxLatencySeconds: Infinity }), 0.1, undefined],
    [plays({ isPaused: false }), 5],
  ],
])('the rate of a live stream %s', (_, ...steps) => {
  const core = playing();
  const expected: (number | undefined)[] = [0.95];
  for (const [change, seconds, ...rates] of steps) {
    change(core);
    wait(seconds);
    expect(core.port.rates).toStrictEqual([...expected, ...rates]);
    expected.push(...rates);
  }
  expect(core.events.faults).toEqual([]);
});

test.each([
  ['no live stream', new ScriptedPacing(), new FakePort()],
  ['no catch-up', new ScriptedPacing(), livePort({ isPaceable: false })],
  ['no pace', new Scripted(), livePort()],
  ['a start far behind live', new ScriptedPacing(), livePort({ latencySeconds: 60 })],
])("the rate of a live stream is the player's where there is %s", (_, controller, port) => {
  port.play({ bufferLevelSeconds: 1 });
  playing(controller, port);
  wait(1);
  expect(port.rates).toEqual([]);
});

test('the next live stream may start far behind live, too, after a stream at an earlier position', () => {
  const { port, flow, request } = playing();
  flow.ended(request, 'whole', 0.1);
  flow.sourceEnded();
  port.play({}, { nowSeconds: 500, latencySeconds: 60 });
  const live = { nowSeconds: 500, firstChunkSeconds: 0.5, startSeconds: 440, segmentSeconds: 4 };
  flow.began({}, { isMedia: true, segment: port.segment(110), live });
  flow.played();
  wait(1);
  expect(port.rates).toEqual([0.95, undefined]);
});

test('the rate of a live stream is not asked for before the first picture, nor while the player has moved on to another period', () => {
  const { flow, controller, port } = requested();
  wait(1);
  flow.played();
  const { period } = port.now!;
  port.now = { ...port.now!, period: { ...period, id: 'p1' } };
  wait(1);
  expect(controller.states).toHaveLength(0);
  port.now = { ...port.now!, period };
  wait(0.1);
  expect(port.rates).toEqual([0.95]);
});

test.each<[string, (core: Playing) => void]>([
  [
    'the controller has no pace any more',
    ({ controller, flow, request }) => {
      Object.assign(controller, { pace: undefined });
      flow.ended(request, 'whole', 0.1);
    },
  ],
  ['the player gives no situation', ({ port }) => void Object.assign(port, { situation: broken })],
])("the player's catch-up goes on when %s", (_, end) => {
  const core = playing();
  end(core);
  wait(0.1);
  expect(core.port.rates).toEqual([0.95, undefined]);
  expect(core.flow.pacing!.pace).toBeUndefined();
  wait(2);
  expect(core.port.rates).toHaveLength(2);
});

test.each([
  ['throws', broken, 'broken'],
  ['returns nothing', () => undefined, 'a rate from 0.9 to 1.1 and a latency, got undefined and undefined s'],
  ['is too slow', () => ({ playbackRate: 0.89, jump: false, targetLatencySeconds: 3 }), 'got 0.89 and 3 s'],
  ['is no number', () => ({ playbackRate: Number.NaN, jump: false, targetLatencySeconds: 3 }), 'got NaN and 3 s'],
  ['has no target', () => ({ playbackRate: 1, jump: true, targetLatencySeconds: Infinity }), 'got 1 and Infinity s'],
])("the player's catch-up goes on after one fault, when the pace %s", (_, pace, message) => {
  const { port, flow, controller, events } = playing();
  controller.pace = pace as unknown as ScriptedPacing['pace'];
  wait(1);
  expect(port.rates).toEqual([0.95, undefined]);
  expect(port.jumps).toEqual([]);
  expect(events.faults).toMatchObject([{ code: 'controller-failed', message: expect.stringContaining(message) }]);
  controller.pace = ScriptedPacing.prototype.pace;
  wait(1);
  expect(port.rates).toHaveLength(2);
  // Its decisions still count.
  expect(flow.decide()).toBeDefined();
});

test("when a live stream becomes one on demand, the rate is the player's, and no timer is left", () => {
  const { port, flow, request } = playing();
  flow.ended(request, 'whole', 0.1);
  port.now = { ...port.now!, live: undefined };
  wait(0.1);
  expect(port.rates).toEqual([0.95, undefined]);
  expect(jest.getTimerCount()).toBe(0);
});

test("the player's catch-up goes on until the page switches catch-up on again", () => {
  const { port, paces } = playing();
  port.play({}, { isPaceable: false });
  wait(0.1);
  port.play({}, { isPaceable: true });
  wait(0.1);
  expect(port.rates).toEqual([0.95, undefined, 0.95]);
  expect(paces).toHaveLength(2);
});

test('a jump goes to the latency of the pace at rate 1, and not again until the player has had time', () => {
  const { port, controller, paces } = playing();
  controller.more = { jump: true, targetLatencySeconds: 2.5 };
  wait(4.9);
  expect(port.jumps).toEqual([2.5]);
  expect(port.rates).toEqual([0.95, 1]);
  expect(paces.map(({ pace }) => pace.jump)).toEqual([false, true]);
  wait(0.2);
  expect(port.jumps).toEqual([2.5, 2.5]);
});

test.each<[string, Partial<LivePosition>, waits: boolean]>([
  ['waits in a stream that has just begun', { latencySeconds: 0.7, playbackRates: { min: 0.5, max: 1.5 } }, true],
  ['waits where its lowest rate is slow', { latencySeconds: 1.6 }, true],
  ['plays at its lowest rate where that suffices', { latencySeconds: 2.1 }, false],
])('far below its target, playback %s', async (_, live, waits) => {
  const port = livePort(live);
  port.play({ bufferLevelSeconds: 0 });
  const core = requested(new ScriptedPacing(), port);
  await Promise.resolve();
  // Before the first picture.
  expect(port.rates).toEqual(waits ? [0] : []);
  core.flow.played();
  port.play({ bufferLevelSeconds: 2.5, playbackRate: 1 });
  wait(1);
  expect(port.rates.at(-1)).toBe(waits ? 0 : 0.95);
  port.play({ playbackRate: 1 }, { latencySeconds: 2.97 });
  wait(0.1);
  if (waits) expect(port.rates.slice(-3)).toEqual([0, 1, 0.95]);
  // Later, with so much to play, the rate alone leads to the target.
  port.play({}, { latencySeconds: 1.6 });
  wait(2);
  port.play({ bufferLevelSeconds: 0.4 });
  expect(port.rates.at(-1)).toBe(0.95);
  wait(2);
  expect(port.rates.at(-1)).toBe(0.95);
  port.play({}, { latencySeconds: 0.7 });
  wait(2);
  expect(port.rates.at(-1)).toBe(0);
  core.flow.stop();
  expect(port.rates.at(-1)).toBeUndefined();
});

afterEach(() => {
  jest.restoreAllMocks();
  Reflect.deleteProperty(globalThis, 'document');
});

test('in a hidden tab the rate is 1 unless playback is late, and progress events replace the timer', async () => {
  const { port, flow, controller, request } = playing();
  Object.assign(globalThis, { document: { hidden: true } });
  await Promise.resolve();
  wait(0.1);
  expect(port.rates).toEqual([0.95, 1]);
  controller.rate = 1.1;
  wait(2);
  expect(port.rates).toEqual([0.95, 1]);
  port.play({}, { latencySeconds: 4.1 });
  // A throttled timer: time passes, and nothing runs.
  const asked = controller.states.length;
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 1000);
  for (const totalBits of [1000, 2000]) {
    flow.progressed(request, { totalBits });
    await Promise.resolve();
    expect(controller.states).toHaveLength(asked + 1);
  }
  expect(port.rates).toEqual([0.95, 1, 1.1]);
});

test('the event has all inputs, and comes when the rate or, once a second, the target changes', () => {
  const { flow, controller, paces, request } = playing();
  expect(paces[0]).toEqual({
    session: 1,
    pace: { playbackRate: 0.95, jump: false, targetLatencySeconds: 3, reason: 'scripted' },
    playbackRate: 0.95,
    state: controller.states[0],
    inFlight: expect.objectContaining({ segmentIndex: 0, bitrateBps: 1e6, receivedBits: 0 }),
    forecast: undefined,
  });
  flow.ended(request, 'whole', 0.1);
  for (let tick = 1; tick <= 30; tick++) {
    controller.more = { targetLatencySeconds: 3 + tick / 100 };
    wait(0.1);
  }
  expect(paces).toHaveLength(4);
  controller.rate = 1;
  wait(0.1);
  expect(paces.at(-1)).toMatchObject({ playbackRate: 1 });
  controller.rate = 1.05;
  wait(0.5);
  expect(paces).toHaveLength(5);
  wait(0.6);
  expect(paces.at(-1)).toMatchObject({ playbackRate: 1.05, inFlight: undefined });
  expect(paces).toHaveLength(6);
});
