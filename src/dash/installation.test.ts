import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Controller, Decision, InFlight, PlayerState } from '../../abr/controller.ts';
import type { Forecaster, Observation, SessionContext } from '../../abr/forecast.ts';
import type { DecisionEvent, FaultEvent } from '../core/events.ts';
import { attachLeoAbr, type LeoAbrOptions } from '../index.ts';
import { asPlayer, FakePlayer, fakeVideo, ranges } from './fake-player.fixture.ts';

const MS_PER_SECOND = 1000;

/** Says what it is told to, and keeps what it was shown. */
class Scripted implements Controller {
  readonly name = 'scripted';
  next: Decision | (() => Decision) = { representation: 0, controller: 'scripted', reason: 'told to' };
  instead: number | 'keep' | undefined;
  readonly states: PlayerState[] = [];
  readonly inFlights: InFlight[] = [];

  decide(state: PlayerState): Decision {
    this.states.push(state);
    return typeof this.next === 'function' ? this.next() : this.next;
  }
}

class ScriptedAbandoning extends Scripted {
  reconsider(state: PlayerState, inFlight: InFlight): Decision | 'keep' {
    this.states.push(state);
    this.inFlights.push(inFlight);
    return typeof this.instead === 'number'
      ? { representation: this.instead, controller: 'scripted', reason: 'slow' }
      : 'keep';
  }
}

/** Says a steady 8 Mbit/s. */
class Steady implements Forecaster {
  readonly name = 'steady';
  readonly contexts: SessionContext[] = [];
  readonly observations: Observation[] = [];

  start(context: SessionContext): void {
    this.contexts.push(context);
    this.observations.length = 0;
  }

  observe(observation: Observation): void {
    this.observations.push(observation);
  }

  latest(nowSeconds: number) {
    return {
      issuedAtMs: nowSeconds * MS_PER_SECOND,
      source: 'steady',
      stepEndsSeconds: [4],
      levels: [0.1, 0.5, 0.9],
      quantilesBps: [[6e6, 8e6, 10e6]],
      rankCorrelation: 0.5,
      handovers: [],
    };
  }
}

function attached(options: LeoAbrOptions = {}, player = new FakePlayer()) {
  const handle = attachLeoAbr(asPlayer(player), { logger: null, ...options });
  const decisions: DecisionEvent[] = [];
  const faults: FaultEvent[] = [];
  handle.on('decision', (event) => decisions.push(event));
  handle.on('fault', (event) => faults.push(event));
  player.instantiateRules();
  return { player, handle, decisions, faults };
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'], now: 1_700_000_000_000 });
});
afterEach(() => {
  jest.useRealTimers();
});

/** Time passes. */
const wait = (seconds: number) => jest.advanceTimersByTime(Math.round(seconds * MS_PER_SECOND));

/** A whole segment of `bits`, first byte after 50 ms, in `seconds` from its request on, with progress every 50 ms. */
function download(player: FakePlayer, index: number, representation: number, bits: number, seconds: number) {
  const startDate = new Date();
  const request = player.request(index, representation, { bytesTotal: bits / 8 });
  const events = Math.round(seconds / 0.05);
  for (let event = 1; event < events; event++) {
    wait(0.05);
    request.bytesLoaded = Math.max(1000, (bits / 8) * ((event - 1) / (events - 1)));
    player.trigger('loadingProgress', { request });
  }
  wait(seconds - (events - 1) * 0.05);
  Object.assign(request, { bytesLoaded: bits / 8, startDate, endDate: new Date() });
  player.trigger('fragmentLoadingCompleted', { request });
  return request;
}

