import { expect, test } from '@jest/globals';
import type { Controller, Download, InFlight, PlayerState } from '../../../abr/controller.ts';
import { forAll } from '../../../abr/property.fixture.ts';
import { anyQuestion, inFlightOf, stateOf } from '../../../abr/random-states.fixture.ts';
import { Throughput } from '../throughput.ts';
import { createBolaE, createDynamic } from './dash-rules.ts';

/** Buffer targets of dash.js's BOLA: 22 s. gp = ln 40 / 1.2 = 3.074, Vp = 10 / gp = 3.253 s. */
const LADDER_BPS = [1e6, 2.5e6, 5e6, 10e6, 20e6, 40e6];

/** `seconds`: of the download. */
type Row = { mbps: number; seconds: number; abandonedBits?: number };

/** A session of 4 s segments without waits. */
function sessionOf(rows: readonly Row[], changes: Partial<PlayerState> = {}): PlayerState {
  let atSeconds = 0;
  let segmentIndex = 0;
  const downloads: Download[] = [];
  for (const { mbps, seconds, abandonedBits } of rows) {
    const sizeBits = mbps * 4e6;
    const abandoned = abandonedBits !== undefined;
    const request = { segmentIndex, bitrateBps: mbps * 1e6, requestedAtSeconds: atSeconds, downloadSeconds: seconds };
    downloads.push({ ...request, sizeBits, receivedBits: abandonedBits ?? sizeBits, abandoned });
    atSeconds += seconds;
    if (!abandoned) segmentIndex++;
  }
  const bufferLevelSeconds = 4 * segmentIndex - atSeconds + (rows[0]?.seconds ?? 0);
  const player = { nowSeconds: atSeconds, segmentIndex, bufferLevelSeconds, bufferCapSeconds: 16 };
  return stateOf(LADDER_BPS, { ...player, downloads, ...changes });
}

const times = (count: number, row: Row): Row[] => Array.from({ length: count }, () => row);
function choice(controller: Controller, state: PlayerState) {
  const { representation, reason } = controller.decide(state);
  return { mbps: LADDER_BPS[representation]! / 1e6, rule: reason.split(':')[0], reason };
}

/** The buffer has 4 s after the first segment, and 2 s more, or 1 s less, after each next segment. */
const RISING = { mbps: 5, seconds: 2 };
const FALLING = { mbps: 5, seconds: 5 };
const FAST = { mbps: 5, seconds: 0.8 };
const SLOW = times(3, { mbps: 5, seconds: 2.9 });
/** On 7 Mbit/s one of the last eight choices went down, from 10 Mbit/s. */
const WENT_DOWN = [...SLOW, { mbps: 10, seconds: 5.8 }, ...SLOW];

const [dynamic, bolaE] = [createDynamic(), createBolaE()];

test.each<[string, Row[], Partial<PlayerState>, Partial<ReturnType<typeof choice>>]>([
  ['keeps the lowest until something is measured', [], {}, { mbps: 1, rule: 'dash.js changes nothing' }],
  ['follows 0.9 of a throughput of 5.7 Mbit/s', [{ mbps: 1, seconds: 0.7 }], {}, { mbps: 5, rule: 'ThroughputRule' }],
  ['follows 0.9 of a throughput of 5 Mbit/s', [{ mbps: 1, seconds: 0.8 }], {}, { mbps: 2.5, rule: 'ThroughputRule' }],
  ['follows the throughput below 12 s of buffer', times(4, RISING), {}, { rule: 'ThroughputRule' }],
  ['changes to BOLA at 12 s', times(5, RISING), {}, { rule: 'BolaRule' }],
  ['keeps BOLA above 6 s', [...times(5, RISING), ...times(2, FALLING)], {}, { rule: 'BolaRule' }],
  // 0.7 * 10 Mbit/s * 2 s / 4 s arrive before the buffer is empty.
  ['guards a low buffer', times(3, RISING), { bufferLevelSeconds: 2 }, { mbps: 2.5, rule: 'InsufficientBufferRule' }],
  ['guards it from the third segment on', [RISING], { bufferLevelSeconds: 2 }, { rule: 'ThroughputRule' }],
  ['does not soon return up', [...WENT_DOWN, ...times(3, FAST)], {}, { mbps: 5, rule: 'SwitchHistoryRule' }],
])('dynamic %s', (_, rows, changes, expected) => {
  expect(choice(dynamic, sessionOf(rows, changes))).toMatchObject(expected);
});

