import { describe, expect, jest, test } from '@jest/globals';
import { modelledQuality } from '../../abr/qoe/quality.ts';
import { HOST } from '../../session/host.fixture.ts';
import { Events } from '../../session/page/events.ts';
import { ScriptedAbandoning, useManualClock, wait } from '../../session/scripted.fixture.ts';
import * as dash from '../../src/dash/fake-player.fixture.ts';
import * as hls from '../../src/hls/fake-player.fixture.ts';
import { type Arm, assignArm, type ReportOptions, reportSessions } from '../index.ts';
import type { SessionReport } from '../session-report.ts';
import { observe, PLAIN, play, playSession } from './page.fixture.ts';

useManualClock();
hls.useWindow();

describe.each(Object.entries(PLAIN))('%s', (name, newPlain) => {
  test('reports what a viewer got, at the end of the session', () => {
    const { plain, seen } = observe(newPlain);
    playSession(plain);
    expect(seen).toEqual([]);
    plain.end();
    const player = name === 'Shaka Player' ? 'shaka' : name;
    const session = { version: 1, day: '2023-11-14', player, live: false, controller: 'player', ended: 'source' };
    const playback = { started: true, stallCount: 1, switches: 0, meanBitrateBps: 1e6, topBitrateBps: 4e6 };
    const bits = { requestedBits: 9e6, wastedBits: 0, receivedBits: 9e6, aboveEnoughBits: 0 };
    expect(seen).toMatchObject([{ ...session, ...playback, ...bits }]);
    const [report] = seen as [SessionReport];
    // The link's 1 Mbit/s, less the time of waiting.
    const waiting = 3.59 * report.startupSeconds + 18.8 + 14.8 * report.stallSeconds;
    expect(report.perceivedQoe! + waiting / 2).toBeCloseTo(modelledQuality({ bitrateBps: 1e6 }), -1);
    expect(report.id).toMatch(/^[0-9a-f]{16}$/);
    // hls.js loads its playlists first.
    expect(Math.abs(report.startupSeconds - 2.2)).toBeLessThan(0.3);
    expect(report.watchedSeconds).toBeCloseTo(8, 0);
    expect(Math.abs(report.stallSeconds - 1.5)).toBeLessThan(0.3);
    // 1 Mbit/s, less 4 a second of waiting, per 4 s of media.
    const waited = report.startupSeconds + report.stallSeconds;
    expect(report.qoe).toBeCloseTo(1 - (4 * waited) / 2, 1);
    expect(report.qoeFirst30Seconds).toBe(report.qoe);
    for (const absent of ['faults', 'trial', 'latencySeconds', 'observations']) {
      expect(report).not.toHaveProperty(absent);
    }
  });

  test('is as without it: settings, requests and choices', () => {
    const withoutIt = newPlain();
    playSession(withoutIt);
    const { plain, reports } = observe(newPlain, { arm: assignArm({ name: 'trial', share: 0 }) });
    playSession(plain);
    expect(plain.touched()).toEqual(withoutIt.touched());
    reports.stop();
    expect(plain.touched()).toEqual(withoutIt.touched());
    expect(plain.player.left).toBe(0);
  });

  test('an abandoned download is requested and wasted; a failed one is neither', () => {
    const { plain, seen } = observe(newPlain);
    playSession(plain);
    const { player } = plain;
    const abandoned = player.send(2, 0);
    wait(0.05);
    abandoned.responded?.(4e6);
    for (let i = 1; i <= 5; i++) {
      wait(0.1);
      abandoned.arrived(i * 2e5);
    }
    abandoned.aborted();
    wait(0.5);
    player.send(2, 0).failed();
    // Larger than its declared bitrate. Shaka does not tell the bits of an abandoned download.
    const isTold = name !== 'Shaka Player';
    if (isTold) {
      const larger = player.send(3, 0);
      wait(0.5);
      larger.arrived(5e6);
      larger.aborted();
    }
    // The session ends in the middle of a download.
    const underWay = player.send(4, 0);
    wait(0.1);
    underWay.arrived(1e6);
    plain.end();
    expect(seen[0]!.requestedBits).toBe(isTold ? 18e6 : 13e6);
    const wasted = seen[0]!.wastedBits;
    if (isTold) expect(wasted).toBe(6e6);
    else expect(Math.abs(wasted - 2e6)).toBeLessThan(5e5);
    expect(seen[0]!.receivedBits).toBe(9e6 + wasted + (isTold ? 1e6 : 0));
  });

  test('a session without a picture is reported, too, and the next source is another session', () => {
    const { plain, seen, reports } = observe(newPlain, { report: undefined });
    plain.begin();
    wait(7);
    plain.begin();
    wait(3);
    reports.stop();
    reports.stop();
    expect(seen).toHaveLength(2);
    expect(seen[0]).toMatchObject({ started: false, watchedSeconds: 0, stallCount: 0, ended: 'source' });
    expect(seen[0]!.startupSeconds).toBeGreaterThanOrEqual(7);
    expect(seen[0]).not.toHaveProperty('qoe');
    expect(seen[1]).toMatchObject({ started: false, ended: 'detached' });
    expect(seen[1]!.id).not.toBe(seen[0]!.id);
    plain.end();
    expect(seen).toHaveLength(2);
  });
});

