import { expect, test } from '@jest/globals';
import { ScriptedAbandoning, Steady, useManualClock, wait } from '../../session/scripted.fixture.ts';
import type { LeoAbrOptions } from '../shaka.ts';
import { attached, FakePlayer, segmentAt, videoStream } from './fake-player.fixture.ts';

useManualClock();

/** The plugin in a player that has loaded its source after `prepare`, unless `load` loads another one. */
function loaded(
  options: LeoAbrOptions & { next?: number } = {},
  prepare: (player: FakePlayer) => unknown = () => {},
  load = (player: FakePlayer): void => player.load(),
) {
  const { next = 0, ...more } = options;
  const controller = new ScriptedAbandoning(next);
  const seen = attached({ controller, ...more });
  prepare(seen.player);
  load(seen.player);
  return { ...seen, controller, manager: () => seen.player.manager!, own: seen.player.own[0]! };
}

test('decides with a full buffer, when Shaka is about to request', () => {
  const { decisions, player } = loaded();
  for (const index of [0, 1, 2]) player.download(index, 1e6, 1);
  const counts = [0, 1.4, 1.6, 1.6].map((currentTime) => {
    player.media.currentTime = currentTime;
    player.media.emit('timeupdate');
    return decisions.length;
  });
  expect(counts).toEqual([3, 3, 4, 4]);
});

test.each([
  ['and Shaka gives the request up for another stream', 2, 'aborted', [1e6, 1e6, 1e6, 4e6]],
  ['and counts the request if Shaka completes it', 2, 'completed', [1e6, 1e6, 1e6, 1e6]],
  ['and leaves the request if it is for this stream', 0, 'completed', [1e6, 1e6, 1e6, 1e6]],
] as const)('decides at a request before the decision, %s', (_, next, end, measured) => {
  const { controller, player, decisions, manager } = loaded();
  for (const index of [0, 1, 2]) player.download(index, 1e6, 1);
  player.media.currentTime = 6;
  controller.next = next;
  const sent = player.send(3);
  expect(player.active).toBe(player.variants[next]);
  // Else Shaka would compare the sizes.
  expect(manager().getBandwidthEstimate()).toBe(next === 0 ? 1.5e6 : -1);
  wait(1);
  if (end === 'aborted') {
    sent.aborted();
    player.media.emit('timeupdate');
    player.download(3, 1e6, 1);
  } else {
    sent.arrived(1e6);
    sent.completed(1e6);
    player.appended(3);
  }
  expect(manager().getBandwidthEstimate()).toBeGreaterThan(0);
  expect(decisions.map(({ state }) => state.segmentIndex)).toEqual([0, 1, 2, 3, 4]);
  expect(decisions.at(-1)!.state.downloads.map(({ bitrateBps }) => bitrateBps)).toEqual(measured);
  // A representation without an answer would be avoided.
  expect(decisions.at(-1)!.state.setupSeconds).toBeUndefined();
});

test('decides neither after the last segment, nor on audio, nor in mid-download, nor after a seek in the buffer', () => {
  const { controller, player, decisions, manager } = loaded();
  player.emit('segmentappended', { contentType: 'audio', end: 4 });
  player.emit('segmentappended', { contentType: 'video', end: 40 });
  player.buffered = [{ start: 0, end: 4 }];
  player.media.currentTime = 2;
  player.plays();
  player.media.emit('seeking');
  player.send(0);
  controller.next = 2;
  expect(manager().chooseVariant()).toBe(player.variants[0]);
  manager().trySuggestStreams();
  expect(player.switches).toEqual([]);
  expect(decisions).toHaveLength(1);
});

test('decides on the next segment if Shaka nudges the playhead in the buffer, which the element lists late', () => {
  const { decisions, player } = loaded();
  player.download(0, 1e6, 1);
  player.plays();
  const sent = player.send(1);
  player.media.currentTime = 0.1;
  player.media.emit('seeking');
  sent.arrived(1e6);
  sent.completed(1e6);
  player.getBufferedInfo = () => ({ video: [{ start: 0, end: 8 }], total: [{ start: 0, end: 4 }] });
  player.appended(1);
  expect(decisions.map(({ state }) => state.segmentIndex)).toEqual([0, 1, 2]);
});

