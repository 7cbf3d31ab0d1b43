import { describe, expect, test } from '@jest/globals';
import type { Download, InFlight, PlayerState } from '../../controller.ts';
import { forAll } from '../../property.fixture.ts';
import { anyQuestion, inFlightOf, stateOf } from '../../random-states.fixture.ts';
import { createBolaE, createDynamic } from './dash-rules.ts';

/** Buffer targets of dash.js's BOLA: 22 s. gp = ln 40 / 1.2 = 3.074, Vp = 10 / gp = 3.253 s. */
const LADDER_BPS = [1e6, 2.5e6, 5e6, 10e6, 20e6, 40e6];

/** A session of 4 s segments without waits. `seconds`: of the download. */
function sessionOf(
  rows: readonly { mbps: number; seconds: number; bits?: number; abandoned?: boolean }[],
  changes: Partial<PlayerState> = {},
): PlayerState {
  let atSeconds = 0;
  let segmentIndex = 0;
  const downloads: Download[] = [];
  for (const { mbps, seconds, abandoned = false, bits } of rows) {
    const sizeBits = mbps * 4e6;
    const receivedBits = bits ?? sizeBits;
    const request = { segmentIndex, bitrateBps: mbps * 1e6, requestedAtSeconds: atSeconds, downloadSeconds: seconds };
    downloads.push({ ...request, sizeBits, receivedBits, abandoned });
    atSeconds += seconds;
    if (!abandoned) segmentIndex++;
  }
  const bufferLevelSeconds = 4 * segmentIndex - atSeconds + (rows[0]?.seconds ?? 0);
  return stateOf(LADDER_BPS, {
    ...{ nowSeconds: atSeconds, segmentIndex, bufferLevelSeconds, bufferCapSeconds: 16, downloads },
    ...changes,
  });
}

const times = <T>(count: number, row: T): T[] => Array.from({ length: count }, () => row);
const choice = (controller: ReturnType<typeof createDynamic>, state: PlayerState) => {
  const { representation, reason } = controller.decide(state);
  return { mbps: LADDER_BPS[representation]! / 1e6, rule: reason.split(':')[0] };
};

describe('dynamic', () => {
  const controller = createDynamic();

  test('keeps the lowest until something is measured, then follows 0.9 of the throughput', () => {
    expect(choice(controller, sessionOf([]))).toEqual({ mbps: 1, rule: 'dash.js changes nothing' });
    expect(choice(controller, sessionOf([{ mbps: 1, seconds: 0.7 }]))).toEqual({ mbps: 5, rule: 'ThroughputRule' });
    expect(choice(controller, sessionOf([{ mbps: 1, seconds: 0.8 }]))).toEqual({ mbps: 2.5, rule: 'ThroughputRule' });
  });

  test('changes to BOLA at 12 s of buffer, and back below 6 s', () => {
    const rising = { mbps: 5, seconds: 2 };
    // The buffer has 4 s after the first segment, and 2 s more after each next segment.
    expect(choice(controller, sessionOf(times(4, rising))).rule).toBe('ThroughputRule');
    expect(choice(controller, sessionOf(times(5, rising))).rule).toBe('BolaRule');
    const falling = { mbps: 5, seconds: 5 };
    expect(choice(controller, sessionOf([...times(5, rising), ...times(2, falling)])).rule).toBe('BolaRule');
    // The level was 4 s before the last append.
    const fallen = sessionOf([...times(5, rising), ...times(4, falling)]);
    expect(choice(controller, fallen).rule).not.toBe('BolaRule');
  });

  test('lowers the bitrate to what arrives before the buffer is empty', () => {
    // 0.7 * 10 Mbit/s * 2 s / 4 s.
    const state = sessionOf([...times(3, { mbps: 5, seconds: 2 })], { bufferLevelSeconds: 2 });
    expect(choice(controller, state)).toEqual({ mbps: 2.5, rule: 'InsufficientBufferRule' });
    // The rule ignores the first two segments.
    const early = sessionOf([{ mbps: 5, seconds: 2 }], { bufferLevelSeconds: 2 });
    expect(choice(controller, early).rule).toBe('ThroughputRule');
  });

  test('does not return to a bitrate soon after it went down from it', () => {
    // On 7 Mbit/s one of the last eight choices went down, from 10 Mbit/s.
    const slow = times(3, { mbps: 5, seconds: 2.9 });
    const rows = [...slow, { mbps: 10, seconds: 5.8 }, ...slow];
    const fast = { mbps: 5, seconds: 0.8 };
    expect(choice(controller, sessionOf([...rows, ...times(3, fast)]))).toEqual({ mbps: 5, rule: 'SwitchHistoryRule' });
    expect(choice(controller, sessionOf([...rows, ...times(9, fast)])).mbps).toBeGreaterThan(5);
  });

  test('goes nowhere up for 10 s after an abandonment', () => {
    const abandoned = { mbps: 20, seconds: 2, bits: 8e6, abandoned: true };
    const rows = [...times(3, { mbps: 5, seconds: 2 }), abandoned];
    const fast = { mbps: 1, seconds: 0.1 };
    const quiet = sessionOf([...rows, { mbps: 1, seconds: 4 }, ...times(8, fast)]);
    expect(choice(controller, quiet).mbps).toBe(1);
    const later = { ...quiet, nowSeconds: quiet.nowSeconds + 6 };
    expect(choice(controller, later).mbps).toBeGreaterThan(1);
  });
});