describe('attachLeoAbr', () => {
  test('needs no window, and can be imported where there is none', () => {
    expect(typeof window).toBe('undefined');
  });

  test('shows the controller the player in seconds and bits, and dash.js its decision', () => {
    const controller = new Scripted();
    const { player, handle, decisions, faults } = attached({ controller });
    expect(player.ask()).toBe('v0');
    expect(controller.states[0]).toMatchObject({
      nowSeconds: 0,
      started: false,
      bufferLevelSeconds: 0,
      bufferCapSeconds: 18,
      segmentSeconds: 4,
      segmentIndex: 0,
      segmentsRemaining: 10,
      ladderBps: [1e6, 2e6, 4e6],
      previousBitrateBps: undefined,
      downloads: [],
    });
    expect(controller.states[0]!.upcomingSizesBits).toHaveLength(10);
    expect(controller.states[0]!.weights).toMatchObject({ mu: 4, lambda: 1 });

    download(player, 0, 0, 3e6, 1.5);
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 4 });
    player.element!.currentTime = 0.5;
    controller.next = { representation: 2, controller: 'scripted', reason: 'told to' };
    expect(player.ask()).toBe('v2');
    expect(controller.states[1]).toMatchObject({
      nowSeconds: 1.5,
      started: true,
      // What has been played since dash.js's last word on it is off.
      bufferLevelSeconds: 3.5,
      segmentIndex: 1,
      segmentsRemaining: 9,
      previousBitrateBps: 1e6,
      downloads: [
        {
          segmentIndex: 0,
          bitrateBps: 1e6,
          receivedBits: 3e6,
          sizeBits: 3e6,
          requestedAtSeconds: 0,
          downloadSeconds: 1.5,
          latencySeconds: 0.05,
          abandoned: false,
        },
      ],
    });
    // The ratio 3/4 of that segment is lent to all.
    expect(controller.states[1]!.upcomingSizesBits[0]).toEqual([3e6, 6e6, 12e6]);
    expect(decisions.map(({ kind, representationId, streamId }) => [kind, representationId, streamId])).toEqual([
      ['decide', 'v0', 'p0'],
      ['decide', 'v2', 'p0'],
    ]);
    expect(decisions[1]!.state).toBe(controller.states[1]);
    expect(handle.state).toMatchObject({
      status: 'attached',
      controller: 'scripted',
      session: 1,
      nowSeconds: 1.5,
      decision: controller.next,
      faults: [],
    });
    expect(faults).toEqual([]);
  });

  test('has no opinion on audio and text, and none in instances that dash.js has replaced', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    expect(player.ask('audio')).toBeNull();
    expect(player.ask('text')).toBeNull();
    player.instantiateRules();
    player.instantiateRules();
    expect(player.ask()).toBe('v0');
    expect(controller.states).toHaveLength(1);
  });

  test('the rule answers as dash.js wants it', () => {
    const { player } = attached({ controller: new Scripted() });
    expect(player.instances[0]!.getSwitchRequest(player.rulesContext())).toMatchObject({
      representation: { id: 'v0' },
      priority: 0.5,
      reason: { message: 'scripted: told to' },
      rule: 'LeoAbrRule',
    });
  });

  test('a controller that fails is told once, a decision outside the ladder too', async () => {
    const controller = new Scripted();
    const { player, faults, decisions } = attached({ controller });
    controller.next = () => {
      throw new Error('broken');
    };
    expect(player.ask()).toBeNull();
    controller.next = { representation: 3, controller: 'scripted', reason: '' };
    expect(player.ask()).toBeNull();
    await Promise.resolve();
    expect(faults.map(({ message }) => message)).toEqual(['the controller failed: broken']);
    expect(decisions).toEqual([]);
    controller.next = { representation: 1, controller: 'scripted', reason: '' };
    expect(player.ask()).toBe('v1');
  });

  test('a dash.js that is not as expected costs one fault and no opinion', async () => {
    const { player, faults } = attached({ controller: new Scripted() });
    player.representations = [];
    expect(() => player.ask()).toThrow();
    player.representations = fakeVideo();
    for (const representation of player.representations) {
      representation.segmentDuration = Number.NaN;
      representation.fragmentDuration = null;
    }
    expect(player.ask()).toBeNull();
    await Promise.resolve();
    expect(faults.map(({ code, message }) => [code, message])).toEqual([
      ['player-failed', 'dash.js is not as expected: representation v0 has no segment duration'],
    ]);
  });

  test('another source begins another session', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    player.ask();
    download(player, 0, 0, 3e6, 1);
    player.trigger('streamTeardownComplete');
    player.ask();
    expect(controller.states[1]).toMatchObject({ nowSeconds: 0, segmentIndex: 0, downloads: [], started: false });
    expect(controller.states[1]!.previousBitrateBps).toBeUndefined();
    expect(controller.states[1]!.upcomingSizesBits[0]![0]).toBe(4e6);
  });

  test('a reset player gets rule and settings back, at once or with its next manifest', async () => {
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

  test('after a seek nothing precedes the next segment, which is the one after what is buffered', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    player.ask();
    download(player, 0, 0, 3e6, 1);
    player.trigger('playbackPlaying');
    player.trigger('playbackSeeking');
    player.element = { currentTime: 21, buffered: ranges([[20, 28]]) };
    player.ask();
    expect(controller.states[1]).toMatchObject({ segmentIndex: 7, segmentsRemaining: 3, started: true });
    expect(controller.states[1]!.previousBitrateBps).toBeUndefined();
    player.request(7, 1);
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 11 });
    player.ask();
    expect(controller.states[2]).toMatchObject({ segmentIndex: 8, previousBitrateBps: 2e6 });
  });

  test('where another track has replaced the buffer, the next segment is the one at its end', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    player.ask();
    for (let index = 0; index < 6; index++) download(player, index, 0, 3e6, 0.5);
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 24 });
    player.ask();
    player.element = { currentTime: 9, buffered: ranges([]) };
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 0 });
    player.ask();
    expect(controller.states.map(({ segmentIndex }) => segmentIndex)).toEqual([0, 6, 2]);
  });

  test('periods go on with the history and count segments along the presentation', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    const manifestInfo = { isDynamic: false, duration: 40 };
    player.representations = fakeVideo(6, { manifestInfo });
    player.ask();
    download(player, 0, 0, 4e6, 1);
    player.request(5, 2);
    player.representations = fakeVideo(4, { id: 'p1', start: 24, manifestInfo });
    player.ask();
    expect(controller.states.map(({ segmentIndex, segmentsRemaining }) => [segmentIndex, segmentsRemaining])).toEqual([
      [0, 10],
      [6, 4],
    ]);
    expect(controller.states[1]).toMatchObject({ previousBitrateBps: 4e6, downloads: [{ segmentIndex: 0 }] });
  });

  test('a live stream has no end and short buffer targets count without the segment', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    player.representations = fakeVideo(6, { start: 1000, manifestInfo: { isDynamic: true, duration: Number.NaN } });
    player.bufferTarget = 3;
    player.ask();
    expect(controller.states[0]).toMatchObject({
      segmentIndex: 0,
      segmentsRemaining: Number.POSITIVE_INFINITY,
      bufferCapSeconds: 7,
    });
    expect(controller.states[0]!.upcomingSizesBits).toHaveLength(10);
  });

  test('after a full source buffer the cap is what dash.js has cut its target to', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    player.settings.streaming.buffer.bufferTimeAtTopQuality = 6.5;
    player.ask();
    player.trigger('quotaExceeded');
    player.ask();
    expect(controller.states.map(({ bufferCapSeconds }) => bufferCapSeconds)).toEqual([18, 6.5]);
  });

  test('the page decides on the first segment where it has set an initial bitrate', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    player.settings.streaming.abr.initialBitrate.video = 2000;
    player.current = 1;
    expect(player.ask()).toBe('v1');
    expect(controller.states[0]!.ladderBps).toEqual([2e6]);
    player.request(0, 1);
    player.ask();
    expect(controller.states[1]!.ladderBps).toEqual([1e6, 2e6, 4e6]);
  });

  test('sizes from byte ranges of the index, and from a file', async () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    for (const one of player.representations) {
      one.segments = [{ mediaRange: '0-99' }, { mediaRange: '100-349' }];
    }
    player.ask();
    expect(controller.states[0]!.upcomingSizesBits.slice(0, 3)).toEqual([
      [800, 800, 800],
      [2000, 2000, 2000],
      [4e6, 8e6, 16e6],
    ]);
    const listed = attached({ controller, sizes: { representations: { v1: Array(10).fill(5) } } });
    await Promise.resolve();
    await Promise.resolve();
    listed.player.ask();
    expect(controller.states.at(-1)!.upcomingSizesBits[9]).toEqual([4e6, 40, 16e6]);
  });

  test('cached segments are no evidence, failed ones leave nothing', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    download(player, 0, 0, 3e6, 0.05);
    const cached = player.request(1, 0);
    Object.assign(cached, { bytesLoaded: 5e5, bytesTotal: 5e5, startDate: new Date(0), endDate: new Date(9) });
    player.trigger('loadingProgress', { request: cached });
    player.trigger('fragmentLoadingCompleted', { request: cached });
    const failed = player.request(2, 0);
    player.trigger('fragmentLoadingCompleted', { request: failed, error: new Error('404') });
    player.ask();
    expect(controller.states[0]!.downloads.map(({ segmentIndex }) => segmentIndex)).toEqual([0]);
    expect(controller.states[0]!.previousBitrateBps).toBe(1e6);
  });

  test('detaching takes rules, listeners and settings away, once and for all', () => {
    const player = new FakePlayer();
    const before = structuredClone(player.settings);
    const controller = new Scripted();
    const { handle } = attached({ controller }, player);
    handle.detach();
    handle.detach();
    expect(player.rules).toEqual([]);
    expect(player.settings).toEqual(before);
    expect(player.listenerCount).toBe(0);
    expect(player.ask()).toBeNull();
    expect(controller.states).toEqual([]);
    expect(handle.state.status).toBe('detached');
  });

  test('detaching from a player that throws by now is quiet', () => {
    const player = new FakePlayer();
    const { handle } = attached({}, player);
    player.getSettings = player.removeABRCustomRule = () => {
      throw new Error('destroyed');
    };
    expect(() => handle.detach()).not.toThrow();
  });

  test('a player is served once, and another one is left alone with one fault', async () => {
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
    expect(player.rules).toHaveLength(2);
  });
});

