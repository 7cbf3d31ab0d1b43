import { describe, expect, test } from '@jest/globals';
import { createController } from '../../../abr/index.ts';
import type { ResolvedScenario } from '../../results.ts';
import { IDEAL_BROWSER, SCENARIOS, type Scenario, segmentSizesBits } from '../../scenarios.ts';
import { roundedSession } from '../../simulator/session-result.ts';
import { linkOf } from '../../simulator/session-setup.ts';
import { simulateSession } from '../../simulator/simulate-session.ts';
import type { Trace } from '../../trace.ts';
import { responseSeconds } from '../lateness.ts';
import type { DecisionRecord, RequestRecord } from '../session-record.ts';
import { compareWithSimulator, measureBrowser } from './compare-sessions.ts';
import { parseRawSessions, type RawSession } from './raw-sessions.ts';

const browser = { ...IDEAL_BROWSER, responseSeconds: 0.01, responseSecondsPerBit: 1e-10 };
const plain: Scenario = { ...SCENARIOS['uhd-8']!, segmentCount: 12, browser };
const scenario: ResolvedScenario = { ...plain, segmentSizesBits: segmentSizesBits(plain) };

const traces = ['one', 'two', 'three'].map((name, k): Trace => {
  const levels = [30e6, 12e6, 70e6, 5e6, 40e6].map((bps) => bps * (1 + k / 5));
  return {
    name,
    stepEndsSeconds: Float64Array.from(levels, (_, i) => 15 * (i + 1)),
    ratesBps: Float64Array.from(levels),
    durationSeconds: 75,
    metadata: { dataset: 'made up', recordingGroup: name },
  };
});

/** A session as the simulator plays it, in the form in which a browser's is recorded. */
function asIfRecorded(trace: Trace, algorithm: string): RawSession {
  const decisions: DecisionRecord[] = [];
  const result = simulateSession({
    trace,
    scenario,
    controller: createController(algorithm),
    onDecision({ state: { weights, ...state }, answer }) {
      if (answer === 'keep') return;
      decisions.push({ kind: 'decide', representationId: `video-${answer.representation}`, decision: answer, state });
    },
  });
  const link = linkOf(trace, scenario);
  const requests = result.segments.map(
    (row): RequestRecord => ({
      index: row.index,
      representationId: `video-${scenario.ladderBps.indexOf(row.bitrateBps)}`,
      bitrateBps: row.bitrateBps,
      requestedAtSeconds: row.requestedAtSeconds,
      bufferLevelSeconds: row.bufferLevelSeconds,
      endedAtSeconds: row.requestedAtSeconds + row.downloadSeconds,
      receivedBits: row.sizeBits,
      outcome: 'complete',
    }),
  );
  return {
    trace: trace.name,
    dataset: trace.metadata.dataset,
    startSeconds: 0,
    segmentCount: scenario.segmentCount,
    algorithm,
    seed: 1,
    attempt: 1,
    result: roundedSession(result),
    record: {
      endedBy: 'end',
      requests,
      decisions,
      startupSeconds: result.startupSeconds,
      stalls: [],
      unaccountedSeconds: 0,
      widthsOnScreen: [],
      droppedFrames: 0,
      presentedFrames: 0,
      decisionMillis: [],
      userAgent: 'none',
      dashVersion: 'none',
    },
    timings: result.segments.map(({ index, sizeBits, requestedAtSeconds, bitrateBps }) => {
      const prescribedSeconds = link.downloadSeconds(requestedAtSeconds, sizeBits);
      const representationId = `video-${scenario.ladderBps.indexOf(bitrateBps)}`;
      const measuredSeconds = prescribedSeconds + responseSeconds(scenario.browser, sizeBits);
      return { index, representationId, sizeBits, requestedAtSeconds, prescribedSeconds, measuredSeconds };
    }),
    inconsistencies: [],
    originLog: [],
  };
}

/** As it is after a trip through the raw file. */
const written = (sessions: readonly RawSession[]) =>
  parseRawSessions(sessions.map((session) => `${JSON.stringify(session)}\n`).join(''), 'raw.jsonl');

