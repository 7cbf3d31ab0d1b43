/** Laws of a session's log: a new controller gives the same answers to it, also to a log that was JSON. */

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Controller } from '../../../abr/index.ts';
import { between, forAll, whole } from '../../../abr/property.fixture.ts';
import { createController } from '../../algorithms.ts';
import type { PlannedSession } from '../../evaluation/plan/plan.ts';
import { testTrace } from '../../evaluation/test-sessions.fixture.ts';
import type { AnswerRecord } from '../../observed-controller.ts';
import type { RequestLogEntry } from '../../origin/index.ts';
import type { ResolvedScenario } from '../../results.ts';
import { resolveScenario, scenarioNamed } from '../../scenario-file.ts';
import { type LiveStream, SCENARIOS } from '../../scenarios.ts';
import { type SessionTask, simulatedAlgorithm } from '../../simulator/algorithms.ts';
import { IDEAL_BROWSER, partsUpTo, traceOfParts, traceUntil } from '../../simulator/made-up.fixture.ts';
import { simulateSession } from '../../simulator/play.ts';
import type { SimulationOptions } from '../../simulator/simulation-options.ts';
import { browserSessionResult } from './browser-session-result.ts';
import { inconsistencies } from './consistency.ts';
import { decidedAgain } from './decided-again.fixture.ts';
import { type DecisionRecord, decisionRecord } from './decisions.ts';
import { downloadTimings, isLate, lateShare, modelOf, responseSeconds } from './lateness.ts';
import { playbackHistory } from './playback-history.ts';
import type { BrowserSessionRecord, DownloadTiming, RequestRecord } from './session-record.ts';

function logOf(algorithm: string, task: Omit<SessionTask, 'timings'>, more: Partial<SimulationOptions> = {}) {
  const log: AnswerRecord[] = [];
  const options = simulatedAlgorithm(algorithm)({ ...task, timings: false });
  simulateSession({ ...options, ...more, onDecision: (record) => log.push(record) });
  return log;
}

/** The log in JSON, with kept downloads as decisions for -1, and without paces. */
function recordsOf(log: readonly AnswerRecord[]): DecisionRecord[] {
  const records = log.flatMap(({ asked, answer, state, inFlight, forecast }) => {
    if (asked === 'pace') return [];
    const decision = answer === 'keep' ? { representation: -1, controller: '', reason: '' } : answer;
    const kind = asked === 'decide' ? asked : 'abandon';
    return [decisionRecord({ kind, decision, state, inFlight, forecast }, '')];
  });
  return JSON.parse(JSON.stringify(records));
}

const differences = (records: readonly DecisionRecord[], algorithm: string, seed: number) =>
  decidedAgain(records, { algorithm, seed }).filter(
    ([recorded, again]) => again !== (recorded < 0 ? 'keep' : recorded),
  );

function answerOf(controller: Controller, { asked, state, inFlight, forecast }: AnswerRecord) {
  if (asked === 'decide') return controller.decide(state, forecast);
  if (asked === 'pace') return controller.pace!(state, inFlight, forecast);
  return controller.reconsider!(state, inFlight!, forecast);
}

const drawn = fc.record({
  trace: partsUpTo(100, { maxLength: 8 }).map((parts) => traceOfParts(parts, 2)),
  startSeconds: between(0, 100),
  seed: whole(0, 1e6),
});

// Live, the textbook's plan needs the segments that remain: `Infinity`, which JSON does not have.
test.each(['mpc-d', 'mpc-d:textbook', 'mpc-l', 'bola', 'throughput'])(
  '%s answers a log as in its session',
  (algorithm) => {
    const asked = new Set<string>();
    for (const [name, segmentCount] of [['uhd-16', 16] as const, ['live-hd-1', 18] as const]) {
      const scenario = resolveScenario(scenarioNamed(name));
      forAll([drawn], { seed: 1, numRuns: 12 }, (place) => {
        const log = logOf(algorithm, { ...place, scenario, segmentCount }, { cutoffSeconds: 30 });
        const controller = createController(algorithm, { seed: place.seed });
        expect(log.map((record) => answerOf(controller, record))).toEqual(log.map(({ answer }) => answer));
        // No answer depends on earlier ones.
        expect(differences(recordsOf(log).reverse(), algorithm, place.seed)).toEqual([]);
        for (const record of log) asked.add(record.answer === 'keep' ? 'keep' : record.asked);
      });
    }
    const more = { 'mpc-l': ['keep', 'pace', 'reconsider'], throughput: ['keep', 'reconsider'] }[algorithm] ?? [];
    expect([...asked].sort()).toEqual(['decide', ...more]);
  },
);