const start = (options: ReportOptions = {}) => {
  const controller = new ScriptedAbandoning();
  const attached = dash.attached({ controller, forecasters: [] });
  const plain = { ...PLAIN['dash.js']!(), api: attached.player as never, player: attached.player };
  plain.begin = () => attached.player.emit('manifestLoadingStarted');
  return { ...attached, ...observe(() => plain, { leoAbr: attached.handle, ...options }) };
};

test('with the plugin, names the arm, the controller and its faults, and ends with the plugin', () => {
  const arm: Arm = assignArm({ name: 'risk', arms: { low: { risk: 0.1 }, high: { risk: 0.3 } }, key: 'me' });
  const { handle, player, plain, controller, seen } = start({ arm });
  playSession(plain);
  controller.next = 99;
  player.ask();
  handle.detach();
  wait(0.3);
  const { options: _, ...assigned } = arm;
  const report = { ...assigned, controller: 'scripted', ended: 'detached', faults: 'controller-failed' };
  expect(seen).toMatchObject([report]);
  expect(seen[0]).not.toHaveProperty('options');
});

test('with the plugin, an arm has the plugin or has it not', () => {
  const { handle, player } = start();
  const own = assignArm({ name: 'a', arms: { x: 'player', y: 'player' } });
  const plugins = assignArm({ name: 'a', share: 1 });
  const report = (options: ReportOptions) => () => reportSessions(player as never, options);
  expect(report({ arm: own, leoAbr: handle })).toThrow(/options.leoAbr: .*no plugin in arm/);
  expect(report({ arm: plugins })).toThrow(/options.leoAbr: .*handle in arm leo-abr/);
});

test('forecasts are compared with what a download on demand then showed', () => {
  const report = (isLive: boolean) => {
    const plain = PLAIN['dash.js']!();
    Object.assign(plain.api, { isDynamic: () => isLive, getCurrentLiveLatency: () => 4.5 });
    const events = new Events({ logger: null, host: HOST });
    const state = { status: 'attached', controller: 'mine', faults: [] };
    const leoAbr = { on: events.on.bind(events), detach() {}, state };
    const { seen } = observe(() => plain, { leoAbr: leoAbr as never });
    plain.begin();
    const levels = [0.05, 0.1, 0.5, 0.9];
    const quantilesBps = [5e5, 1].map((bps) => [bps, 2 * bps, 6 * bps, 18 * bps]);
    const forecast = { issuedAtMs: 900, levels, stepEndsSeconds: [1, 30], quantilesBps };
    const event = { kind: 'decide', forecast, state: { nowSeconds: 1 } };
    for (const more of [{}, { forecast: undefined }, { kind: 'abandon' }]) {
      events.emit('decision', { ...event, ...more } as never);
    }
    plain.player.download(0, 16e6, 8, 0);
    // Now nothing is downloaded. Only the older forecast is of the download.
    for (const issuedAtMs of [900, -2000]) {
      events.emit('decision', { ...event, forecast: { ...forecast, issuedAtMs } } as never);
    }
    plain.player.media.emit('playing');
    play(plain.player, 4);
    // A live manifest is loaded again.
    plain.player.emit('manifestLoadingStarted');
    plain.end();
    expect(seen).toHaveLength(1);
    return seen[0]!;
  };
  expect(report(false)).toMatchObject({ live: false, forecasts: 2, below10Share: 0, below50Share: 1, below90Share: 1 });
  const live = report(true);
  expect(live).toMatchObject({ live: true, latencySeconds: 4.5, offRateShare: 0 });
  expect(live).not.toHaveProperty('forecasts');
});

