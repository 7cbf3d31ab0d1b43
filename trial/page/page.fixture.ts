/**
 * What a page of a trial has: a storage, globals that a test replaces, the stand-ins of all players without the plugin,
 * and an observed session in them.
 */

import { afterEach, beforeEach } from '@jest/globals';
import Hls from 'hls.js';
import { useManualClock, wait } from '../../session/scripted.fixture.ts';
import { LADDER_BPS, SEGMENT_SECONDS, type StandIn } from '../../session/stand-in.fixture.ts';
import * as dash from '../../src/dash/fake-player.fixture.ts';
import * as hls from '../../src/hls/fake-player.fixture.ts';
import * as shaka from '../../src/shaka/fake-player.fixture.ts';
import { type ObservablePlayer, type ReportOptions, reportSessions } from '../index.ts';
import { type SessionReport, validSessionReport } from '../session-report.ts';

const undo: (() => void)[] = [];
/** Until the end of the test. */
export function define(name: string, value: unknown): void {
  const before = Object.getOwnPropertyDescriptor(globalThis, name) ?? { value: undefined, configurable: true };
  undo.unshift(() => Object.defineProperty(globalThis, name, before));
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

/** What the storage keeps. */
export const items = new Map<string, string>();
export const STORAGE = {
  getItem: (key: string) => items.get(key) ?? null,
  setItem: (key: string, value: string) => void items.set(key, value),
  removeItem: (key: string) => void items.delete(key),
};

/** For all tests of a file. */
export function usePage(): void {
  useManualClock();
  beforeEach(() => {
    items.clear();
    define('localStorage', STORAGE);
  });
  afterEach(() => {
    for (const step of undo.splice(0)) step();
  });
}

export const settled = async () => {
  for (let i = 0; i < 40; i++) await Promise.resolve();
};

export interface Plain {
  player: StandIn;
  /** What the page passes to `reportSessions`. */
  api: ObservablePlayer;
  /** The page loads a source. */
  begin(): void;
  /** The source is another one, or none. */
  end(): void;
  /** A downloaded segment has come into the buffer, where the player says so. */
  append?(index: number): void;
  /** All that a page could set, and what the player has been told. */
  touched(): unknown;
}

const asText = (value: object) => JSON.stringify(value, (_, one) => (typeof one === 'function' ? String(one) : one));

const bandwidths = () => LADDER_BPS.map((bandwidth) => ({ bandwidth }));

export const PLAIN: Record<string, () => Plain> = {
  'dash.js'() {
    const methods = { getRepresentationsByType: bandwidths, isDynamic: () => false };
    const player = Object.assign(new dash.FakePlayer(), methods);
    const { settings, updates } = player;
    return {
      player,
      api: player as never,
      begin() {
        player.nextSource();
        player.emit('manifestLoadingStarted');
      },
      end: () => player.nextSource(),
      touched: () => asText({ settings, updates, rules: player.rules, interceptors: player.interceptors }),
    };
  },
  'hls.js'() {
    const player = new hls.FakePlayer(Hls, {});
    return {
      player,
      api: player.hls,
      begin: () => player.start(),
      end: () => player.hls.destroy(),
      append(index) {
        const frag = player.fragment(index);
        player.hls.trigger(Hls.Events.FRAG_BUFFERED, { frag, part: null, stats: frag.stats, id: frag.type });
      },
      touched: () => asText({ config: Object.entries(player.hls.config), level: player.hls.autoLevelCapping }),
    };
  },
  'Shaka Player'() {
    const player = Object.assign(new shaka.FakePlayer(), { getVariantTracks: bandwidths });
    return {
      player,
      api: player as never,
      begin() {
        player.emit('loading');
        player.active = player.variants[0];
        player.manager ??= player.config.abrFactory();
      },
      end: () => player.emit('unloading'),
      touched: () => asText({ ...player.getConfiguration(), calls: player.own.map(({ calls }) => calls) }),
    };
  },
};

/** The reports of a player so far. Each is valid as a line of JSON. */
export function observe(newPlain: () => Plain, options: ReportOptions = {}) {
  const plain = newPlain();
  const seen: SessionReport[] = [];
  const reports = reportSessions(plain.api, { logger: null, ...options });
  reports.on('session', (report) => seen.push(validSessionReport(JSON.parse(JSON.stringify(report)))));
  return { plain, seen, reports };
}

/** Plays `seconds` of media at the rate, in steps of 0.1 s. */
export function play({ media }: StandIn, seconds: number, rate = 1): void {
  for (let i = 0; i < Math.round(seconds * 10); i++) {
    wait(0.1);
    media.currentTime += 0.1 * rate;
  }
}

/** Two segments: 2 s of startup, 4 s of media, a stall of 1.5 s, 4 s of media. */
export function playSession({ player, begin, append }: Plain): void {
  begin();
  player.media.playbackRate = 1;
  player.download(0, 3e6, 2, 0);
  append?.(0);
  player.media.emit('playing');
  play(player, SEGMENT_SECONDS);
  player.media.emit('waiting');
  player.download(1, 6e6, 1.5, 0);
  append?.(1);
  play(player, SEGMENT_SECONDS);
}