test('decides anew in mid-download if Shaka bans what is loading', () => {
  const { controller, player, decisions, manager, own } = loaded({ next: 2 });
  player.send(0);
  const rest = own.variants.filter((variant) => variant !== player.active);
  manager().setVariants(rest);
  controller.next = 0;
  expect(manager().chooseVariant()).toBe(rest[0]);
  expect(decisions).toHaveLength(2);
});

test.each([
  ['for 10 s instead of 30 after a failure', 30, 10],
  ["for the page's time", 20, 20],
  ["for Shaka's time if frames were dropped", 30, 30],
  ["for Shaka's time after a failure of another source", 30, 30, true],
])('a variant is banned %s', (_, maxDisabledTime, seconds, isOfAnother = false) => {
  const { player, manager } = loaded({}, ({ config }) => Object.assign(config.streaming, { maxDisabledTime }));
  const [banned, ...rest] = player.variants.slice(0, 3);
  if (seconds < 30 || isOfAnother) player.send(0).failed();
  if (isOfAnother) player.nextSource();
  banned!.disabledUntilTime = Date.now() / 1000 + maxDisabledTime;
  manager().setVariants(rest);
  expect(banned!.disabledUntilTime - Date.now() / 1000).toBeCloseTo(seconds);
});

test('a ban that Shaka ends without a word has ended', () => {
  const { player, manager, controller } = loaded();
  const [banned, ...rest] = player.variants.slice(0, 3);
  banned!.disabledUntilTime = Date.now() / 1000 + 20;
  manager().setVariants(rest);
  for (const index of [0, 1]) {
    player.download(index, 1e6, 0.5);
    expect(controller.states.at(-1)!.ladderBps).toHaveLength(2 + index);
    banned!.disabledUntilTime = 0;
  }
});

test.each([true, false])("the page's choice is played for a segment; buffer cleared: %s", (clearBuffer) => {
  const { player, decisions, controller } = loaded();
  for (const index of [0, 1, 2]) player.download(index, 1e6, 1);
  expect(decisions).toHaveLength(3);
  controller.next = controller.instead = 0;
  // As `selectVariantTrack()` does, while the buffer is full and a decision is due.
  player.active = player.variants[2];
  player.plays();
  if (clearBuffer) player.seeks(0);
  else player.media.currentTime = 6;
  player.media.emit('timeupdate');
  player.switches.length = controller.inFlights.length = 0;
  const sent = player.send(clearBuffer ? 0 : 3);
  wait(3);
  expect([player.switches, decisions.length, controller.inFlights.length]).toEqual([[], 3, 0]);
  sent.arrived(16e6);
  sent.completed(16e6);
  player.appended(clearBuffer ? 0 : 3);
  expect(player.switches).toEqual([player.variants[0]]);
  expect(decisions).toHaveLength(4);
});

test("the page's choice is not overridden by a segment of before, which Shaka appends yet", () => {
  const { player, controller } = loaded();
  const sent = player.send(0);
  wait(1);
  player.active = player.variants[2];
  sent.completed(4e6);
  player.appended(0);
  expect(player.switches).toEqual([]);
  player.manager!.trySuggestStreams();
  player.download(1, 16e6, 1);
  expect([player.switches, controller.states.at(-1)!.previousBitrateBps]).toEqual([[player.variants[0]], 4e6]);
});

test("the page's choice counts while the page has switched adaptation off, and no longer", () => {
  const { player, controller, manager } = loaded();
  player.download(0, 4e6, 1);
  player.setAdaptive(false);
  player.active = player.variants[2];
  controller.next = 1;
  player.download(1, 16e6, 1);
  manager().trySuggestStreams();
  expect(player.switches).toEqual([player.variants[0]]);
  player.setAdaptive(true);
  expect(player.switches.at(-1)).toBe(player.variants[1]);
});