test('Shaka Player may unload a source when the next one is loading', () => {
  const { plain, seen } = observe(PLAIN['Shaka Player']!);
  playSession(plain);
  plain.begin();
  plain.player.emit('unloading');
  wait(2);
  playSession({ ...plain, begin: () => {} });
  plain.player.emit('unloading');
  expect(seen).toHaveLength(2);
  expect(seen[1]).toMatchObject({ started: true, stallCount: 1 });
  expect(seen[1]!.startupSeconds).toBeGreaterThan(3.9);
});

test('refuses what is no player, and other options', () => {
  const player = PLAIN['dash.js']!().api;
  expect(() => reportSessions({} as never)).toThrow('player: expected a player of dash.js, hls.js or Shaka Player');
  expect(() => reportSessions(player, { report: 3 as never })).toThrow('options.report');
  expect(() => reportSessions(player, { report: null as never })).toThrow('options.report: expected a URL');
  expect(() => reportSessions(player, { url: '/r' } as never)).toThrow(
    'options.url: expected one of leoAbr, arm, report',
  );
  expect(() => reportSessions(player, { report: { path: '/r' } as never })).toThrow('options.report.path: expected');
  expect(() => reportSessions(player, { report: { url: '/r', observations: 1 as never } })).toThrow('observations');
  expect(() => reportSessions(player, { leoAbr: {} as never })).toThrow('options.leoAbr');
  expect(() => reportSessions(player).on('end' as never, () => {})).toThrow('event');
  expect(() => reportSessions(player).on('session', 5 as never)).toThrow('listener: expected a function, got 5');
  expect(() => reportSessions(player, null as never)).toThrow('options: expected an object, got null');
  expect(() => reportSessions(null as never)).toThrow('player: expected');
});

test('a player that fails is observed as far as possible, and plays on', () => {
  const warn = jest.fn();
  const { plain, seen } = observe(PLAIN['dash.js']!, { logger: { warn } });
  playSession(plain);
  plain.player.emit('fragmentLoadingStarted', { request: null });
  plain.player.emit('fragmentLoadingStarted', { request: null });
  plain.end();
  expect(warn).toHaveBeenCalledTimes(1);
  expect(seen[0]!.faults).toBe('observer-failed');
});

test('with observations, the throughput of each second', () => {
  const report = { url: 'https://reports.example/', observations: true };
  const { plain, seen } = observe(PLAIN['dash.js']!, { report });
  plain.begin();
  plain.player.download(0, 8e6, 2, 0);
  play(plain.player, 3);
  plain.player.download(1, 4e6, 2, 0);
  plain.end();
  const { observations, observedFromMs } = seen[0]!;
  const seconds = observations!.split(',');
  expect(observedFromMs).toBe(1_700_000_000_000);
  expect(seconds).toHaveLength(7);
  expect(seconds.slice(2, 5)).toEqual(['', '', '']);
  for (const i of [0, 1]) expect(Number(seconds[i]) / 4000).toBeCloseTo(1, 0);
  for (const i of [5, 6]) expect(Number(seconds[i]) / 2000).toBeCloseTo(1, 0);
});
