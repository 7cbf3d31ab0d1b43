import { expect, test } from '@jest/globals';
import { createLiveMpcL } from '../../abr/mpc-l/live/live-mpc-l.ts';
import { broken, Scripted, Steady, useManualClock } from '../../session/scripted.fixture.ts';
import { attachLeoAbr, type ChangeableOptions } from '../index.ts';
import { asPlayer, attached, FakePlayer } from './fake-player.fixture.ts';

useManualClock();

test('a reset player gets rule and settings again, at once or with its next manifest', async () => {
  const { player, handle } = attached({ controller: new Scripted() });
  const resetThen = async (event?: string) => {
    player.nextSource();
    player.rules = [];
    player.instances = [];
    Object.assign(player.settings, new FakePlayer().settings);
    if (event) player.emit(event);
    await Promise.resolve();
    return [player.rules.length, player.settings.streaming.cacheInitSegments];
  };
  expect(await resetThen()).toEqual([1, true]);
  expect(await resetThen('manifestLoadingStarted')).toEqual([1, true]);
  handle.detach();
  expect(await resetThen('manifestLoadingStarted')).toEqual([0, false]);
});

test('dash.js asks for the first segment after a seek, too, once', async () => {
  const { player } = attached({ controller: new Scripted() });
  const addsInit = async () => {
    player.emit('initFragmentNeeded', { mediaType: 'video' });
    // As dash.js does after the event.
    player.isAsking = false;
    await Promise.resolve();
    return player.isAsking;
  };
  player.ask();
  player.plays();
  expect(await addsInit()).toBe(false);
  player.seeks(20);
  expect(await addsInit()).toBe(true);
  player.ask();
  expect(await addsInit()).toBe(false);
});

test('where the page removes all rules, the rule comes back, and its settings are restored', () => {
  const { player, handle } = attached({ controller: new Scripted() });
  player.rules = [];
  player.emit('manifestLoadingStarted');
  expect([player.rules.length, player.settings.streaming.cacheInitSegments]).toEqual([1, true]);
  handle.detach();
  expect(player.settings).toEqual(new FakePlayer().settings);
});

test('detaching is silent where the player throws', () => {
  const { player, handle } = attached({});
  player.getSettings = player.removeABRCustomRule = broken;
  handle.detach();
  expect(handle.state.faults).toEqual([]);
});

test("with the option `cmcd`, turns on dash.js's CMCD and adds the plugin's keys until it is detached", async () => {
  const url = 'https://media.example/0.m4s?CMCD=d%3D4000';
  const { player, handle, faults } = attached({ cmcd: true, controller: new Scripted(), forecasters: [new Steady()] });
  expect(player.settings.streaming.cmcd.enabled).toBe(true);
  player.ask();
  const [intercept] = player.interceptors;
  expect(await intercept!({ url, headers: {} })).toEqual({
    url: `${url}${encodeURIComponent(',leo.abr-cap=6000,leo.abr-src="steady"')}`,
    headers: {},
  });
  // A fault leaves the request as it is.
  expect(await intercept!({ url: 1 })).toEqual({ url: 1 });
  expect(faults).toMatchObject([{ code: 'player-failed' }]);
  handle.detach();
  expect(player.settings.streaming.cmcd.enabled).toBe(false);
  expect(await intercept!({ url })).toEqual({ url });
});

test('a second attachment and an unsupported player cause one fault each and no change', () => {
  const { player, handle } = attached();
  const again = attached({}, player);
  expect(again.handle.state).toMatchObject({ status: 'inactive', faults: [{ code: 'already-attached' }] });
  player.send(0);
  const before = structuredClone(player.settings);
  const refused = attached({}, Object.assign(new FakePlayer(), { addABRCustomRule: broken }));
  const fault = { code: 'unsupported-player', message: 'the player refused the plugin: broken' };
  expect(refused.handle.state.faults).toMatchObject([fault]);
  again.handle.detach();
  expect([player.rules.length, player.settings]).toEqual([1, before]);
  handle.detach();
  expect(player.left).toBe(0);
});