describe('forecasts', () => {
  test('mpc-l decides on them, and says so in its decisions and in the state', () => {
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

  test('mpc-l goes by the built-in forecaster where the page has none', () => {
    const { player, decisions, faults } = attached();
    player.ask();
    download(player, 0, 0, 4e6, 2);
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 4 });
    player.ask();
    expect(decisions.map(({ decision }) => decision.forecastSource)).toEqual([undefined, 'built-in']);
    expect(decisions.map(({ decision }) => decision.controller)).toEqual(['mpc-l', 'mpc-l']);
    expect(faults).toEqual([]);
  });

  test('begin with the first request of any medium, at the second 0 of UTC, and anew with each source', () => {
    const steady = new Steady();
    const { player } = attached({
      controller: new Scripted(),
      forecasters: [steady],
      timeSource: { now: () => ({ utcMs: Date.now(), uncertaintySeconds: 1 }) },
    });
    const begunMs = Date.now();
    player.request(0, 0, { mediaType: 'audio' });
    wait(0.4);
    player.ask();
    expect(steady.contexts).toEqual([{ seed: 1, utcMsAtStart: begunMs, utcUncertaintySeconds: 1 }]);
    // The audio is overdue.
    expect(steady.observations.at(-1)).toMatchObject({ kind: 'throughput', bits: 0, endSeconds: 0.4 });
    player.trigger('streamTeardownComplete');
    wait(1);
    player.ask();
    player.request(0, 0);
    expect(steady.contexts).toHaveLength(2);
    expect(steady.contexts[1]!.utcMsAtStart).toBe(begunMs + 1400);
  });

  test('are told of silence while it lasts', () => {
    const steady = new Steady();
    const { player } = attached({ controller: new Scripted(), forecasters: [steady] });
    player.ask();
    player.request(0, 2);
    wait(3.05);
    expect(steady.observations.at(-1)).toMatchObject({ kind: 'throughput', bits: 0, endSeconds: 3 });
    expect(steady.observations.reduce((sum, one) => sum + ('bits' in one ? one.bits : 0), 0)).toBe(0);
  });
});