test.each([
  ["not within an interval of the page's", { switchInterval: 20 }, [1, 1, 1, 1, 1, 2]],
  ["at any time with Shaka's interval", {}, [1, 2, 1, 2, 1, 2]],
  ["not within Shaka's interval if it clears the buffer", { clearBufferSwitch: true }, [1, 1, 1, 2, 2, 2]],
])('a switch %s', async (_, settings, rungs) => {
  const { player, controller, own } = loaded({}, ({ config }) => Object.assign(config.abr, settings));
  own.getBandwidthEstimate = () => 9e6;
  const seen: number[] = [];
  for (const index of rungs.keys()) {
    controller.next = index % 2 ? 2 : 1;
    player.media.currentTime = 4 * index;
    player.download(index, 4e6, 4);
    await null;
    seen.push(player.variants.indexOf(player.active!));
  }
  expect(seen).toEqual(rungs);
});

test.each([
  ['what the page wishes, once Shaka has handled the segment', 3, [true, 3], 8],
  ['what the plan does without', 5, [true, 5], 5],
  ['nothing while no more than the margin is buffered', 9, [false, 0], 8],
] as const)(
  'a switch removes %s, and nothing at first or in an abandonment',
  async (_, margin, cleared, levelSeconds) => {
    const clearing = { clearBufferSwitch: true, safeMarginSwitch: margin };
    const { player, controller, manager, own } = loaded({}, ({ config }) => Object.assign(config.abr, clearing));
    own.getBandwidthEstimate = () => 9e6;
    controller.next = 1;
    player.download(0, 4e6, 1);
    expect(player.cleared).toEqual([[false, 0]]);
    controller.next = 2;
    player.download(1, 8e6, 8);
    await null;
    expect([player.cleared.at(-1), player.isStopped]).toEqual([cleared, false]);
    expect(controller.states.at(-1)!.bufferLevelSeconds).toBe(levelSeconds);
    player.send(2);
    controller.next = controller.instead = 0;
    wait(5);
    expect([player.cleared.at(-1), manager().getBandwidthEstimate()]).toEqual([[false, 0], -1]);
  },
);

test.each([0, 2])('whether the choice of %d is worth the buffer or not, a request has one decision', async (next) => {
  const clearing = { clearBufferSwitch: true, safeMarginSwitch: 5 };
  const { player, controller, decisions, handle } = loaded({}, ({ config }) => Object.assign(config.abr, clearing));
  player.download(0, 4e6, 1);
  controller.next = next;
  player.download(1, 8e6, 8);
  await null;
  expect(decisions.map(({ state }) => state.bufferLevelSeconds)).toEqual([0, 4, next === 0 ? 8 : 5]);
  expect(handle.state.decision).toBe(decisions.at(-1)!.decision);
});

test('if each switch costs the buffer, the plugin goes up only as far as Shaka would', async () => {
  const { player, decisions } = loaded({}, ({ config }) => Object.assign(config.abr, { clearBufferSwitch: true }));
  player.download(0, 4e6, 1);
  player.download(1, 4e6, 8);
  expect(decisions.map(({ state }) => state.ladderBps.length)).toEqual([3, 3, 1]);
});

test.each([true, false])(
  "nothing is decided while Shaka clears the buffer, also at Shaka's seek; requests: %s",
  async (requests) => {
    const { player, controller, decisions, manager, own } = loaded({}, ({ config }) =>
      Object.assign(config.abr, { clearBufferSwitch: true }),
    );
    own.getBandwidthEstimate = () => 9e6;
    player.plays();
    player.download(0, 4e6, 8);
    player.media.currentTime = 1;
    controller.next = 2;
    player.download(1, 4e6, 1);
    manager().trySuggestStreams();
    await null;
    player.bufferLevelSeconds = 0;
    player.media.emit('seeking');
    controller.instead = 0;
    if (requests) player.send(0);
    wait(1.9);
    player.media.emit('seeking');
    expect([decisions.length, player.active, player.cleared.at(-1)]).toEqual([3, player.variants[2], [true, 0]]);
    wait(2.2);
    // It cost the buffer, so it is loaded for a while; if Shaka has stopped, another clearing revives it.
    expect([player.active, player.cleared.at(-1)]).toEqual([player.variants[0], requests ? [false, 0] : [true, 1]]);
  },
);