describe('compareWithSimulator', () => {
  const sessions = ['mpc-d', 'throughput'].flatMap((name) => traces.map((trace) => asIfRecorded(trace, name)));

  test('a browser that is the simulator agrees with it in everything', () => {
    const rows = compareWithSimulator({ sessions: written(sessions), scenario, traces, seed: 1 });
    expect(rows.map(({ algorithm }) => algorithm)).toEqual(['mpc-d', 'throughput']);
    for (const row of rows) {
      expect(row).toMatchObject({
        sessions: 3,
        again: { decisions: 36, same: 36 },
        downloads: { count: 36, withinThreePercent: 1 },
        sameRepresentation: { value: 1, ci95: [1, 1] },
        inconsistentSessions: 0,
      });
      expect(row.downloads.p95).toBeLessThan(1e-9);
      for (const estimate of [row.qoeDiff, row.stallDiffSeconds]) expect(Math.abs(estimate.value)).toBeLessThan(1e-5);
    }
  });

  test('differences are found, with their sign', () => {
    const changed = sessions.slice(0, 3).map((session) => ({
      ...session,
      timings: session.timings.map((timing) => ({ ...timing, measuredSeconds: timing.measuredSeconds * 1.1 })),
      result: {
        ...session.result,
        stallSeconds: session.result.stallSeconds + 0.5,
        segments: session.result.segments.map((row, i) => (i < 3 ? { ...row, bitrateBps: 1 } : row)),
      },
    }));
    const [row] = compareWithSimulator({ sessions: written(changed), scenario, traces, seed: 1 });
    expect(row!.stallDiffSeconds.value).toBeCloseTo(0.5, 5);
    expect(row!.sameRepresentation.value).toBeCloseTo(0.75, 9);
    expect(row!.downloads.median).toBeCloseTo(0.1, 9);
    expect(row!.downloads.withinThreePercent).toBe(0);
  });

  test('rejected sessions do not count; a trace that is missing is named', () => {
    const [first, ...others] = sessions.slice(0, 3);
    const rows = compareWithSimulator({
      sessions: [{ ...first!, rejected: 'late' }, ...others],
      scenario,
      traces,
      seed: 1,
    });
    expect(rows[0]!.sessions).toBe(2);
    expect(() => compareWithSimulator({ sessions, scenario, traces: traces.slice(1), seed: 1 })).toThrow(
      /traces: expected trace "one" of data set "made up"/,
    );
  });
});

describe('measureBrowser', () => {
  test('tells lateness at a full buffer from the way to the next request', () => {
    const session = asIfRecorded(traces[0]!, 'throughput');
    const request = (index: number, from: number, to: number, level: number): RequestRecord => ({
      ...session.record.requests[0]!,
      index,
      requestedAtSeconds: from,
      endedAtSeconds: to,
      bufferLevelSeconds: level,
    });
    const requests = [
      request(0, 0, 1, 0),
      request(1, 1.02, 3, 3.98),
      request(2, 5.1, 9.5, 3.87),
      request(3, 9.52, 10, 2),
    ];
    const stalls = [{ startSeconds: 8.95, endSeconds: 9.51, mediaSeconds: 7.97 }];
    const record = { ...session.record, requests, stalls };
    const measured = measureBrowser([{ ...session, record }], scenario);
    expect(measured.requestLatenessSeconds).toMatchObject({ count: 1, mean: expect.closeTo(0.13, 6) });
    expect(measured.nextRequestSeconds).toMatchObject({ count: 2, mean: expect.closeTo(0.02, 6) });
    expect(measured.resumeSeconds).toMatchObject({ count: 1, mean: expect.closeTo(0.01, 6) });
    expect(measured.stallLevelSeconds).toMatchObject({ count: 1, mean: expect.closeTo(0.03, 6) });
    expect(Math.abs(measured.responseResidualSeconds.mean)).toBeLessThan(1e-9);
  });
});

describe('parseRawSessions', () => {
  test('names file and line of what is no session', () => {
    expect(() => parseRawSessions('{"record":{"requests":[]},"timings":[]}\n{}\n', 'x.jsonl')).toThrow(
      /^x.jsonl:2: expected a session/,
    );
    expect(parseRawSessions('', 'x.jsonl')).toEqual([]);
  });
});
