import { expect, jest, test } from '@jest/globals';
import { adapted, FakePort, livePort } from './fake-port.fixture.ts';
import type { LiveMedia } from './player-port.ts';
import { broken, Scripted, ScriptedAbandoning, Steady, useManualClock, wait } from './scripted.fixture.ts';

useManualClock();

const now = (utcMs: number) => ({ now: () => ({ utcMs, uncertaintySeconds: 1 }) });

test("another source begins a session without the last one's records, and forecasting starts once in it", () => {
  const steady = new Steady();
  const core = adapted({ forecasters: [steady], prior: false, timeSource: now(1e12), seed: 7 });
  const { port, flow } = core;
  flow.decide();
  flow.decide();
  expect(steady.contexts).toEqual([{ seed: 7, utcMsAtStart: 1e12, utcUncertaintySeconds: 1 }]);
  flow.began({}, { isMedia: true, segment: port.segment(0) });
  const { controller } = flow;
  const forecast = expect.objectContaining({ source: 'steady' });
  expect(flow.session).toMatchObject({ number: 1, decision: { controller: 'mpc-l' }, forecast });
  flow.sourceEnded();
  const none = { decision: undefined, forecast: undefined, requestedBits: 0, downloads: [] };
  expect(flow.session).toMatchObject({ number: 2, started: false, ...none });
  expect(flow.controller).not.toBe(controller);
  expect(flow.clock.nowSeconds()).toBe(0);
  flow.decide();
  expect(steady.contexts).toHaveLength(2);
});

test('a time source that fails is one fault, and UTC is unknown', () => {
  const steady = new Steady();
  const options = { controller: new Scripted(), forecasters: [steady], timeSource: now(Number.NaN) };
  const { flow, events } = adapted(options);
  flow.decide();
  expect(steady.contexts).toEqual([{ seed: 1 }]);
  expect(flow.clock.read()).toEqual({ nowSeconds: 0 });
  expect(events.faults.map(({ message }) => message)).toEqual(['the time source failed: NaN +- 1']);
});

test('a seek before the first picture does not count', () => {
  const { port, flow } = adapted({ controller: new Scripted() });
  flow.began({}, { isMedia: true, segment: port.segment(0) });
  expect([flow.sought(), flow.session.last !== undefined]).toEqual([false, true]);
  flow.played();
  expect([flow.sought(), flow.session.last]).toEqual([true, undefined]);
});

test("an error in a handler is one fault with the player's name, and no handler runs after the end", () => {
  const { flow, events } = adapted({ controller: new Scripted() });
  expect([flow.guard(() => 3), flow.guard(broken)]).toEqual([3, undefined]);
  flow.stop();
  expect(flow.guard(() => 3)).toBeUndefined();
  expect(events.faults).toMatchObject([{ code: 'player-failed', message: 'the player is not as expected: broken' }]);
});

test('a page that detaches the plugin in its own forecaster leaves no timer', () => {
  const steady = new Steady();
  const { port, flow } = adapted({ controller: new ScriptedAbandoning(), forecasters: [steady] });
  steady.start = () => flow.stop();
  flow.began({}, { isMedia: true, segment: port.segment(0) });
  expect(jest.getTimerCount()).toBe(0);
});

test('on demand, the position in the epoch is followed only for CMCD and for those who watch paces', () => {
  const follows = (cmcd: boolean, type: 'decision' | 'pace', live?: LiveMedia) => {
    const { flow, port, events } = adapted({ prior: false, cmcd }, live && livePort());
    events.on(type, () => {});
    flow.began(port, { isMedia: true, segment: port.segment(0), live });
    for (const totalBits of [1e6, 2e6, 4e6]) {
      wait(0.3);
      flow.progressed(port, { totalBits });
    }
    flow.decide();
    return 'fluctuation' in flow.session.forecast!;
  };
  const media = { startSeconds: 98, segmentSeconds: 2, nowSeconds: 100, firstChunkSeconds: 0.5 };
  expect([follows(false, 'decision'), follows(false, 'pace')]).toEqual([false, true]);
  expect([follows(true, 'decision'), follows(false, 'decision', media)]).toEqual([true, true]);
});