test('a switch is decided anew when network or element have changed, but not in mid-download', () => {
  const { player, controller, own, decisions } = loaded();
  player.download(0, 4e6, 1);
  own.switchTo!(player.variants[1]!);
  controller.next = 2;
  own.switchTo!(player.variants[1]!);
  expect(player.switches.at(-1)).toBe(player.variants[2]);
  player.send(1);
  controller.next = 1;
  const { length } = decisions;
  own.switchTo!(player.variants[1]!);
  expect(decisions).toHaveLength(length);
  // What is loading is too large now.
  own.maxHeight = 800;
  own.switchTo!(player.variants[1]!);
  expect(player.switches.at(-1)).toBe(player.variants[1]);
  expect(decisions.at(-1)!.state.ladderBps).toEqual([1e6, 2e6]);
});

test('streams without bitrates and pictures are left to Shaka, with one fault', () => {
  const blank = { bandwidth: 0, width: 0, height: 0 };
  const { player, own, handle, decisions } = loaded({}, undefined, (player) => {
    player.load(player.variants.map((one) => ({ ...one, video: { ...one.video!, ...blank }, bandwidth: 0 })));
  });
  own.switchTo!(own.variants[1]!);
  expect([decisions, player.switches]).toEqual([[], [own.variants[1]]]);
  expect(handle.state).toMatchObject({ status: 'inactive', faults: [{ code: 'unsupported-stream' }] });
  player.nextSource();
  expect([decisions.length, handle.state.status]).toEqual([1, 'attached']);
});

test('the lowest representation may lack its bitrate', () => {
  const unnamed = { bandwidth: 1e5, video: videoStream(0, 0, 360) };
  const { controller, decisions, player } = loaded({}, ({ variants }) => Object.assign(variants[0]!, unnamed));
  controller.next = 1;
  player.download(0, 4e6, 1);
  const [lowest] = decisions[0]!.state.ladderBps;
  expect(decisions.at(-1)!.state.ladderBps).toEqual([lowest, 2e6, 4e6]);
  expect(lowest).toBeGreaterThan(5e5);
  // What is loaded has the bitrate that the ladder has.
  expect(decisions.at(-1)!.state.downloads[0]!.bitrateBps).toBe(lowest);
  expect(player.active).toBe(player.variants[1]);
});

test("Shaka's own manager bounds the ladder, which has the present audio, together with the page's limits", () => {
  const { controller, player, manager, own } = loaded({}, undefined, (player) => {
    player.load(player.variants);
    player.active = player.variants[3];
  });
  const ladder = (restrictions: object, maxHeight = 1e9) => {
    Object.assign(player.config.abr.restrictions, restrictions);
    own.maxHeight = maxHeight;
    manager().trySuggestStreams();
    return controller.states.at(-1)!.ladderBps;
  };
  expect(ladder({})).toEqual([1e6, 2e6, 4e6]);
  expect(player.switches.at(-1)).toBe(player.variants[3]);
  expect(ladder({ minHeight: 700, maxBandwidth: 2.2e6 })).toEqual([2e6]);
  expect(ladder({ maxBandwidth: 1 })).toEqual([1e6]);
  expect(ladder({ minHeight: 0, maxBandwidth: 1e9 }, 800)).toEqual([1e6, 2e6]);
  // Shaka takes the longer side of a portrait picture for its width.
  for (const { video } of player.variants) [video!.width, video!.height] = [video!.height!, video!.width!];
  expect(ladder({ maxHeight: 800 })).toEqual([1e6, 2e6]);
  // The manager's own estimate is back.
  expect(manager().getBandwidthEstimate()).toBe(1.5e6);
});