describe('bola-e', () => {
  const controller = createBolaE();

  test('chooses by throughput until its first segment is in the buffer', () => {
    const { representation, reason } = controller.decide(sessionOf([{ mbps: 5, seconds: 2 }]));
    expect([LADDER_BPS[representation], reason]).toEqual([5e6, 'BolaRule: starting by throughput']);
  });

  test('sets the placeholder to where it prefers the first choice, and lets it fade', () => {
    // The level for 5 Mbit/s: Vp * (gp + 1 + (5 * ln 2.5 - 2.5 * ln 5) / 2.5) = 13.98 s. With the second choice the
    // placeholder is 13.98 - 4 s; it fades by 1 % with the second segment. The level is 6 s.
    const { reason } = controller.decide(sessionOf(times(2, { mbps: 5, seconds: 2 })));
    expect(reason).toBe(`BolaRule: buffer level with placeholder ${(6 + 0.99 * (13.98 - 4)).toFixed(1)} s`);
  });

  test('counts a wait for room as buffer', () => {
    const state = sessionOf(times(3, { mbps: 5, seconds: 2 }));
    const waited = { ...state, nowSeconds: state.nowSeconds + 3, bufferLevelSeconds: state.bufferLevelSeconds - 3 };
    expect(controller.decide(waited).reason).toBe(controller.decide(state).reason);
  });

  test('loses the placeholder when the buffer runs empty', () => {
    const rows = [...times(3, { mbps: 5, seconds: 2 }), { mbps: 5, seconds: 9 }];
    const { reason } = controller.decide(sessionOf(rows, { bufferLevelSeconds: 4 }));
    expect(reason).toMatch(/placeholder 4.0 s|InsufficientBufferRule/);
    expect(LADDER_BPS[controller.decide(sessionOf(rows, { bufferLevelSeconds: 4 })).representation]).toBe(1e6);
  });

  test('is not raised above what the throughput sustains', () => {
    const full = sessionOf([...times(4, { mbps: 5, seconds: 2 })], { bufferLevelSeconds: 15 });
    expect(LADDER_BPS[controller.decide(full).representation]).toBe(5e6);
  });
});

const controller = createDynamic();
const state = stateOf(LADDER_BPS, { nowSeconds: 103, bufferLevelSeconds: 6, bufferCapSeconds: 16 });
/** 10 Mbit/s, requested 3 s ago; 4 of 40 Mbit have arrived. */
const inFlight: InFlight = { ...inFlightOf(state, 3, 0.1, 3), firstByteAtSeconds: 101, lastBitsAtSeconds: 103 };

test('the abandonment rule abandons a download that takes 1.8 segments or more, for what its own rate sustains', () => {
  expect(controller.reconsider!(state, inFlight)).toMatchObject({ representation: 0 });
  // 40 Mbit at 5.6 Mbit/s: 7.1 s, less than 7.2 s.
  expect(controller.reconsider!(state, { ...inFlight, receivedBits: 11.2e6 })).toBe('keep');
  expect(controller.reconsider!(state, { ...inFlight, receivedBits: 11e6 })).toMatchObject({ representation: 2 });
});

test.each<[string, Partial<InFlight>]>([
  ['without a byte', { firstByteAtSeconds: undefined }],
  ['a second time', { abandonments: 1 }],
  ['in the first half second', { firstByteAtSeconds: 102.6, receivedBits: 0.1e6 }],
  ['in an outage after that, before bits arrive again', { lastBitsAtSeconds: 101.4 }],
  ['the lowest', { bitrateBps: 1e6, sizeBits: 40e6 }],
  ['what is left of less than the other', { receivedBits: 37e6, firstByteAtSeconds: 40 }],
])('the abandonment rule does not abandon %s', (_, changes) => {
  expect(controller.reconsider!(state, { ...inFlight, ...changes })).toBe('keep');
});

test.each([createDynamic(), createBolaE()])('$name is valid in any state, and remembers nothing', (controller) => {
  forAll([anyQuestion()], { numRuns: 200, seed: 1 }, ({ state, inFlight }) => {
    const decision = controller.decide(state);
    expect(state.ladderBps[decision.representation]).toBeDefined();
    expect(decision.reason).not.toMatch(/NaN|undefined|Infinity/);
    expect(controller.decide(state)).toEqual(decision);
    const change = controller.reconsider!(state, inFlight);
    if (change !== 'keep') expect(state.ladderBps[change.representation]).toBeLessThan(inFlight.bitrateBps);
  });
});