test('the sizes of a live stream are read again while it plays, and the plan has them', async () => {
  const port = livePort();
  port.now!.bufferedUntilSeconds = 100;
  const media = { startSeconds: 0, segmentSeconds: 4, nowSeconds: 100, firstChunkSeconds: 0.5 };
  const files = [[1e6, 1e6], [1e6, 1e6, 2e6, 3e6], undefined];
  const fetched = jest.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    const list = files.shift();
    const json = async () => ({ firstIndex: 1, representations: { v0: list } });
    return { ok: list !== undefined, status: 500, json } as Response;
  });
  const core = adapted({ controller: new Scripted(), sizes: 'https://media.example/sizes.json' }, port);
  const request = async (index: number) => {
    core.flow.began({}, { isMedia: true, segment: port.segment(index), live: media });
    for (let i = 0; i < 10; i++) await Promise.resolve();
    core.flow.session.choice = undefined;
    core.flow.decide();
    const { upcomingSizesBits } = core.controller.states.at(-1)!;
    return upcomingSizesBits.slice(0, 3).map((row) => row[0]! / 8e6);
  };
  const modelled = 0.5;
  expect(await request(0)).toEqual([1, 1, modelled]);
  expect(await request(1)).toEqual([1, modelled, modelled]);
  expect(fetched).toHaveBeenCalledTimes(1);
  expect(await request(2)).toEqual([2, 3, modelled]);
  // A file that fails leaves those that are known.
  for (const index of [2, 2, 2]) expect(await request(index)).toEqual([2, 3, modelled]);
  expect(fetched).toHaveBeenCalledTimes(3);
  expect(core.events.faults.map(({ code }) => code)).toEqual(['sizes-unusable']);
  fetched.mockRestore();
});

test.each([
  ['a file with durations', { v0: { bytes: [1e6, 2e6], seconds: [4, 4] } }, 16e6],
  ['what is learnt of quiet scenes', { other: [1] }, 0.8 * 4e6],
])('a live request under way is as large as its segment in the plan: by %s', async (_, representations, sizeBits) => {
  const controller = new ScriptedAbandoning();
  const { flow, port } = adapted({ controller, sizes: { firstIndex: 60, representations } }, livePort());
  const live = { startSeconds: 0, segmentSeconds: 4, nowSeconds: 100, firstChunkSeconds: 0.5 };
  await Promise.resolve();
  for (let index = 0; index <= 61; index++) {
    flow.began(port, { isMedia: true, segment: port.segment(index), live });
    wait(0.1);
    flow.progressed(port, { totalBits: 0.2 * 4e6 });
    flow.ended(port, 'whole', 0.1);
  }
  expect(controller.inFlights.at(-1)).toMatchObject({ segmentIndex: 61, sizeBits });
  expect(controller.states.at(-1)!.upcomingSizesBits[0]![0]).toBe(sizeBits);
});

test.each([
  [4, 8, 16],
  [2, 60, 16],
  [1, 20, 22],
  [1, 60, 32],
])(
  'with segments of %d s and a buffer of %d s, a plan has sizes and qualities of %d segments',
  async (seconds, cap, count) => {
    const v0 = Array.from({ length: 60 }, (_, i) => i + 1);
    const files = { sizes: { representations: { v0 } }, quality: { representations: { v0: { quality: v0 } } } };
    const { flow, port, controller } = adapted({ controller: new Scripted(), qoe: 'perceived', ...files });
    const { period, ladder } = port.now!;
    port.now = { ...port.now!, period: { ...period, segmentCount: 60 }, ladder: ladder.slice(0, 1) };
    port.play({ segmentSeconds: seconds, bufferCapSeconds: cap });
    await Promise.resolve();
    flow.decide();
    const { upcomingSizesBits, upcomingQualities } = controller.states[0]!;
    expect(upcomingSizesBits.flat()).toEqual(v0.slice(0, count).map((bytes) => 8 * bytes));
    expect(upcomingQualities!.flat()).toEqual(v0.slice(0, count));
  },
);

test.each(['sourceEnded', 'stop'] as const)('a choice counts for nothing if the controller leads to %s()', (end) => {
  const { flow, port, events, controller } = slowDownload();
  flow.events.on('decision', () => flow[end]());
  wait(0.2);
  expect([controller.inFlights.length, port.abandoned, events.faults]).toEqual([1, [], []]);
  expect(flow.decide()).toBeUndefined();
});

const CHOICE = { representationId: 'v0', message: 'scripted: scripted' };

/** `asked`: how often the controller has been asked after another decision; `requests`: a segment of the port. */
function scripted(port = new FakePort(), controller = new ScriptedAbandoning()) {
  const core = adapted({ controller }, port);
  const asked = () => {
    core.flow.decide();
    return controller.states.length;
  };
  const requests = (index: number, representation?: number) => {
    const request = {};
    core.flow.began(request, { isMedia: true, segment: port.segment(index, representation) });
    return request;
  };
  return { ...core, asked, requests, messages: () => core.events.faults.map(({ message }) => message) };
}