test('dynamic changes back from BOLA below 6 s, and returns up after eight other choices', () => {
  // The level was 4 s before the last append.
  const fallen = sessionOf([...times(5, RISING), ...times(4, FALLING)]);
  expect(choice(dynamic, fallen).rule).not.toBe('BolaRule');
  expect(choice(dynamic, sessionOf([...WENT_DOWN, ...times(9, FAST)])).mbps).toBeGreaterThan(5);
});

test('dynamic goes nowhere up for 10 s after an abandonment', () => {
  const rows = [...times(3, RISING), { mbps: 20, seconds: 2, abandonedBits: 8e6 }, { mbps: 1, seconds: 4 }];
  const quiet = sessionOf([...rows, ...times(8, { mbps: 1, seconds: 0.1 })]);
  expect(choice(dynamic, quiet).mbps).toBe(1);
  expect(choice(dynamic, { ...quiet, nowSeconds: quiet.nowSeconds + 6 }).mbps).toBeGreaterThan(1);
});

test('bola-e starts by throughput until its first segment is in the buffer, and is not raised above it', () => {
  const reason = 'BolaRule: starting by throughput';
  expect(choice(bolaE, sessionOf([RISING]))).toMatchObject({ mbps: 5, reason });
  expect(choice(bolaE, sessionOf(times(4, RISING), { bufferLevelSeconds: 15 })).mbps).toBe(5);
});

test('bola-e sets the placeholder to where it prefers the first choice, and lets it fade', () => {
  // The level for 5 Mbit/s: Vp * (gp + 1 + (5 * ln 2.5 - 2.5 * ln 5) / 2.5) = 13.98 s. With the second choice the
  // placeholder is 13.98 - 4 s; it fades by 1 % with the second segment. The level is 6 s.
  const { reason } = choice(bolaE, sessionOf(times(2, RISING)));
  expect(reason).toBe(`BolaRule: buffer level with placeholder ${(6 + 0.99 * (13.98 - 4)).toFixed(1)} s`);
});

test('bola-e counts a wait for room as buffer', () => {
  const state = sessionOf(times(3, RISING));
  const waited = { ...state, nowSeconds: state.nowSeconds + 3, bufferLevelSeconds: state.bufferLevelSeconds - 3 };
  expect(bolaE.decide(waited).reason).toBe(bolaE.decide(state).reason);
});

test('bola-e loses the placeholder when the buffer runs empty', () => {
  const empty = sessionOf([...times(3, RISING), { mbps: 5, seconds: 9 }], { bufferLevelSeconds: 4 });
  const reason = expect.stringMatching(/placeholder 4.0 s|InsufficientBufferRule/);
  expect(choice(bolaE, empty)).toMatchObject({ mbps: 1, reason });
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

test.each([dynamic, bolaE, new Throughput()])('$name abandons as dash.js does: not in low-latency mode', (rules) => {
  expect(rules.reconsider!(inChunks(4), inFlight)).toMatchObject({ representation: 0, controller: rules.name });
  expect(rules.reconsider!(inChunks(1), inFlight)).toBe('keep');
});

test('low-latency mode silences InsufficientBufferRule too', () => {
  const session = sessionOf(times(3, RISING), { bufferLevelSeconds: 2 });
  expect(choice(dynamic, { ...session, live: inChunks(4).live }).rule).toBe('InsufficientBufferRule');
  expect(choice(dynamic, { ...session, live: inChunks(1).live }).rule).toBe('ThroughputRule');
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

test.each([dynamic, bolaE])('$name is valid in any state, and remembers nothing', (controller) => {
  forAll([anyQuestion()], { numRuns: 200, seed: 1 }, ({ state, inFlight }) => {
    const decision = controller.decide(state);
    expect(state.ladderBps[decision.representation]).toBeDefined();
    expect(decision.reason).not.toMatch(/NaN|undefined|Infinity/);
    expect(controller.decide(state)).toEqual(decision);
    const change = controller.reconsider!(state, inFlight);
    if (change !== 'keep') expect(state.ladderBps[change.representation]).toBeLessThan(inFlight.bitrateBps);
  });
});
