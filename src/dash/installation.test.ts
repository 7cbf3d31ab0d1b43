import { describe, expect, test } from '@jest/globals';
import { createMpcL } from '../../abr/mpc-l/mpc-l.ts';
import { useManualClock } from '../core/manual-clock.fixture.ts';
import { Scripted, Steady } from '../core/scripted.fixture.ts';
import { attachLeoAbr, type ChangeableOptions, type DashPlayer } from '../index.ts';
import { attached, download } from './attached.fixture.ts';
import { FakePlayer } from './fake-player.fixture.ts';

useManualClock();

describe('attachLeoAbr', () => {
  test('another source begins another session', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.ask();
    download(player, 0, 0, 3e6, 1);
    player.trigger('streamTeardownComplete');
    player.ask();
    expect(controller.states[1]).toMatchObject({ nowSeconds: 0, segmentIndex: 0, downloads: [], started: false });
    expect(controller.states[1]!.previousBitrateBps).toBeUndefined();
    expect(controller.states[1]!.upcomingSizesBits[0]![0]).toBe(4e6);
  });

  test('a reset player gets rule and settings again, at once or with its next manifest', async () => {
    const { player, handle } = attached({ controller: new Scripted() });
    const reset = () => {
      player.trigger('streamTeardownComplete');
      player.rules = [];
      player.instances = [];
      Object.assign(player.settings, new FakePlayer().settings);
    };
    reset();
    await Promise.resolve();
    expect(player.rules).toHaveLength(1);
    expect(player.settings.streaming.cacheInitSegments).toBe(true);
    reset();
    player.trigger('manifestLoadingStarted');
    await Promise.resolve();
    expect(player.rules).toHaveLength(1);
    handle.detach();
    reset();
    player.trigger('manifestLoadingStarted');
    await Promise.resolve();
    expect(player.rules).toHaveLength(0);
    expect(player.settings.streaming.cacheInitSegments).toBe(false);
  });

  test('detaching removes rules, listeners and settings for good', () => {
    const player = new FakePlayer();
    const before = structuredClone(player.settings);
    const { controller, handle } = attached({ controller: new Scripted() }, player);
    handle.detach();
    handle.detach();
    expect(player.rules).toEqual([]);
    expect(player.settings).toEqual(before);
    expect(player.listenerCount).toBe(0);
    expect(player.ask()).toBeNull();
    expect(controller.states).toEqual([]);
    expect(handle.state.status).toBe('detached');
  });

  test("with the option `cmcd`, turns on dash.js's CMCD and adds the plugin's keys until it is detached", async () => {
    const url = 'https://media.example/0.m4s?CMCD=d%3D4000';
    const { player, handle, faults } = attached({
      cmcd: true,
      controller: new Scripted(),
      forecasters: [new Steady()],
    });
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
    expect(player.interceptors).toEqual([]);
    expect(await intercept!({ url })).toEqual({ url });
  });

  test('detaching from a player that throws is silent', () => {
    const player = new FakePlayer();
    const { handle } = attached({}, player);
    player.getSettings = player.removeABRCustomRule = () => {
      throw new Error('destroyed');
    };
    expect(() => handle.detach()).not.toThrow();
  });

  test('a second attachment and an unsupported player cause one fault each and no change', async () => {
    const { player } = attached();
    const again = attached({}, player);
    const refusing = new FakePlayer();
    refusing.addABRCustomRule = () => {
      throw new Error('no');
    };
    const refused = attached({}, refusing);
    await Promise.resolve();
    expect(again.faults.map(({ code }) => code)).toEqual(['already-attached']);
    expect(again.handle.state.status).toBe('inactive');
    expect(refused.faults).toMatchObject([
      { code: 'unsupported-player', message: 'the player refused the plugin: no' },
    ]);
    again.handle.detach();
    expect(player.rules).toHaveLength(1);
  });
});