test('decide asks for the situation of a first segment, whose ladder the page may restrict', () => {
  const { port, flow, controller, asked, requests } = scripted();
  asked();
  requests(0);
  asked();
  flow.sourceEnded();
  port.now = { ...port.now!, playableUntilSeconds: 9 };
  asked();
  expect(controller.states.map(({ segmentIndex }) => segmentIndex)).toEqual([0, 1, 2]);
  expect(port.firsts).toEqual([true, false, true]);
});

test('a bitrate that the stream does not declare has no price before a size is learnt', () => {
  const prices = ([{ isEstimated: true }, {}] as const).map((more) => {
    const port = new FakePort();
    port.now = { ...port.now!, ladder: port.now!.ladder.map((one) => ({ ...one, ...more })) };
    const controller = new ScriptedAbandoning();
    adapted({ controller, qoe: 'perceived', saveData: 3 }, port).flow.decide();
    return controller.states[0]!.weights.pricePerMbps;
  });
  expect(prices).toEqual([0, 3]);
});

test('decide asks the controller once per segment on demand, if the player asks again and again', () => {
  const core = scripted(Object.assign(new FakePort(), { isPolled: true }));
  const { flow, controller, port, asked, requests, events } = core;
  asked();
  port.play({ bufferLevelSeconds: 1 });
  expect([flow.decide(), asked()]).toEqual([CHOICE, 1]);
  requests(0);
  expect(asked()).toBe(2);
  controller.instead = 1;
  wait(0.1);
  expect([port.abandoned[0]?.representationId, flow.decide()]).toEqual(['v1', CHOICE]);
  controller.reconsider = () => undefined as never;
  wait(1.1);
  expect([port.abandoned.length, events.faults]).toMatchObject([1, [{ code: 'controller-failed' }]]);
});

test('decide asks the controller once per segment of a live stream, unless something new is known', () => {
  const core = scripted(livePort({ latencySeconds: 8, targetLatencySeconds: 8, nowSeconds: 8, firstChunkSeconds: 4 }));
  const { port, flow, asked, requests, emitted } = core;
  port.play({ bufferLevelSeconds: 0 });
  expect(asked()).toBe(1);
  port.play({ bufferLevelSeconds: 1, playbackRate: 1.05 });
  expect([asked(), asked(), emitted.length]).toEqual([1, 1, 1]);
  expect(flow.decide()).toEqual(CHOICE);
  const changes = [{ bufferLevelSeconds: 7 }, { bufferCapSeconds: 1 }, { playbackRate: 2 }, { isPaused: true }];
  for (const [i, change] of changes.entries()) {
    port.play(change);
    expect(asked()).toBe(2 + i);
  }
  port.now = { ...port.now!, ladder: port.now!.ladder.slice(1) };
  expect(asked()).toBe(6);
  port.now = { ...port.now!, period: { ...port.now!.period, id: 'p1' } };
  expect(asked()).toBe(7);
  const request = requests(0);
  expect([asked(), asked()]).toEqual([8, 8]);
  flow.ended(request, 'failed', 1);
  expect(asked()).toBe(9);
  flow.played();
  flow.sought();
  expect(asked()).toBe(10);
  flow.renew();
  expect(asked()).toBe(11);
});

test('decide leaves the segment to the player if the controller fails or leaves the ladder, with one fault', () => {
  for (const [first, got] of [[() => undefined as never, undefined] as const, [3, 3] as const]) {
    const { flow, controller, messages, emitted } = scripted();
    for (const next of [first, broken]) {
      controller.next = next;
      expect(flow.decide()).toBeUndefined();
    }
    expect(messages()).toEqual([`the controller failed: expected a representation from 0 to 2, got ${got}`]);
    expect([emitted, flow.session.decision]).toEqual([[], undefined]);
  }
});