describe('bytes are counted whatever the headers say', () => {
  /** As `download`, of a response without a length: `bytesLoaded` stays empty, bytes are in the traces alone. */
  function downloadWithoutLength(player: FakePlayer, index: number, bytes: number, seconds: number) {
    const traces: { b: number[] }[] = [];
    const startDate = new Date();
    const request = player.request(index, 0, { traces });
    const events = Math.round(seconds / 0.05);
    for (let event = 1; event <= events; event++) {
      wait(0.05);
      traces.push({ b: [bytes / events] });
      player.trigger('loadingProgress', { request });
    }
    Object.assign(request, { startDate, endDate: new Date() });
    player.trigger('fragmentLoadingCompleted', { request, response: { byteLength: bytes } });
  }

  test('without a length, by what dash.js traced', () => {
    const controller = new Scripted();
    const steady = new Steady();
    const { player, handle } = attached({ controller, forecasters: [steady] });
    player.ask();
    downloadWithoutLength(player, 0, 500e3, 2);
    player.ask();
    expect(controller.states[1]!.downloads).toMatchObject([
      { receivedBits: 4e6, sizeBits: 4e6, downloadSeconds: 2, latencySeconds: 0.05 },
    ]);
    wait(1);
    player.request(1);
    const bits = steady.observations.reduce((sum, one) => sum + ('bits' in one ? one.bits : 0), 0);
    expect(bits).toBeCloseTo(4e6);
    expect(handle.state.requestedBits).toBe(4e6 + 4e6);
  });

  test('with low latency, by the parts that dash.js hands over', () => {
    const controller = new ScriptedAbandoning();
    const { player } = attached({ controller });
    player.ask();
    const request = player.request(0, 0, { startDate: new Date() });
    for (let part = 1; part <= 4; part++) {
      wait(0.25);
      player.trigger('fragmentLoadingProgress', { request, response: { byteLength: 100e3 } });
    }
    wait(0.1);
    expect(controller.inFlights.at(-1)).toMatchObject({ receivedBits: 3.2e6 });
    Object.assign(request, { bytesLoaded: 410e3, bytesTotal: 410e3, endDate: new Date() });
    player.trigger('fragmentLoadingCompleted', { request });
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([{ receivedBits: 3.28e6, downloadSeconds: 1.1 }]);
  });

  test('where no event said anything, by the body', () => {
    const controller = new Scripted();
    const { player } = attached({ controller });
    player.ask();
    const startDate = new Date();
    const request = player.request(0);
    wait(0.5);
    Object.assign(request, { startDate, endDate: new Date() });
    player.trigger('fragmentLoadingCompleted', { request, response: { byteLength: 250e3 } });
    player.ask();
    const [download] = controller.states[1]!.downloads;
    expect(download).toMatchObject({ receivedBits: 2e6, downloadSeconds: 0.5 });
    expect(download).not.toHaveProperty('latencySeconds');
  });

  test('where nothing can be measured in three downloads, dash.js decides until something is, and one fault says so', async () => {
    const controller = new Scripted();
    const { player, faults } = attached({ controller });
    for (let index = 0; index < 5; index++) {
      expect(player.ask()).toBe(index < 3 ? 'v0' : null);
      player.trigger('fragmentLoadingCompleted', { request: player.request(index) });
    }
    await Promise.resolve();
    expect(faults.map(({ code, message }) => [code, message])).toEqual([
      ['nothing-measured', 'no download could be measured: dash.js decides until one can'],
    ]);
    downloadWithoutLength(player, 5, 500e3, 1);
    expect(player.ask()).toBe('v0');
    expect(controller.states.at(-1)!.downloads).toHaveLength(1);
  });
});

