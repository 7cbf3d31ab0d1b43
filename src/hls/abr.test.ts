import { describe, expect, test } from '@jest/globals';
import type Hls from 'hls.js';
import type { HlsConfig } from 'hls.js';
import { bitsOf, Scripted, ScriptedAbandoning, Steady, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { SEGMENTS } from '../../session/stand-in.fixture.ts';
import { attached, FakePlayer, playlists, useWindow, VERSIONS } from './fake-player.fixture.ts';

useManualClock();
useWindow();

describe.each(VERSIONS)('hls.js %s', (_, Player) => {
  /** `asked`: the level that hls.js gets, and the number of decisions so far; `ladder`: of the latest. */
  const scripted = (next = 0, config: Partial<HlsConfig> = {}, files = playlists()) => {
    const seen = attached({ controller: new ScriptedAbandoning(next) }, { Player, config, files });
    const asked = () => [seen.player.ask(), seen.decisions.length];
    return { ...seen, asked, ladder: () => seen.controller.states.at(-1)!.ladderBps };
  };
  /** As `scripted`, after the first segment. */
  const begun = (...[next = 0, ...more]: Parameters<typeof scripted>) => {
    const seen = scripted(next, ...more);
    seen.player.download(0, [4e6, 8e6, 16e6][next]!, 1);
    return seen;
  };

  test('starts at the level that the controller decides on, loads its playlist alone, and tests no bandwidth', () => {
    const { hls, handle, decisions, controller, asked } = scripted(1);
    expect([hls.loadLevel, hls.config.testBandwidth]).toEqual([1, false]);
    expect(hls.levels.map(({ details }) => details !== undefined)).toEqual([false, true, false]);
    expect(decisions).toMatchObject([{ representationId: '2000000', streamId: '', session: 1 }]);
    controller.next = 2;
    // The playlist has the duration of segments.
    expect([asked(), asked()]).toEqual([
      [2, 2],
      [2, 2],
    ]);
    expect(decisions[1]).toMatchObject({ streamId: '0', state: { segmentIndex: 0, segmentSeconds: 4 } });
    handle.detach();
    expect(hls.config.testBandwidth).toBe(true);
    const { loadLevel, config } = scripted(1, { startLevel: -1 }).hls;
    expect([loadLevel, config.testBandwidth]).toEqual([1, false]);
  });

  test('decides once per segment, and only when hls.js may load it', () => {
    const { hls, controller, player, asked } = begun();
    controller.next = 1;
    // 60 MB of 1 Mbit/s.
    player.bufferLevelSeconds = 480;
    expect(asked()).toEqual([0, 2]);
    player.bufferLevelSeconds = 200;
    expect([asked(), asked(), hls.nextAutoLevel, hls.firstAutoLevel]).toEqual([[1, 3], [1, 3], 1, 1]);
    // 60 MB of 4 Mbit/s, and a segment.
    expect(controller.states.at(-1)!.bufferCapSeconds).toBeCloseTo(124);
    player.send(1);
    controller.next = 2;
    expect(asked()).toEqual([1, 3]);
  });

  test("segments of any durations are requested up to hls.js's own limit", () => {
    const files = playlists();
    const durations = [4, 1, 7, 4, 1, 7, 4, 1, 7, 4];
    let i = 0;
    for (const name of ['v0.m3u8', 'v1.m3u8', 'v2.m3u8']) {
      files[name] = files[name]!.replace(/#EXTINF:4/g, () => `#EXTINF:${durations[i++ % 10]}`);
    }
    const { player, controller, asked } = begun(0, { maxBufferSize: 0, maxBufferLength: 12 }, files);
    for (const index of [1, 2]) {
      player.bufferLevelSeconds = 11.9;
      asked();
      const { bufferCapSeconds, segmentSeconds, upcomingSeconds } = controller.states.at(-1)!;
      expect(bufferCapSeconds - segmentSeconds).toBeCloseTo(12);
      expect(upcomingSeconds![0]).toBe(durations[index]);
      player.download(index, 4e6, 1);
    }
    player.bufferLevelSeconds = 12;
    expect(asked()).toEqual([0, 4]);
  });

  test('decides nothing after the last segment, until a seek', () => {
    const { player, controller, asked } = scripted();
    for (let i = 0; i < SEGMENTS; i++) player.download(i, 4e6, 1);
    controller.next = 2;
    expect(asked()).toEqual([0, SEGMENTS + 1]);
    player.plays();
    player.seeks(0);
    expect(asked()).toEqual([2, SEGMENTS + 2]);
  });

  test('decides on the next segment after a seek, though browsers cut times to microseconds', () => {
    const { player, controller } = begun();
    player.plays();
    for (const bufferLevelSeconds of [11.999999, 11.9]) {
      player.media.emit('seeking');
      player.bufferLevelSeconds = bufferLevelSeconds;
      player.ask();
    }
    expect(controller.states.slice(-2).map(({ segmentIndex }) => segmentIndex)).toEqual([3, 2]);
  });

  test("keeps to the page's limits, and loads its start level first", () => {
    const { hls, player, ladder } = scripted(0, { startLevel: 2, minAutoBitrate: 1.5e6 });
    expect([hls.loadLevel, player.ask()]).toEqual([2, 2]);
    player.download(0, 16e6, 1);
    hls.autoLevelCapping = 1;
    expect([player.ask(), ladder()]).toEqual([1, [2e6]]);
  });

  test('after a failure of the lowest level, the next higher one is tried, and not the highest', () => {
    const policy = { maxTimeToFirstByteMs: 1e4, maxLoadTimeMs: 1e4, timeoutRetry: null, errorRetry: null };
    const { player } = begun(0, { fragLoadPolicy: { default: policy } });
    player.send(1, 0).failed();
    expect(player.ask()).toBe(1);
  });

  test("leaves hls.js's error recovery alone: its level plays until a segment of it is here", () => {
    const { hls, controller, player, ladder } = begun(2);
    // As its error controller does.
    Object.assign(hls.levels[2]!, { fragmentError: 1, loadError: 1 });
    hls.nextAutoLevel = 1;
    hls.nextLoadLevel = hls.nextAutoLevel;
    wait(1);
    const asked = controller.states.length;
    expect([player.ask(), player.ask(), controller.states.length]).toEqual([1, 1, asked]);
    controller.next = 1;
    player.download(1, 8e6, 1);
    expect([player.ask(), ladder()]).toEqual([1, [1e6, 2e6]]);
    Object.assign(hls.levels[2]!, { fragmentError: 0, loadError: 0 });
    player.download(2, 8e6, 1);
    player.ask();
    expect(ladder()).toEqual([1e6, 2e6, 4e6]);
  });

  test("chooses among levels of hls.js's own codecs and video range", () => {
    const files = playlists();
    files['main.m3u8'] = files['main.m3u8']!.replace('=4000000,', '=4000000,VIDEO-RANGE=PQ,');
    const { hls, ladder } = scripted(0, {}, files);
    expect(hls.levels.map(({ videoRange }) => videoRange)).toEqual(['SDR', 'SDR', 'PQ']);
    expect(ladder()).toEqual([1e6, 2e6]);
  });

  test('plans with the time of a playlist that is still to be loaded', () => {
    const { controller, player } = begun();
    const setup = () => {
      player.ask();
      return controller.states.at(-1)!.setupSeconds!.map((one) => Math.round(one * 1000));
    };
    expect(setup()).toEqual([0, 100, 100]);
    controller.next = 2;
    player.download(1, 4e6, 1);
    setup();
    player.download(2, 16e6, 1);
    expect(setup()).toEqual([0, 100, 0]);
  });

  const slow = () => {
    const seen = begun(2);
    const { player, controller } = seen;
    const frag = player.fragment(1, player.ask());
    const stats = player.request(frag);
    const emergencies: unknown[] = [];
    seen.hls.on(Player.Events.FRAG_LOAD_EMERGENCY_ABORTED, (_, { frag: aborted }) => emergencies.push(aborted));
    wait(0.5);
    controller.instead = 0;
    return { ...seen, frag, stats, emergencies };
  };

  test('abandons a download as hls.js does, and keeps to the lower level for this segment', () => {
    const { player, hls, controller, decisions, frag, stats, emergencies } = slow();
    wait(0.2);
    expect([stats.aborted, hls.loadLevel, emergencies]).toEqual([true, 0, [frag]]);
    expect(decisions.at(-1)).toMatchObject({ kind: 'abandon', representationId: '1000000' });
    const asked = controller.states.length;
    expect([player.ask(), player.ask(), controller.states.length]).toEqual([0, 0, asked]);
  });

  test('hls.js itself abandons a download only where it decides', () => {
    const { player, handle, controller, emergencies } = slow();
    player.plays();
    controller.instead = undefined;
    player.bufferLevelSeconds = 0.1;
    wait(10);
    expect(emergencies).toEqual([]);
    handle.detach();
    player.request(player.fragment(1, 2));
    wait(3);
    expect(emergencies).not.toEqual([]);
  });

  test('serves a player after another one was destroyed, as a new session', () => {
    const { leoAbr, hls, player, handle, controller, faults } = begun(1);
    player.send(1);
    hls.destroy();
    expect(handle.state).toMatchObject({ status: 'inactive', session: 2 });
    const asked = controller.states.length;
    wait(5);
    expect(controller.states).toHaveLength(asked);
    const next = new FakePlayer(Player, { abrController: leoAbr }).start();
    expect(next.hls.loadLevel).toBe(1);
    expect(handle.state).toMatchObject({ status: 'attached', session: 2 });
    expect(controller.states.at(-1)).toMatchObject({ downloads: [], previousBitrateBps: undefined });
    expect(faults).toEqual([]);
    // hls.js keeps its listeners of the page's media element for a while, and asks the first player's controller.
    const { length } = controller.states;
    const { nextAutoLevel, firstAutoLevel } = Object.getOwnPropertyDescriptors(Player.prototype);
    const answers = [firstAutoLevel!.get!.call(hls), nextAutoLevel!.get!.call(hls)];
    expect([answers, controller.states.length]).toEqual([[0, -1], length]);
  });

  /** As hls.js makes one for an interstitial or for I-frames. */
  const inner = ({ hls }: { hls: Hls }, more: Partial<HlsConfig> = {}) =>
    new FakePlayer(Player, { ...hls.userConfig, primarySessionId: hls.sessionId, ...more }).start();

  test("players that hls.js makes itself adapt by hls.js's controller, and share the link", () => {
    const steady = new Steady();
    const controller = new ScriptedAbandoning(1);
    const { player, hls, handle, faults, decisions } = attached({ controller, forecasters: [steady] }, { Player });
    player.download(0, 8e6, 1);
    const advert = inner({ hls }, { abrEwmaDefaultEstimate: 50e6 });
    expect(advert.ask()).toBe(2);
    const asked = controller.states.length;
    advert.download(0, 16e6, 2);
    expect([advert.ask(), controller.states.length]).toEqual([2, asked]);
    player.download(1, 8e6, 1);
    player.ask();
    expect(bitsOf(steady)).toBeCloseTo(32e6, -6);
    expect(decisions.at(-1)!.state).toMatchObject({
      segmentIndex: 2,
      downloads: [{ segmentIndex: 0 }, { segmentIndex: 1 }],
    });
    // One in flight ends with its player.
    advert.send(1);
    advert.hls.destroy();
    const bits = bitsOf(steady);
    wait(2);
    player.download(2, 8e6, 1);
    player.ask();
    expect(steady.observations.filter((one) => one.kind === 'throughput' && one.bits === 0)).toEqual([]);
    expect(bitsOf(steady)).toBeGreaterThan(bits);
    const left = inner({ hls });
    handle.detach();
    expect(left.left).toBe(0);
    expect([handle.state.session, faults]).toEqual([1, []]);
  });

  test('a second player at the same time has its own ABR, with one fault, until the first one is destroyed', () => {
    const { leoAbr, hls, handle, controller, decisions } = scripted(2);
    const asked = controller.states.length;
    const [other, next] = [1, 2].map(() => new FakePlayer(Player, { abrController: leoAbr }).start());
    expect(other!.hls.loadLevel).toBe(0);
    other!.hls.destroy();
    expect(handle.state).toMatchObject({ status: 'attached', faults: [{ code: 'already-attached' }] });
    expect(controller.states).toHaveLength(asked);
    hls.destroy();
    expect([next!.ask(), handle.state.status]).toEqual([2, 'attached']);
    expect(decisions.at(-1)).toMatchObject({ session: 2, decision: { representation: 2 } });
    next!.media.emit('playing');
    next!.download(0, 16e6, 1);
    next!.ask();
    expect(controller.states.at(-1)).toMatchObject({ segmentIndex: 1, downloads: [{ receivedBits: 16e6 }] });
    handle.detach();
    expect(next!.left).toBe(0);
  });

  test('is refused as the default of all players', () => {
    const { leoAbr } = scripted();
    class Mine extends Player {}
    Object.defineProperty(Mine, 'DefaultConfig', { value: { ...Player.DefaultConfig, abrController: leoAbr } });
    expect(() => new Mine({ abrController: leoAbr })).toThrow('Hls.DefaultConfig');
  });

  test('an unsupported version plays with its own ABR, with one fault', () => {
    class OwnAbr {
      nextAutoLevel = 3;
      constructor(readonly hls: unknown) {}
    }
    const { leoAbr, handle } = scripted();
    const older = { constructor: { version: '1.5.20', DefaultConfig: { abrController: OwnAbr } } };
    expect(new leoAbr(older as never).nextAutoLevel).toBe(3);
    const message = expect.stringContaining('hls.js 1.5.20');
    expect(handle.state.faults).toMatchObject([{ code: 'unsupported-player', message }]);
  });
});

test("hls.js 1.7's players for I-frames have the controller without a fault", () => {
  const files = playlists();
  files['main.m3u8'] += '\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,RESOLUTION=320x180,URI="v0.m3u8"';
  const { controller, hls, handle } = attached({ controller: new Scripted() }, { files });
  const asked = controller.states.length;
  const iframes = hls.createIFramePlayer()!;
  expect(iframes.config.primarySessionId).toBe(hls.sessionId);
  expect([iframes.firstAutoLevel, controller.states.length, handle.state.faults]).toEqual([0, asked, []]);
  iframes.destroy();
  expect(handle.state.status).toBe('attached');
});

test('hls.js 1.7 forgives a level after a while', () => {
  const config = { errorPenaltyExpireMs: 60_000 };
  const { controller, hls, player } = attached({ controller: new Scripted() }, { config });
  player.download(0, 4e6, 1);
  Object.assign(hls.levels[2]!, { loadError: 1, loadErrorTime: performance.now() });
  player.download(1, 4e6, 1);
  expect(controller.states.at(-1)!.ladderBps).toEqual([1e6, 2e6]);
  wait(60);
  player.ask();
  expect(controller.states.at(-1)!.ladderBps).toEqual([1e6, 2e6, 4e6]);
});
