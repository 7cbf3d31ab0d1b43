/** golden-sessions.test.ts has the choices of all rivals, dash-js-choices.test.ts dash.js's own. This is what they lack. */

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InFlight, PlayerState } from '../../abr/controller.ts';
import { between, forAll, whole } from '../../abr/property.fixture.ts';
import {
  anyDownloads,
  anyLadder,
  anyState,
  downloadsOf,
  inFlightOf,
  stateOf,
} from '../../abr/random-states.fixture.ts';
import { highestWithin } from '../../abr/state/facts.ts';
import { Bola } from './bola.ts';
import { createBolaE, createDynamic } from './dash-js/dash-rules.ts';
import { ewmaThroughputBps } from './ewma-throughput.ts';
import { Throughput } from './throughput.ts';

test('BOLA is not raised by the buffer level above what the throughput sustains; of equal bitrates, it takes the lowest', () => {
  const ladderBps = [3e6, 8e6, 15e6, 30e6, 60e6, 120e6];
  const downloads = downloadsOf(16, 30e6, 40e6, 1);
  /** In the middle of a long video on a link of 40 Mbit/s. */
  const bitrateWith = (changes: Partial<PlayerState>) => {
    const session = { segmentIndex: 100, bufferLevelSeconds: 26, previousBitrateBps: 3e6, downloads };
    const state = stateOf(ladderBps, { ...session, ...changes });
    return ladderBps[new Bola().decide(state).representation];
  };
  expect(bitrateWith({})).toBe(30e6);
  expect(bitrateWith({ previousBitrateBps: 60e6 })).toBe(60e6);
  expect(bitrateWith({ playbackRate: 2 })).toBe(15e6);
  expect(bitrateWith({ downloads: [], previousBitrateBps: undefined })).toBe(3e6);
  expect(bitrateWith({ ladderBps: [3e6, 3e6] })).toBe(3e6);
});

const someDownloads = anyDownloads().filter((downloads) => downloads.length > 0);

test('the moving average: constant in, constant out; undefined without a measurement', () => {
  expect(ewmaThroughputBps([])).toBeUndefined();
  forAll([between(1e3, 1e9), someDownloads], { seed: 1 }, (rateBps, downloads) => {
    const constant = downloads.map((download) => ({
      ...download,
      receivedBits: rateBps * (download.downloadSeconds - 0.04),
      latencySeconds: 0.04,
    }));
    expect(ewmaThroughputBps(constant)! / rateBps).toBeCloseTo(1, 9);
  });
});

test('the moving average: after weight 3, its half-life, the fast mean is half way to a new rate', () => {
  // Long enough at 8 Mbit/s to forget the start, then 2 s (weight 3) at 2 Mbit/s; the fast mean is the smaller.
  const downloads = [...downloadsOf(1, 1e6, 8e6 * 200, 200), ...downloadsOf(1, 1e6, 2e6 * 2, 2)];
  expect(ewmaThroughputBps(downloads)).toBeCloseTo(5e6, 0);
});

test('highestWithin is the highest bitrate that fits, else the lowest', () => {
  forAll([anyLadder(), whole(0, 20)], { seed: 1 }, (ladderBps, mbps) => {
    const fitting = ladderBps.filter((bps) => bps <= mbps * 1e6);
    expect(highestWithin(ladderBps, mbps * 1e6)).toBe(Math.max(0, fitting.length - 1));
  });
});

const throughput = new Throughput();

test('the throughput rule takes the lowest before the first measurement', () => {
  forAll([anyState()], { numRuns: 50, seed: 1 }, (state) => expect(throughput.decide(state).representation).toBe(0));
});

test('a link of constant rate gets the bitrate that 0.9 of it carries', () => {
  forAll([anyState(anyDownloads()), whole(1, 130)], { numRuns: 500, seed: 2 }, (state, mbps) => {
    fc.pre(state.downloads.length > 0);
    const downloads = state.downloads.map((download) => {
      const bits = mbps * 1e6 * download.downloadSeconds;
      return { ...download, receivedBits: bits, sizeBits: bits, abandoned: false };
    });
    // A rate just beside the threshold may fall on either side of it.
    fc.pre(state.ladderBps.every((bps) => Math.abs(bps / (0.9e6 * mbps) - 1) > 1e-9));
    const { representation, plannedThroughputBps } = throughput.decide({ ...state, downloads });
    expect(plannedThroughputBps! / (0.9e6 * mbps)).toBeCloseTo(1, 9);
    expect(representation).toBe(highestWithin(state.ladderBps, (0.9e6 * mbps) / state.playbackRate));
  });
});

const LADDER_BPS = [1e6, 2.5e6, 5e6, 10e6, 20e6, 40e6];