describe('a download under way', () => {
  test('that is given up counts as waste', () => {
    const controller = new ScriptedAbandoning();
    const { player, handle } = attached({ controller });
    player.ask();
    const request = player.request(0, 2);
    expect(handle.state).toMatchObject({ requestedBits: 16e6, wastedBits: 0 });
    wait(0.5);
    Object.assign(request, { bytesLoaded: 1e6, bytesTotal: 2e6 });
    player.trigger('loadingProgress', { request });
    wait(0.5);
    Object.assign(request, { startDate: new Date(0), endDate: new Date(1000) });
    player.trigger('fragmentLoadingAbandoned', { request });
    player.request(0, 0);
    expect(handle.state).toMatchObject({ requestedBits: 20e6, wastedBits: 8e6 });
  });

  test('is reconsidered ten times a second, also while nothing arrives, and given up at once', () => {
    const controller = new ScriptedAbandoning();
    const { player, decisions } = attached({ controller });
    expect(player.rules.map(({ rulename }) => rulename)).toEqual(['LeoAbrRule', 'LeoAbrAbandonRule']);
    player.ask();
    download(player, 0, 0, 4e6, 1);
    player.ask();
    const request = player.request(1, 2);
    wait(0.55);
    expect(controller.inFlights.length).toBeGreaterThanOrEqual(5);
    expect(controller.inFlights.at(-1)).toMatchObject({ segmentIndex: 1, bitrateBps: 4e6, receivedBits: 0 });
    expect(controller.inFlights.at(-1)!.firstByteAtSeconds).toBeUndefined();
    expect(controller.states.at(-1)).toMatchObject({ segmentIndex: 1, segmentsRemaining: 9, previousBitrateBps: 1e6 });
    expect(player.qualitySet).toEqual([]);

    controller.instead = 1;
    wait(0.1);
    expect(player.qualitySet).toEqual([{ id: 'v1', reason: { forceAbandon: true, message: 'scripted: slow' } }]);
    expect(decisions.at(-1)).toMatchObject({ kind: 'abandon', representationId: 'v1', inFlight: { segmentIndex: 1 } });
    // Once is enough until dash.js has answered.
    wait(0.5);
    expect(player.qualitySet).toHaveLength(1);

    Object.assign(request, { startDate: new Date(0), endDate: new Date(650) });
    player.trigger('fragmentLoadingAbandoned', { request });
    const asked = controller.inFlights.length;
    wait(1);
    expect(controller.inFlights).toHaveLength(asked);
    player.request(1, 1);
    wait(0.15);
    expect(controller.inFlights.at(-1)).toMatchObject({ segmentIndex: 1, bitrateBps: 2e6, abandonments: 1 });
    // The target is the one under way: nothing to do.
    wait(0.5);
    expect(player.qualitySet).toHaveLength(1);
  });

  test('is left alone where the page has switched adaptation off', () => {
    const controller = new ScriptedAbandoning();
    const { player } = attached({ controller });
    player.ask();
    player.settings.streaming.abr.autoSwitchBitrate.video = false;
    controller.instead = 0;
    player.request(0, 2);
    wait(1);
    expect(controller.inFlights).toEqual([]);
    expect(player.qualitySet).toEqual([]);
  });

  test("is given up by dash.js's rule at a progress event where that is the only way", () => {
    const controller = new ScriptedAbandoning();
    const player = new FakePlayer();
    player.canSetQuality = false;
    attached({ controller }, player);
    player.ask();
    controller.instead = 0;
    const request = player.request(0, 2);
    wait(1);
    expect(controller.inFlights).toEqual([]);
    const ask = (about: object) => player.instances[1]!.shouldAbandon(player.rulesContext('video', about));
    expect(ask({ ...request }).representation).toBeNull();
    expect(ask(request)).toMatchObject({ representation: { id: 'v0' }, reason: { message: 'scripted: slow' } });
  });

  test('a dash.js that refuses to give it up costs one fault', async () => {
    const controller = new ScriptedAbandoning();
    const { player, faults } = attached({ controller });
    player.qualitySet.push = () => {
      throw new Error('not now');
    };
    player.ask();
    controller.instead = 0;
    player.request(0, 2);
    expect(() => wait(3)).not.toThrow();
    await Promise.resolve();
    expect(faults.map(({ message }) => message)).toEqual(['dash.js is not as expected: not now']);
  });

  test('is reconsidered at progress events where timers are slow, as in a hidden tab', async () => {
    const setInterval = jest.spyOn(globalThis, 'setInterval').mockReturnValue(7 as never);
    const controller = new ScriptedAbandoning();
    const { player } = attached({ controller });
    player.ask();
    const request = player.request(0, 2, { bytesTotal: 2e6 });
    const progress = async (bytesLoaded: number) => {
      wait(0.05);
      Object.assign(request, { bytesLoaded });
      player.trigger('loadingProgress', { request });
      await Promise.resolve();
    };
    for (let event = 1; event <= 20; event++) await progress(event * 1000);
    expect(controller.inFlights.map(({ receivedBits }) => receivedBits)).toEqual([32e3, 64e3, 96e3, 128e3, 160e3]);
    controller.instead = 0;
    await progress(21_000);
    await progress(22_000);
    await progress(23_000);
    expect(player.qualitySet).toEqual([]);
    await progress(24_000);
    expect(player.qualitySet).toMatchObject([{ id: 'v0' }]);
    setInterval.mockRestore();
  });

  test('stops being watched when the plugin goes', () => {
    const controller = new ScriptedAbandoning();
    const { player, handle } = attached({ controller });
    player.ask();
    player.request(0, 2);
    handle.detach();
    wait(1);
    expect(controller.inFlights).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