/** With outages, so that downloads are abandoned. */
const outages = [20, 40, 60, 80].flatMap((until) => [
  { until, mbps: 70 },
  { until: until + 3, mbps: 1 },
]);
const scenario = resolveScenario({ ...SCENARIOS['uhd-8']!, mu: 77 });
const task = { trace: traceUntil(outages), scenario, startSeconds: 0, segmentCount: 24, seed: 3 };

test('each part of the record counts: state, forecast, prices and the download in flight', () => {
  const records = recordsOf(logOf('mpc-l', task));
  const differing = (change: (record: DecisionRecord) => Partial<DecisionRecord>) => {
    const changed = records.map((record) => ({ ...record, ...change(record) }));
    return differences(changed, 'mpc-l', task.seed).length;
  };
  expect(differing(() => ({}))).toBe(0);
  expect(differing(({ state }) => ({ state: { ...state, bufferLevelSeconds: 0.2 } }))).toBeGreaterThan(0);
  expect(differing(({ weights }) => ({ weights: { ...weights, mu: 1e6 } }))).toBeGreaterThan(0);
  const slower = (forecast: DecisionRecord['forecast']) =>
    forecast?.kind !== 'path' && forecast
      ? { ...forecast, quantilesBps: forecast.quantilesBps.map((row) => row.map((bps) => bps / 3)) }
      : undefined;
  expect(differing(({ forecast }) => ({ forecast: slower(forecast)! }))).toBeGreaterThan(0);
  const done = ({ inFlight }: DecisionRecord) =>
    inFlight ? { inFlight: { ...inFlight, receivedBits: inFlight.sizeBits } } : {};
  expect(differing(done)).toBeGreaterThan(0);
});

test('a path is not recorded, so its decisions are left out', () => {
  const records = recordsOf(logOf('mpc-o', task));
  expect(records.map(({ forecast }) => forecast?.source)).toEqual(Array(24).fill('oracle'));
  expect(records[0]!.forecast).not.toHaveProperty('path');
  expect(decidedAgain(records, { algorithm: 'mpc-o', seed: task.seed })).toEqual([]);
});

const LADDER_BPS = [1e6, 2e6];
const SIZES_BITS = Array(3).fill([4e6, 8e6]) as number[][];

const request = (index: number, representation: number, [from, to]: [number, number]): RequestRecord => {
  const media = { index, representationId: `video-${representation}`, bitrateBps: LADDER_BPS[representation]! };
  const times = { requestedAtSeconds: from, endedAtSeconds: to, bufferLevelSeconds: 0 };
  return { ...media, ...times, receivedBits: SIZES_BITS[index]![representation]!, outcome: 'complete' };
};

const decision = (index: number, representation: number, [nowSeconds, bufferLevelSeconds]: [number, number]) =>
  ({
    kind: 'decide',
    representationId: `video-${representation}`,
    decision: { representation, controller: 'test', reason: `because of ${index}` },
    state: { nowSeconds, bufferLevelSeconds, segmentIndex: index, started: nowSeconds > 0 },
  }) as DecisionRecord;

/** Three segments of 4 s, one stall, one abandoned request. */
function recordedSession(): BrowserSessionRecord {
  const abandonment: DecisionRecord = { ...decision(1, 0, [3, 2]), kind: 'abandon' };
  return {
    endedBy: 'end',
    requests: [
      request(0, 0, [0, 1]),
      { ...request(1, 1, [1, 3]), outcome: 'abandoned', receivedBits: 1e6 },
      request(1, 0, [3, 6.5]),
      { ...request(2, 1, [6.6, 8]), bufferLevelSeconds: 3.9 },
    ],
    decisions: [decision(0, 0, [0, 0]), decision(1, 1, [1, 4]), abandonment, decision(2, 1, [6.6, 3.9])],
    startupSeconds: 1,
    stalls: [{ startSeconds: 4.97, endSeconds: 6.52, mediaSeconds: 3.97 }],
    unaccountedSeconds: 0.001,
    widthsOnScreen: [[64], [64], [96]],
    decisionMillis: [0.1, 0.2, 0.3],
    protocols: { 'http/1.1': 3 },
    userAgent: 'test',
    playerVersion: '5.2.1',
  };
}