/** Segments of 4 s at 5 Mbit/s whose downloads take so long, one after another. */
function sessionOf(rows: readonly number[], changes: Partial<PlayerState> = {}): PlayerState {
  let nowSeconds = 0;
  const downloads = downloadsOf(rows.length, 5e6, 20e6, 0).map((one, i) => {
    nowSeconds += rows[i]!;
    return { ...one, requestedAtSeconds: nowSeconds - rows[i]!, downloadSeconds: rows[i]! };
  });
  const bufferLevelSeconds = 4 * rows.length - nowSeconds + (rows[0] ?? 0);
  const player = { nowSeconds, segmentIndex: rows.length, bufferLevelSeconds, bufferCapSeconds: 16 };
  return stateOf(LADDER_BPS, { ...player, downloads, ...changes });
}

const times = (count: number, seconds: number): number[] => Array(count).fill(seconds);
/** The buffer has 4 s after the first segment, and 2 s more, or 1 s less, after each next segment. */
const [RISING, FALLING] = [2, 5];

const [dynamic, bolaE] = [createDynamic(), createBolaE()];
const ruleOf = (state: PlayerState) => dynamic.decide(state).reason.split(':')[0];

test.each([
  ['keeps the lowest until something is measured', [], 'dash.js changes nothing'],
  ['follows the throughput below 12 s of buffer', times(4, RISING), 'ThroughputRule'],
  ['changes to BOLA at 12 s', times(5, RISING), 'BolaRule'],
  ['keeps BOLA above 6 s', [...times(5, RISING), ...times(2, FALLING)], 'BolaRule'],
  // The level was 4 s before the last append.
  ['changes back below 6 s', [...times(5, RISING), ...times(4, FALLING)], 'ThroughputRule'],
])('dynamic %s', (_, rows, rule) => {
  expect(ruleOf(sessionOf(rows))).toBe(rule);
});

test('dynamic remembers what it measured before a download that was too fast to measure', () => {
  expect(ruleOf(sessionOf(times(4, RISING), { segmentIndex: 5 }))).toBe('ThroughputRule');
});

test('dynamic adds no media for a download that a jump cut off', () => {
  const whole = sessionOf(times(5, RISING), { bufferLevelSeconds: 8 });
  const downloads = whole.downloads.map((download, i) => (i === 2 ? { ...download, receivedBits: 19e6 } : download));
  expect([ruleOf(whole), ruleOf({ ...whole, downloads })]).toEqual(['BolaRule', 'ThroughputRule']);
});

const state = stateOf(LADDER_BPS, { nowSeconds: 103, bufferLevelSeconds: 6, bufferCapSeconds: 16 });
/** 10 Mbit/s, requested 3 s ago; 4 of 40 Mbit have arrived. */
const inFlight: InFlight = { ...inFlightOf(state, 3, 0.1, 3), firstByteAtSeconds: 101, lastBitsAtSeconds: 103 };

test('the abandonment rule abandons a download that takes 1.8 segments or more, for what its own rate sustains', () => {
  expect(dynamic.reconsider!(state, inFlight)).toMatchObject({ representation: 0 });
  // 40 Mbit at 5.6 Mbit/s: 7.1 s, less than 7.2 s.
  expect(dynamic.reconsider!(state, { ...inFlight, receivedBits: 11.2e6 })).toBe('keep');
  expect(dynamic.reconsider!(state, { ...inFlight, receivedBits: 11e6 })).toMatchObject({ representation: 2 });
});

const live = { latencySeconds: 4, targetLatencySeconds: 4, maxLatencySeconds: 16, firstChunkAtSeconds: 100 };
const inChunks = (chunkSeconds: number) => ({
  ...state,
  live: { ...live, chunkSeconds, playbackRates: { min: 1, max: 1 } },
});

test.each([dynamic, bolaE, throughput])('$name abandons as dash.js does: not in low-latency mode', (rules) => {
  expect(rules.reconsider!(inChunks(4), inFlight)).toMatchObject({ representation: 0, controller: rules.name });
  expect(rules.reconsider!(inChunks(1), inFlight)).toBe('keep');
});

test('low-latency mode silences InsufficientBufferRule too', () => {
  const session = sessionOf(times(3, RISING), { bufferLevelSeconds: 2 });
  expect(ruleOf({ ...session, live: inChunks(4).live })).toBe('InsufficientBufferRule');
  expect(ruleOf({ ...session, live: inChunks(1).live })).toBe('ThroughputRule');
});

test.each<[string, Partial<InFlight>]>([
  ['without a byte', { firstByteAtSeconds: undefined }],
  ['a second time', { abandonments: 1 }],
  ['in the first half second', { firstByteAtSeconds: 102.6, receivedBits: 0.1e6 }],
  ['in an outage after that, before bits arrive again', { lastBitsAtSeconds: 101.4 }],
  ['the lowest', { bitrateBps: 1e6, sizeBits: 40e6 }],
  ['what is left of less than the other', { receivedBits: 37e6, firstByteAtSeconds: 40 }],
])('the abandonment rule does not abandon %s', (_, changes) => {
  expect(dynamic.reconsider!(state, { ...inFlight, ...changes })).toBe('keep');
});