describe('handle.set', () => {
  /** One slow download on a link with an uncertain forecast. */
  function afterOneDownload() {
    const vague = new Steady();
    const latest = (nowSeconds: number) => ({
      ...Steady.prototype.latest(nowSeconds),
      quantilesBps: [[4e6, 5e6, 3e7]],
    });
    const seen = attached({ forecasters: [Object.assign(vague, { latest })], prior: false });
    seen.player.ask();
    download(seen.player, 0, 0, 4e6, 1);
    seen.player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 4 });
    return seen;
  }

  test('the next decision uses the new options and earlier measurements', () => {
    const { player, handle, decisions } = afterOneDownload();
    handle.set({ risk: 1 });
    player.ask();
    const { state, forecast, decision } = decisions[1]!;
    expect(state.downloads).toMatchObject([{ receivedBits: 4e6, downloadSeconds: 1 }]);
    expect(decision).toEqual(createMpcL({ risk: 1 }).decide(state, forecast));
    expect(decision).not.toEqual(createMpcL().decide(state, forecast));
    handle.set({ risk: undefined, qoe: 'log' } as unknown as ChangeableOptions);
    player.ask();
    expect(decisions[2]!.decision).toEqual(createMpcL().decide(decisions[2]!.state, forecast));
    expect(decisions[2]!.state.weights.quality(state.ladderBps[0]!)).toBe(0);
    expect(handle.state.session).toBe(1);
  });

  test.each([
    [{ seed: 3 }, 'options.seed: expected a change of risk, watchSeconds, abandon, maxWastedShare, horizon, qoe, live, got 3'],
    [{ risk: 2 }, 'options.risk: expected a number from 0 to 1, got 2'],
    [{ risk: 1, live: 3 }, 'options.live: expected an object, got 3'],
    [{ risk: 1, horizon: 0 }, 'options.horizon: expected a whole number from 1 to 20, got 0'],
  ])('%j is refused, and nothing changes', (change, message) => {
    const { player, handle, decisions } = afterOneDownload();
    player.ask();
    expect(() => handle.set(change as ChangeableOptions)).toThrow(message);
    // A seek, so that the question is a new one.
    player.trigger('playbackSeeking');
    player.ask();
    const { state, forecast, decision } = decisions[2]!;
    expect(decision).toEqual(createMpcL().decide(state, forecast));
  });

  test('an option of mpc-l with another controller is refused; on an unsupported player, set() has no effect', () => {
    const { handle } = attached({ controller: 'mpc-d' });
    expect(() => handle.set({ risk: 0.5 })).toThrow('options.risk: expected controller mpc-l beside it, got "mpc-d"');
    handle.detach();
    handle.set({ qoe: 'log' });
    attachLeoAbr(undefined as unknown as DashPlayer, { logger: null }).set({ risk: 1 });
  });
});

describe('forecasts', () => {
  test('mpc-l uses them; its decisions and the state name them', () => {
    const { player, handle, decisions } = attached({ forecasters: [new Steady()], prior: false });
    player.ask();
    download(player, 0, 0, 4e6, 0.5);
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 4 });
    expect(player.ask()).toBe('v2');
    expect(decisions.map(({ decision }) => [decision.controller, decision.forecastSource])).toEqual([
      ['mpc-l', 'steady'],
      ['mpc-l', 'steady'],
    ]);
    expect(decisions[1]).toMatchObject({
      decision: { forecastAgeSeconds: 0, handoverInHorizon: false },
      forecast: { source: 'steady', issuedAtMs: 500 },
    });
    expect(decisions[1]!.decision.candidates).toHaveLength(3);
    expect(handle.state).toMatchObject({ controller: 'mpc-l', forecast: { source: 'steady' } });
  });

  test('mpc-l uses the built-in forecaster if the page has none', () => {
    const { player, decisions, faults } = attached();
    player.ask();
    download(player, 0, 0, 4e6, 2);
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 4 });
    player.ask();
    expect(decisions.map(({ decision }) => decision.forecastSource)).toEqual([undefined, 'built-in']);
    expect(decisions.map(({ decision }) => decision.controller)).toEqual(['mpc-l', 'mpc-l']);
    expect(faults).toEqual([]);
  });
});