test('a second attachment takes over at the next request after the first one is detached', () => {
  const { player, handle } = attached();
  const again = attached({ controller: new Scripted(1), live: { targetLatencySeconds: 3 } }, player);
  again.handle.set({ live: {} });
  handle.detach();
  expect(player.ask()).toBeUndefined();
  player.send(0);
  player.instantiateRules();
  expect([player.ask(), again.handle.state.status]).toEqual([1, 'attached']);
  again.handle.detach();
  expect([player.left, player.settings]).toEqual([0, new FakePlayer().settings]);
});

/** One slow download on a link with an uncertain forecast; `next`: the next decision. */
function downloaded() {
  const latest = (nowSeconds: number) => ({ ...Steady.prototype.latest(nowSeconds), quantilesBps: [[4e6, 5e6, 3e7]] });
  const seen = attached({ forecasters: [Object.assign(new Steady(), { latest })], prior: false });
  const { player, decisions } = seen;
  player.ask();
  player.download(0, 4e6, 1);
  const next = () => {
    player.ask();
    return decisions.at(-1)!;
  };
  return { ...seen, next };
}

test('handle.set(): the next decision uses the new options and earlier measurements', () => {
  const { handle, next } = downloaded();
  handle.set({ risk: 1 });
  const { state, forecast, decision } = next();
  expect(state.downloads).toMatchObject([{ receivedBits: 4e6, downloadSeconds: 1 }]);
  expect(decision).toEqual(createLiveMpcL({ risk: 1 }).decide(state, forecast));
  expect(decision).not.toEqual(createLiveMpcL().decide(state, forecast));
  handle.set({ risk: undefined, qoe: 'log' });
  const after = next();
  expect(after.decision).toEqual(createLiveMpcL().decide(after.state, forecast));
  expect(after.state.weights.quality(state.ladderBps[0]!)).toBe(0);
  expect(handle.state.session).toBe(1);
});

test('handle.set(): the qualities of the page count while the objective is perceived QoE', () => {
  const { player, handle, controller } = attached({ controller: new Scripted(), qoe: 'linear', quality: () => 50 });
  const qualities = () => {
    player.ask();
    return controller.states.at(-1)!.upcomingQualities?.[0]?.[0];
  };
  expect(qualities()).toBeUndefined();
  handle.set({ qoe: 'perceived' });
  expect(qualities()).toBe(50);
  handle.set({ qoe: 'linear' });
  expect(qualities()).toBeUndefined();
});

const CHANGEABLE = 'risk, watchSeconds, abandon, maxWastedShare, horizon, qoe, live';
test('handle.set(): after changes that are refused, nothing has changed', () => {
  const { handle, next } = downloaded();
  const set = (change: object | null) => () => handle.set(change as ChangeableOptions);
  expect(set({ seed: 3 })).toThrow(`options.seed: expected a change of ${CHANGEABLE}, got 3`);
  const horizon = 'options.horizon: expected a whole number from 1 to 20, got 0';
  expect(set({ risk: 1, horizon: 0 })).toThrow(horizon);
  expect(set(null)).toThrow('change: expected an object, got null');
  const { state, forecast, decision } = next();
  expect(decision).toEqual(createLiveMpcL().decide(state, forecast));
});

test('handle.set(): an option of mpc-l with another controller is refused; on an unsupported player, set() has no effect', () => {
  const { handle } = attached({ controller: 'mpc-d' });
  expect(() => handle.set({ risk: 0.5 })).toThrow('options.risk: expected controller mpc-l beside it, got "mpc-d"');
  handle.detach();
  handle.set({ qoe: 'log' });
  const old = Object.assign(new FakePlayer(), { getVersion: () => '4.7.4' });
  attachLeoAbr(asPlayer(old), { logger: null }).set({ risk: 1 });
});
