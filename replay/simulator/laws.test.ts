/** Laws that hold for every session on every link. */

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Observation } from '../../abr/index.ts';
import { between, draws, forAll, whole } from '../../abr/property.fixture.ts';
import type { AnswerRecord } from '../observed-controller.ts';
import type { SessionResult } from '../results.ts';
import { MEASURED_BROWSER, SCENARIOS, type Scenario } from '../scenarios.ts';
import { follows, IDEAL_BROWSER, partsUpTo, recorder, traceOfParts } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';
import type { SimulationOptions } from './simulation-options.ts';

const SEED = { seed: 20250101 };
const SEGMENTS = 12;
const CUTOFF_SECONDS = 100;

const plan = fc.array(whole(0, 5), { minLength: SEGMENTS, maxLength: SEGMENTS });
const browser = fc.constantFrom(IDEAL_BROWSER, MEASURED_BROWSER, { ...MEASURED_BROWSER, initSegmentBits: 5e5 });
const changes = fc.record({ bufferCapSeconds: between(4.6, 40), rttSeconds: between(0, 0.3), browser });
const scenario = changes.map((of): Scenario => ({ ...SCENARIOS['uhd-8']!, segmentCount: SEGMENTS, ...of }));

const session = fc.record({
  parts: partsUpTo(200, { maxLength: 30 }),
  scenario,
  representations: plan,
  patience: fc.option(between(0.05, 8), { nil: undefined }),
  startSeconds: between(0, 100),
});

type Drawn = typeof session extends fc.Arbitrary<infer Value> ? Value : never;

function play(of: Drawn, more: Partial<SimulationOptions> = {}): SessionResult {
  const { parts, representations, patience, ...place } = of;
  const controller = follows(representations, patience);
  const trace = traceOfParts(parts, 0.5);
  return simulateSession({ trace, ...place, cutoffSeconds: CUTOFF_SECONDS, controller, ...more });
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

test('startup, stalls and played media add up to the elapsed time, and the rows to the totals', () => {
  forAll([session], { ...SEED, numRuns: draws(200) }, (of) => {
    const result = play(of);
    const { segments, startupSeconds } = result;
    const { segmentSeconds, bufferCapSeconds, browser } = of.scenario;
    const stallsOfRows = sum(segments.map((row) => row.stallSeconds));
    if (result.endedBy === 'end') {
      expect(segments).toHaveLength(SEGMENTS);
      expect(result.stallSeconds).toBeCloseTo(stallsOfRows, 6);
      expect(result.wastedBits).toBeCloseTo(sum(segments.map((row) => row.abandonedBits)), 3);
    } else expect(result.stallSeconds + startupSeconds).toBeCloseTo(CUTOFF_SECONDS, 6);
    expect(result.stallCount).toBeGreaterThanOrEqual(segments.filter((row) => row.stallSeconds > 0).length);
    const last = segments.at(-1);
    if (last === undefined) return result.endedBy === 'cutoff';
    expect(result.meanBitrateBps).toBeCloseTo(sum(segments.map((row) => row.bitrateBps)) / segments.length, 3);
    // At the last append: appended media are either played or in the buffer.
    const appendedAt = last.requestedAtSeconds + last.downloadSeconds + browser.appendSeconds;
    const played = appendedAt - startupSeconds - stallsOfRows;
    expect(played).toBeGreaterThanOrEqual(-1e-6);
    expect(played).toBeLessThanOrEqual((segments.length - 1) * segmentSeconds + 1e-6);
    let readyAt = 0;
    let stalled = 0;
    for (const [i, { index, requestedAtSeconds, bufferLevelSeconds, ...row }] of segments.entries()) {
      expect(index).toBe(i);
      if (i > 0) {
        expect(requestedAtSeconds).toBeGreaterThan(readyAt - 1e-9);
        expect(bufferLevelSeconds + segmentSeconds).toBeLessThanOrEqual(bufferCapSeconds + 1e-6);
        // The same at every request: played = appended - buffer level.
        const waitedHere = requestedAtSeconds - startupSeconds - stalled;
        const playedThen = i * segmentSeconds - bufferLevelSeconds;
        // Playback may have stalled already during the gap and an initialisation segment.
        expect(waitedHere).toBeGreaterThanOrEqual(playedThen - 1e-6);
        expect(waitedHere).toBeLessThanOrEqual(playedThen + row.stallSeconds + 1e-6);
      }
      readyAt = requestedAtSeconds + row.downloadSeconds;
      stalled += row.stallSeconds;
    }
    return true;
  });
});

test('more capacity never makes a fixed plan wait longer', () => {
  const more = fc.array(between(0, 50), { minLength: 30, maxLength: 30 });
  forAll([session, more], { ...SEED, numRuns: draws(200) }, (of, extra) => {
    const fixed = { ...of, patience: undefined };
    const better = fixed.parts.map(({ seconds, mbps }, i) => ({ seconds, mbps: mbps + extra[i]! }));
    const waited = (result: SessionResult) => result.startupSeconds + result.stallSeconds;
    expect(waited(play({ ...fixed, parts: better }))).toBeLessThanOrEqual(waited(play(fixed)) + 1e-6);
  });
});

test('the same options give the same session, with and without a forecaster and onDecision', () => {
  forAll([session], { ...SEED, numRuns: draws(100) }, (of) => {
    const observations: Observation[] = [];
    const records: AnswerRecord[] = [];
    const plain = play(of);
    const forecaster = recorder((observation) => observations.push(observation));
    const watched = play(of, { forecaster, onDecision: (record) => records.push(record) });
    expect(watched).toEqual(plain);
    expect(records.filter((record) => record.asked === 'decide').length).toBeGreaterThanOrEqual(plain.segments.length);
    let until = 0;
    let backwards = 0;
    for (const observation of observations) {
      const start = observation.kind === 'request-latency' ? observation.atSeconds : observation.startSeconds;
      if (start < until - 1e-9) backwards++;
      until = observation.kind === 'request-latency' ? start : observation.endSeconds;
    }
    expect(backwards).toBe(0);
    const observed = sum(observations.map((o) => (o.kind === 'throughput' ? o.bits : 0)));
    const received = sum(plain.segments.map((row) => row.sizeBits)) + plain.wastedBits;
    expect(observed / received || 0).toBeCloseTo(received > 0 ? 1 : 0, 5);
  });
});