test("Shaka's own manager switches streams without video", () => {
  const { decisions, player, own } = loaded({}, ({ variants }) => {
    for (const variant of variants) variant.video = null;
  });
  own.switchTo!(own.variants[1]!);
  expect([decisions, player.switches]).toEqual([[], [own.variants[1]]]);
});

test("Shaka's own manager gets everything, also what the adapter does not know", () => {
  const { player, manager, own } = loaded();
  manager().segmentDownloaded(100, 5, true);
  manager().ofTomorrow();
  player.destroy();
  const calls = ['init 1', 'setVariants 1', 'enable', 'downloaded 5', 'ofTomorrow', 'stop', 'release'];
  expect(own.calls).toEqual(calls);
});

test('prefetching is limited while attached', () => {
  const limit = { segmentPrefetchLimit: 2 };
  const { player, handle } = loaded({}, ({ config }) => Object.assign(config.streaming, limit));
  expect(player.config.streaming.segmentPrefetchLimit).toBe(0);
  handle.detach();
  expect(player.config.streaming.segmentPrefetchLimit).toBe(2);
});

test("the option `cmcd` turns on Shaka's CMCD and adds the plugin's keys until it is detached", () => {
  const { player, handle } = loaded({ cmcd: true, forecasters: [new Steady()] });
  expect(player.config.cmcd.enabled).toBe(true);
  expect(decodeURIComponent(player.send(0).request.uris[0]!)).toBe(
    'https://media.example/0.m4s?CMCD=d=4000,leo.abr-cap=6000,leo.abr-src="steady"',
  );
  handle.detach();
  expect(player.config.cmcd.enabled).toBe(false);
});

test('another manager goes on after Shaka has saved a source as a preload', () => {
  const { controller, player, handle } = loaded();
  player.download(0, 4e6, 1);
  player.unloadAndSavePreload();
  const { left } = player;
  player.load();
  expect([handle.state.faults, player.left, handle.state.session]).toEqual([[], left, 2]);
  expect(controller.states.at(-1)).toMatchObject({ nowSeconds: 0, downloads: [] });
  player.destroy();
  expect([player.left, handle.state.session]).toEqual([0, 3]);
});

test('the manager of a preload chooses with the plugin, which goes on with it, and leaves nothing behind', () => {
  const { controller, player, handle, decisions } = loaded({ next: 1 }, undefined, (player) => player.preload().load());
  expect(player.active).toBe(player.variants[1]);
  expect([decisions.length, player.filters.size]).toEqual([1, 1]);
  controller.next = 2;
  player.download(0, 4e6, 1);
  expect(player.active).toBe(player.variants[2]);
  expect(handle.state).toMatchObject({ status: 'attached', session: 1, faults: [] });
  player.destroy();
  expect(player.left).toBe(0);
});

test("the manager of a preload while another source plays is Shaka's, and does not disturb it", () => {
  const { controller, player, handle, decisions } = loaded();
  const { left } = player;
  player.download(0, 4e6, 1);
  const next = player.variants.slice(0, 3).map((variant) => ({ ...variant, id: variant.id + 100 }));
  for (let i = 0; i < 5; i++) {
    const preload = player.preload(next);
    expect(preload.prefetched).toBe(next[0]);
    const { decision, session } = handle.state;
    const context = { type: 1, stream: videoStream(7, 3e6, 720), segment: segmentAt(0), isPreload: true };
    for (const filter of player.filters) filter(1, { uris: [], headers: {} }, context);
    if (i === 2) preload.destroy();
    const asked = controller.states.length;
    player.download(1, 4e6, 1);
    expect(controller.states.length).toBeGreaterThan(asked);
    expect(controller.states.at(-1)).toMatchObject({ segmentIndex: 2 });
    expect([decision, handle.state.session]).toEqual([expect.anything(), session]);
    if (i === 2) player.nextSource();
    else preload.load();
    controller.next = 1;
    player.download(0, 4e6, 1);
    expect(decisions.at(-1)).toMatchObject({ session: session + 1, state: { segmentIndex: 1 } });
    controller.next = 0;
  }
  expect([handle.state.faults, handle.state.status, player.left]).toEqual([[], 'attached', left]);
});