describe('browser-session-result', () => {
  const media = { ladderBps: LADDER_BPS, mu: 2, segmentCount: 3, segmentSizesBits: SIZES_BITS };
  const scenario: ResolvedScenario = { ...SCENARIOS['uhd-8']!, ...media };
  const trace = testTrace('a trace', 60, 'made up', 'desk');
  const planned: PlannedSession = { trace, startSeconds: 61, segmentCount: 3, algorithm: 'mpc-d', seed: 7 };

  test('a result has one row per segment, with the downloads and stalls of all its requests', () => {
    const result = browserSessionResult(recordedSession(), { planned, scenario, timings: false });
    const row = { bitrateBps: 1e6, sizeBits: 4e6, bufferLevelSeconds: 0, stallSeconds: 0, abandonedBits: 0 };
    expect(result.segments).toEqual([
      { ...row, index: 0, requestedAtSeconds: 0, downloadSeconds: 1, reason: 'because of 0' },
      {
        ...{ ...row, index: 1, requestedAtSeconds: 1, downloadSeconds: 5.5, reason: 'because of 1' },
        ...{ stallSeconds: 1.55, abandonedBits: 1e6 },
      },
      {
        ...{ ...row, index: 2, requestedAtSeconds: 6.6, downloadSeconds: 1.4, reason: 'because of 2' },
        ...{ bitrateBps: 2e6, sizeBits: 8e6, bufferLevelSeconds: 3.9 },
      },
    ]);
    expect(result).toMatchObject({ trace: 'a trace', dataset: 'made up', group: 'desk', startSeconds: 61, seed: 7 });
    expect(result).toMatchObject({
      algorithm: 'mpc-d',
      endedBy: 'end',
      startupSeconds: 1,
      switches: 1,
      switchBps: 1e6,
    });
    expect(result).toMatchObject({ stallSeconds: 1.55, stallCount: 1, wastedBits: 1e6 });
    // (1 + 1 + 2) - 2 * (1 + 1.55) - 1, per segment of 4 s.
    expect(result.qoe.linear).toBeCloseTo((4 - 5.1 - 1) / 3, 6);
    expect(result).not.toHaveProperty('decisionMicros');
  });

  test('an unfinished session keeps its stalls and received bits', () => {
    const whole = recordedSession();
    const record = { ...whole, endedBy: 'cutoff' as const, requests: whole.requests.slice(0, 2) };
    const result = browserSessionResult(record, { planned, scenario, timings: true });
    expect(result.segments.map(({ index }) => index)).toEqual([0]);
    expect(result).toMatchObject({ endedBy: 'cutoff', stallSeconds: 1.55, wastedBits: 1e6 });
    expect(result.decisionMicros).toEqual({ p50: 200, p99: expect.closeTo(298, 9) });
    expect(Number.isFinite(result.qoe.linear)).toBe(true);
  });

  test('without any picture the startup delay lasts to the end of the session', () => {
    const { startupSeconds, ...rest } = recordedSession();
    const record = { ...rest, endedBy: 'fault' as const, fault: 'why', stalls: [] };
    const result = browserSessionResult(record, { planned, scenario, timings: false });
    expect(result).toMatchObject({ endedBy: 'fault', fault: 'why', startupSeconds: 8 });
  });
});

const TARGET = { targetLatencySeconds: 2, chunkSeconds: 1 };
const LIVE = { ...TARGET, encoderLatencySeconds: 0.3, timeShiftSeconds: 4 };

const OPTIONS = { segmentSeconds: 4, segmentCount: 3, hasDecisions: true };
const check = (change: Partial<BrowserSessionRecord> = {}, options: Parameters<typeof inconsistencies>[1] = OPTIONS) =>
  inconsistencies({ ...recordedSession(), ...change }, options);

const { decisions, requests } = recordedSession();
const otherDecisions = [{ ...decisions[0]!, representationId: 'video-1' }, ...decisions.slice(1)];