test.each([
  ['buffers without an end', { bufferCapSeconds: Infinity }, 'v2', []],
  ['buffers a day', { bufferCapSeconds: 86_400 }, 'v2', []],
  [
    'knows no duration of segments',
    { segmentSeconds: Number.NaN },
    undefined,
    [/^the player is not as expected: a segment of NaN s$/],
  ],
  ['has segments that end before they begin', { segmentSeconds: -4 }, undefined, [/ a segment of -4 s$/]],
  ['has segments of ages', { segmentSeconds: 1e15 }, undefined, [/ a segment of 1000000000000000 s$/]],
  ['has no clock', undefined, undefined, [/: performance\.now\(\) is NaN$/]],
])('a player that %s', (_, playback, expected, faults) => {
  const { port, flow, events } = adapted({});
  port.play({ bufferLevelSeconds: 8 });
  for (const index of [0, 1, 2]) {
    const request = {};
    flow.began(request, { isMedia: true, segment: port.segment(index) });
    for (const totalBits of [4e6, 8e6]) {
      wait(0.2);
      flow.progressed(request, { totalBits });
    }
    flow.ended(request, 'whole', 0.4);
  }
  port.play(playback ?? {});
  const clock = playback ? undefined : jest.spyOn(performance, 'now').mockReturnValue(Number.NaN);
  for (const _ of [0, 1]) expect(flow.guard(() => flow.decide())?.representationId).toBe(expected);
  clock?.mockRestore();
  expect(events.faults.map(({ message }) => message)).toEqual(faults.map((one) => expect.stringMatching(one)));
});

test('decide leaves segments to the player after three unmeasured downloads, until one is measured', () => {
  const { flow, requests, messages } = scripted();
  for (const index of [0, 1, 2]) {
    expect(flow.decide()).toEqual(CHOICE);
    flow.ended(requests(index), 'whole', 1);
  }
  expect([flow.decide(), flow.session.requestedBits]).toEqual([undefined, 0]);
  expect(messages()).toEqual(['no download could be measured: the player decides']);
  const request = requests(3);
  wait(1);
  flow.progressed(request, { totalBits: 4e6 });
  flow.ended(request, 'whole', 1);
  expect(flow.decide()).toEqual(CHOICE);
});

test('reconsider asks a controller that keeps the download for certain after that time, and anew for another download', () => {
  const { flow, controller, port, requests } = scripted();
  let keeps = 1;
  Object.assign(controller, { keepsForSeconds: () => keeps });
  const asked = (ticks: number) => {
    const before = controller.inFlights.length;
    wait(ticks / 10);
    return controller.inFlights.length - before;
  };
  requests(3, 2);
  expect(asked(25)).toBe(3);
  expect(port.firsts).toHaveLength(3);
  keeps = 0.15;
  requests(3, 2);
  expect(asked(4)).toBe(2);
  keeps = 0;
  expect(asked(4)).toBe(4);
  controller.next = () => ({ representation: 2, controller: 'scripted', reason: '', keepsForSeconds: 0.25 });
  flow.decide();
  requests(3, 2);
  expect(asked(4)).toBe(2);
});

test('a download of a period that the player has left is not reconsidered', () => {
  const { controller, port, requests } = scripted();
  requests(9);
  port.now = { ...port.now!, period: { ...port.now!.period, id: 'p1', startSeconds: 40, firstIndex: 10 } };
  wait(0.2);
  expect(controller.inFlights).toEqual([]);
});

/** A segment of the top representation is in flight; the controller prefers the lowest one. */
function slowDownload() {
  const controller = new ScriptedAbandoning();
  controller.instead = 0;
  const forecaster = new Steady();
  const core = adapted({ controller, forecasters: [forecaster] });
  const request = {};
  core.flow.began(request, { isMedia: true, segment: core.port.segment(0, 2) });
  return { ...core, controller, request, forecaster };
}

test('a video download in flight is abandoned at the next tick, and again only if the player has not answered for a second', () => {
  const { port, flow, request, forecaster } = slowDownload();
  flow.played();
  flow.sought();
  flow.progressed(request, { addedBits: 8000 });
  wait(0.1);
  expect(port.abandoned).toEqual([{ representationId: 'v0', message: 'scripted: slow' }]);
  wait(0.9);
  expect(port.abandoned).toHaveLength(1);
  // The page's forecasters hear of an outage meanwhile.
  expect(forecaster.observations.at(-1)).toMatchObject({ kind: 'throughput', bits: 0, endSeconds: 0.8 });
  wait(0.2);
  expect(port.abandoned).toHaveLength(2);
  // The seek has not ended it.
  flow.ended(request, 'abandoned');
  expect(flow.session).toMatchObject({ abandonments: 1, wastedBits: 8000 });
});

test.each(['download', 'source', 'plugin'])('a video download in flight is reconsidered until the %s ends', (what) => {
  const { flow, request } = slowDownload();
  expect(jest.getTimerCount()).toBe(1);
  if (what === 'download') flow.ended(request, 'abandoned', 1);
  else if (what === 'source') flow.sourceEnded();
  else flow.stop();
  expect(jest.getTimerCount()).toBe(0);
});