test("a manager is the page's after it has set another factory, which the status says", () => {
  const { player, handle } = loaded();
  player.manager!.release();
  player.manager = undefined;
  player.configure({ abrFactory: () => player.own[0]! });
  expect([handle.state.status, player.left]).toEqual(['inactive', 0]);
});

test("the manager of a second player with the same factory is Shaka's, and a second plugin in one player stays out", () => {
  const { player, handle, decisions } = loaded();
  const other = new FakePlayer();
  other.config.abrFactory = player.config.abrFactory;
  other.load();
  other.manager!.trySuggestStreams();
  expect(other.switches).toEqual([]);
  expect([player.active, decisions.length]).toEqual([player.variants[0], 1]);
  expect(handle.state.faults).toMatchObject([{ code: 'already-attached' }]);
  const second = attached({}, player);
  player.unload();
  player.manager = undefined;
  player.load();
  expect(second.handle.state).toMatchObject({ status: 'inactive', faults: [{ code: 'already-attached' }] });
  handle.detach();
  player.unload();
  player.manager = undefined;
  player.load();
  expect([second.handle.state.status, second.decisions.length]).toEqual(['attached', 1]);
});

test.each([false, true])(
  "Shaka's player for interstitials, with this one's factory and filters, is left to Shaka; in the same element: %s",
  (isSame) => {
    const { player, handle, decisions } = loaded();
    player.download(0, 4e6, 1);
    if (isSame) {
      player.unloadAndSavePreload();
      player.getMediaElement = () => null as never;
    }
    const { requestedBits } = handle.state;
    const { length } = decisions;
    const inner = new FakePlayer();
    inner.config.abrFactory = player.config.abrFactory;
    for (const filter of player.filters) inner.filters.add(filter);
    inner.load();
    inner.send(0);
    expect([handle.state.requestedBits, decisions.length]).toEqual([requestedBits, length]);
  },
);

test('a second plugin stays out, too, if another copy of the plugin on the page has made the factory', () => {
  const { player, factory, handle } = attached();
  // Known by its handle alone.
  player.configure({ abrFactory: Object.assign(() => factory(), { handle }) });
  const second = attached({}, player);
  player.load();
  expect([handle.state.status, second.handle.state.status]).toEqual(['attached', 'inactive']);
  expect(second.handle.state.faults).toMatchObject([{ code: 'already-attached' }]);
});

test("the manager is Shaka's in an unsupported player, with one fault", () => {
  const player = Object.assign(new FakePlayer(), { getBufferedInfo: undefined as never });
  const { factory, handle } = attached({}, player);
  expect(factory()).toBe(player.own[0]);
  const message = expect.stringContaining('getBufferedInfo()');
  expect(handle.state).toMatchObject({ status: 'inactive', faults: [{ code: 'unsupported-player', message }] });
});

test("a page's factory may call the plugin's, whenever it is set", () => {
  for (const isFirst of [true, false]) {
    const player = new FakePlayer();
    const abrFactory = () => made.factory();
    if (isFirst) player.configure({ abrFactory });
    const made = attached({}, player);
    player.configure({ abrFactory });
    player.load();
    expect([made.decisions.length, made.handle.state.status]).toEqual([1, 'attached']);
  }
});

test('is inactive until Shaka has made a manager; if Shaka plays without one, there is a fault', () => {
  const player = new FakePlayer();
  const { handle, decisions } = attached({}, player, false);
  player.load();
  expect(handle.state).toMatchObject({ status: 'inactive', faults: [] });
  player.download(0, 4e6, 1);
  player.download(1, 4e6, 1);
  expect(handle.state.faults).toMatchObject([
    { code: 'player-failed', message: expect.stringContaining('before load()') },
  ]);
  handle.detach();
  expect([player.left, decisions.length]).toEqual([0, 0]);
});
