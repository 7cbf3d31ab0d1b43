import { expect, test } from '@jest/globals';
import type { Controller, InFlight, PlayerState } from '../../abr/index.ts';
import type { AnswerRecord } from '../observed-controller.ts';
import type { SessionResult } from '../results.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { always, EXACT, follows, IDEAL_BROWSER, traceOfRates } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';
import type { SimulationOptions } from './simulation-options.ts';

/** A rate per 10 s. */
const traceOf = (ratesMbps: readonly number[], stepSeconds = 10) =>
  traceOfRates(ratesMbps, stepSeconds, { epochPhaseSeconds: 12 });

/** 1 and 2 Mbit/s, exact sizes, no RTT, no delays of a browser: easy to compute by hand. */
const MEDIA = { name: 'paper', ladderBps: [1e6, 2e6], mu: 2, segmentCount: 4, bufferCapSeconds: 10 };
const PAPER: Scenario = { ...SCENARIOS['uhd-8']!, ...MEDIA, ...EXACT, rttSeconds: 0, browser: IDEAL_BROWSER };

/** In `PAPER` with changes. */
type Changes = [scenario?: Partial<Scenario>, more?: Partial<SimulationOptions>];
const play = (trace: Trace, controller: Controller, ...[scenario, more]: Changes) =>
  simulateSession({ trace, scenario: { ...PAPER, ...scenario }, controller, ...more });

const timesOf = ({ segments }: SessionResult) => segments.map(({ requestedAtSeconds }) => requestedAtSeconds);

test('a full buffer delays the request until there is room, and by the polling', () => {
  const full = { bufferCapSeconds: 8 };
  const ideal = play(traceOf([4, 4, 4]), always(0), full);
  // Appended at 1 s with a buffer of 4 s: 4 + 4 is not below the cap of 8, but is as soon as playback advances ...
  expect(timesOf(ideal)).toEqual([0, 1, 5, 9]);
  const browser = { ...IDEAL_BROWSER, requestLatenessSeconds: 0.25 };
  const late = play(traceOf([4, 4, 4]), always(0), { ...full, browser });
  expect(timesOf(late)).toEqual([0, 1.25, 5.25, 9.25]);
  expect(late.segments[2]!.bufferLevelSeconds).toBeCloseTo(3.75, 9);
});

test('an abandonment wastes the received bits, repeats the segment, and gives one row but two downloads', () => {
  const records: AnswerRecord[] = [];
  const onDecision = (record: AnswerRecord) => records.push(record);
  const session = play(traceOf([2, 2, 2, 2, 2, 2]), follows([1, 1], 0.95), { segmentCount: 2 }, { onDecision });
  const [row] = session.segments;
  expect(row).toMatchObject({ index: 0, bitrateBps: 1e6, sizeBits: 4e6, requestedAtSeconds: 0 });
  expect(row!.abandonedBits).toBeCloseTo(2e6, 3);
  expect(row!.downloadSeconds).toBeCloseTo(1 + 2, 9);
  expect(session.wastedBits).toBeCloseTo(4e6, 3);
  const last = records[records.length - 1]!.state;
  expect(last.downloads.map((download) => download.abandoned)).toEqual([true, false, true]);
  expect(last.downloads[0]).toMatchObject({ segmentIndex: 0, bitrateBps: 2e6, sizeBits: 8e6, requestedAtSeconds: 0 });
});

test('a download is reconsidered every 0.1 s, with its bits and first byte', () => {
  const seen: InFlight[] = [];
  // 1 s of 2 Mbit/s, then nothing for a second, then again.
  const trace = traceOf([2, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2], 1);
  const controller: Controller = {
    ...always(1),
    reconsider(_, inFlight) {
      seen.push(inFlight);
      return 'keep';
    },
  };
  play(trace, controller, { rttSeconds: 0.25, segmentCount: 1 });
  expect(seen[0]).toMatchObject({ receivedBits: 0, firstByteAtSeconds: undefined });
  // A plan reads what has arrived between two reports.
  expect(seen[4]!.receivedBits).toBeCloseTo(0.25 * 2e6, -2);
  expect(seen[4]!.firstByteAtSeconds).toBeCloseTo(0.25, 5);
  expect(seen[14]!.receivedBits).toBeCloseTo(0.75 * 2e6, 3);
  // 0.25 s of latency, 4 s of download, 1 s of outage.
  expect(seen).toHaveLength(52);
});

test('a session is cut off after 600 s of waiting, with a finite QoE', () => {
  const trace = traceOf([4, 1e-6, 1e-6, 1e-6], 600);
  const session = play(trace, always(0), {}, { startSeconds: 597 });
  expect(session.endedBy).toBe('cutoff');
  expect(session.stallSeconds + session.startupSeconds).toBeCloseTo(600, 6);
  expect(session.segments.length).toBeGreaterThan(0);
  expect(Number.isFinite(session.qoe.linear)).toBe(true);
  const dead = play(trace, always(0), {}, { startSeconds: 600 });
  expect(dead).toMatchObject({ endedBy: 'cutoff', segments: [], startupSeconds: 600, meanBitrateBps: 0 });
  expect(dead.qoe.linear).toBeCloseTo((-2 * 600) / 4, 9);
});

test('a controller that throws or gives an invalid decision is a fault', () => {
  const thrown = play(traceOf([2]), {
    name: 'broken',
    decide(state) {
      if (state.segmentIndex === 2) throw new Error('out of ideas');
      return always(0).decide(state);
    },
  });
  expect(thrown.endedBy).toBe('fault');
  expect(thrown.fault).toMatch(/out of ideas/);
  expect(thrown.segments).toHaveLength(2);
  expect(play(traceOf([2]), always(7)).fault).toMatch(/expected a representation from 0 to 1, got 7/);
});

test('a trace without capacity is refused', () => {
  expect(() => play(traceOf([0, 0]), always(0))).toThrow(/expected a rate above 0/);
});

test("the state holds the trace's UTC, true sizes and the scenario's weights", () => {
  const states: PlayerState[] = [];
  const onDecision = ({ state }: AnswerRecord) => states.push(state);
  play(traceOf([2, 2]), always(1), {}, { startSeconds: 5, utcErrorSeconds: 1.5, onDecision });
  const [first, second, , last] = states;
  expect(first).toMatchObject({ nowSeconds: 0, started: false, bufferLevelSeconds: 0, segmentsRemaining: 4 });
  expect(first!.previousBitrateBps).toBeUndefined();
  expect(first!.utcMs).toBe(Date.UTC(2025, 0, 1, 0, 0, 12) + 6500);
  expect(first!.utcUncertaintySeconds).toBe(2);
  expect(first!.upcomingSizesBits).toEqual(Array(4).fill([4e6, 8e6]));
  expect(second).toMatchObject({ started: true, previousBitrateBps: 2e6, segmentIndex: 1 });
  expect(second!.downloads).toHaveLength(1);
  expect(last!.upcomingSizesBits).toHaveLength(1);
  expect(first!.weights.mu).toBe(PAPER.mu);
});