/** What is wrong with the widths of a segment. */
const shown = (segment: number, [video, pixels]: [number, number], ...widths: number[]) =>
  `segment ${segment}: video-${video} is ${pixels} pixels wide, the widths on screen were [${widths.join(', ')}]`;
const STALL = 'at 6.60 s: stalled 1.500 s according to the decisions, 0.000 s according to the element';

test.each<[string, Partial<BrowserSessionRecord>, string[]]>([
  ['agreement', {}, []],
  ['an unfinished session', { endedBy: 'fault', widthsOnScreen: [] }, []],
  ['a picture that was not loaded', { widthsOnScreen: [[64], [64], [64]] }, [shown(2, [1, 96], 64)]],
  ['no picture', { widthsOnScreen: [[64], [], [96]] }, [shown(1, [0, 64])]],
  ['another decision', { decisions: otherDecisions }, ['segment 0: the decision was video-1, the request video-0']],
  ['two requests', { requests: [...requests, requests[0]!] }, ['segment 0 was loaded 2 times']],
  ['no stall', { stalls: [] }, [STALL]],
  ['lost time', { unaccountedSeconds: 0.4 }, ['the playhead lost 0.400 s without a waiting event']],
])('%s', (_, change, expected) => {
  expect(check(change)).toEqual(expected);
});

test('without decisions of its own a session has nothing to compare', () => {
  expect(check({ decisions: [] }, { ...OPTIONS, hasDecisions: false })).toEqual([]);
});

test('of a live session: segments that were not shown do not count, latencies do', () => {
  const { decisions, ...record } = recordedSession();
  const positions = [{ atSeconds: 1, mediaSeconds: 3, rate: 0.5 }];
  const played: BrowserSessionRecord = {
    ...record,
    // Joined in segment 1; after a jump dash.js did not ask.
    widthsOnScreen: [[], [64], [96]],
    decisions: decisions.filter(({ state }) => state.segmentIndex === 1),
    live: { positions, jumps: 1, endSeconds: 4.9, shownLatencySeconds: 3.95 },
  };
  const options = { ...OPTIONS, live: LIVE };
  expect(inconsistencies(played, options)).toEqual([]);
  played.live!.shownLatencySeconds = 3.7;
  expect(inconsistencies(played, options)).toEqual([
    'at 4.90 s: a latency of 3.700 s according to dash.js, 3.950 s according to the element',
  ]);
  played.live!.shownLatencySeconds = 3.95;
  // The plugin's clock starts at its first request, half a second after the join.
  const decision = played.decisions.at(-1);
  const latencySeconds = 4 + 2.5 - 3 - 0.5 * (2.5 - 1);
  played.requests = record.requests.map((one) => ({ ...one, requestedAtSeconds: one.requestedAtSeconds + 0.5 }));
  const bounds = { playbackRates: { min: 0.95, max: 1.05 }, maxLatencySeconds: 10, firstChunkAtSeconds: 0 };
  const state = { ...decision!.state, nowSeconds: 2, live: { ...bounds, ...TARGET, latencySeconds } };
  played.decisions = [{ ...decision!, state }];
  expect(inconsistencies(played, options)).toEqual([]);
  state.live.latencySeconds += 0.3;
  expect(inconsistencies(played, options)).toHaveLength(1);
});

test('of a live session: chunks of an abandoned download may be on screen', () => {
  const showing = (widthsOnScreen: number[][]) => check({ widthsOnScreen }, { ...OPTIONS, live: LIVE });
  expect(showing([[64], [96, 64], [96]])).toEqual([]);
  expect(showing([[64], [128, 64], [96]])).toEqual([shown(1, [0, 64], 128, 64)]);
  // On demand a segment plays once all of it is here.
  expect(check({ widthsOnScreen: [[64], [96, 64], [96]] })).toHaveLength(1);
});

const browser = { ...IDEAL_BROWSER, responseSeconds: 0.007, responseSecondsPerBit: 0.12e-9 };

const served = (segmentIndex: number, representation: number, [from, to]: [number, number]): RequestLogEntry => {
  const representationId = `video-${representation}`;
  const times = { requestedAtSeconds: from, prescribedEndSeconds: to };
  const sent = { kind: 'segment', bytes: 5e5, sentBytes: 5e5, outcome: 'complete' } as const;
  return { path: `${representationId}/${segmentIndex + 1}.m4s`, representationId, segmentIndex, ...sent, ...times };
};

