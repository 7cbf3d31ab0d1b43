import { expect, jest, test } from '@jest/globals';
import { adapted, livePort } from './fake-port.fixture.ts';
import { broken, Scripted, ScriptedAbandoning, Steady, useManualClock } from './scripted.fixture.ts';

useManualClock();

const now = (utcMs: number) => ({ now: () => ({ utcMs, uncertaintySeconds: 1 }) });

test("another source begins a session without the last one's records, and forecasting starts once in it", () => {
  const steady = new Steady();
  const core = adapted({ forecasters: [steady], prior: false, timeSource: now(1e12), seed: 7 });
  const { port, session, clock, planner, decisions, downloads, sourceEnded } = core;
  decisions.decide();
  decisions.decide();
  expect(steady.contexts).toEqual([{ seed: 7, utcMsAtStart: 1e12, utcUncertaintySeconds: 1 }]);
  downloads.requested({}, { isMedia: true, segment: port.segment(0) });
  const { controller } = planner;
  const forecast = expect.objectContaining({ source: 'steady' });
  expect(session.record).toMatchObject({ number: 1, decision: { controller: 'mpc-l' }, forecast });
  sourceEnded();
  const none = { decision: undefined, forecast: undefined, requestedBits: 0, measured: [] };
  expect(session.record).toMatchObject({ number: 2, started: false, ...none });
  expect(planner.controller).not.toBe(controller);
  expect(clock.nowSeconds()).toBe(0);
  decisions.decide();
  expect(steady.contexts).toHaveLength(2);
});

test('a time source that fails is one fault, and UTC is unknown', () => {
  const steady = new Steady();
  const options = { controller: new Scripted(), forecasters: [steady], timeSource: now(Number.NaN) };
  const { decisions, clock, events } = adapted(options);
  decisions.decide();
  expect(steady.contexts).toEqual([{ seed: 1 }]);
  expect(clock.read()).toEqual({ nowSeconds: 0 });
  expect(events.faults.map(({ message }) => message)).toEqual(['the time source failed: NaN +- 1']);
});

test('a seek before the first picture does not count', () => {
  const { port, session, downloads } = adapted({ controller: new Scripted() });
  downloads.requested({}, { isMedia: true, segment: port.segment(0) });
  expect([session.seeked(), session.record.last !== undefined]).toEqual([false, true]);
  session.playing();
  expect([session.seeked(), session.record.last]).toEqual([true, undefined]);
});

test("an error in a handler is one fault with the player's name, and no handler runs after the end", () => {
  const { guard, events, stop } = adapted({ controller: new Scripted() });
  expect([guard(() => 3), guard(broken)]).toEqual([3, undefined]);
  stop();
  expect(guard(() => 3)).toBeUndefined();
  expect(events.faults).toMatchObject([{ code: 'player-failed', message: 'the player is not as expected: broken' }]);
});

test('a page that detaches the plugin in its own forecaster leaves no timer', () => {
  const steady = new Steady();
  const { port, downloads, stop } = adapted({ controller: new ScriptedAbandoning(), forecasters: [steady] });
  steady.start = stop;
  downloads.requested({}, { isMedia: true, segment: port.segment(0) });
  expect(jest.getTimerCount()).toBe(0);
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
    core.downloads.requested({}, { isMedia: true, segment: port.segment(index), live: media });
    for (let i = 0; i < 10; i++) await Promise.resolve();
    core.session.forgetChoice();
    core.decisions.decide();
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