test('pairs the downloads of page and origin, without abandoned ones', () => {
  const { prescribedEndSeconds, ...abandoned } = served(1, 1, [1, 3]);
  const log = [served(0, 0, [0, 0.99]), abandoned, served(1, 0, [3.001, 6.4]), served(2, 1, [6.6, 7.99])];
  const timings = downloadTimings(recordedSession(), log);
  expect(timings.map(({ index }) => index)).toEqual([0, 1, 2]);
  const measured = timings.map(({ measuredSeconds }) => measuredSeconds);
  expect(measured).toEqual([1, 3.5, expect.closeTo(1.4, 9)]);
  const prescribed = timings.map(({ prescribedSeconds }) => prescribedSeconds);
  expect(prescribed).toEqual([0.99, expect.closeTo(3.399, 9), expect.closeTo(1.39, 9)]);
  expect(timings.map((timing) => isLate(timing, browser))).toEqual([false, false, false]);
});

test('the parts of a segment are one download, from the first request to the last end', () => {
  const session = recordedSession();
  const part = (from: number, to: number) => ({ ...served(0, 0, [from, to]), bytes: 2.5e5 });
  const [timing] = downloadTimings(session, [part(0, 0.4), part(0.41, 0.9)]);
  expect(timing).toMatchObject({ index: 0, sizeBits: 4e6, prescribedSeconds: 0.9 });
});

test('late is more than 3 % and more than 50 ms beyond the usual time of the browser', () => {
  const timing = (prescribedSeconds: number, seconds: number, sizeBits = 0) => {
    const measuredSeconds = seconds + responseSeconds(browser, sizeBits);
    return { prescribedSeconds, measuredSeconds, sizeBits } as DownloadTiming;
  };
  expect(responseSeconds(browser, 500e6)).toBeCloseTo(0.067, 9);
  const timings = [timing(1, 1.049), timing(1, 1.051, 5e8), timing(10, 10.29), timing(10, 10.31)];
  expect(timings.map((one) => isLate(one, browser))).toEqual([false, true, false, true]);
  // By bits: one of four downloads is late, with half of the bits.
  expect(lateShare([timing(1, 1, 1e6), timing(1, 2, 3e6), timing(1, 1, 1e6), timing(1, 0.5, 1e6)], browser)).toBe(0.5);
  expect(lateShare([], browser)).toBe(0);
});

test("Shaka's own time after the last byte is not late", () => {
  const timing = { prescribedSeconds: 1, measuredSeconds: 1.11, sizeBits: 0 } as DownloadTiming;
  expect(isLate(timing, modelOf('dash', browser))).toBe(true);
  expect(isLate(timing, modelOf('shaka', browser))).toBe(false);
});

describe('playback-history', () => {
  const TARGET = { targetLatencySeconds: 2, timeShiftSeconds: 10 };
  const LIVE: LiveStream = { ...TARGET, chunkSeconds: 0.5, encoderLatencySeconds: 0.3 };
  const at = (atSeconds: number, mediaSeconds: number, rate = 1) => ({ atSeconds, mediaSeconds, rate });
  const record = (positions: ReturnType<typeof at>[], stalls: [start: number, end: number, media: number][] = []) => ({
    stalls: stalls.map(([startSeconds, endSeconds, mediaSeconds]) => ({ startSeconds, endSeconds, mediaSeconds })),
    live: { positions, jumps: 0, endSeconds: 8, shownLatencySeconds: 0 },
  });

  test('pieces are cut at changes of the rate and at stalls, without gaps', () => {
    const positions = [at(1, 8), at(2, 9, 0.5), at(6, 10, 1)];
    expect(playbackHistory(record(positions, [[4, 6, 10]]), LIVE)).toEqual([
      { seconds: 1, latencySeconds: 3, rate: 1, isStalled: false },
      { seconds: 2, latencySeconds: 3, rate: 0.5, isStalled: false },
      { seconds: 2, latencySeconds: 4, rate: 1, isStalled: true },
      { seconds: 2, latencySeconds: 6, rate: 1, isStalled: false },
    ]);
  });

  test('a session without pictures stalls from the join on', () => {
    expect(playbackHistory(record([]), LIVE)).toEqual([{ seconds: 8, latencySeconds: 2, rate: 1, isStalled: true }]);
  });
});
