import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll } from '../../../abr/property.fixture.ts';
import { PERCEIVED_PRICES } from '../../../abr/qoe/perceived-qoe.ts';
import { modelledQuality } from '../../../abr/qoe/quality.ts';
import type { SessionResult } from '../../results.ts';
import { sessionTotals } from '../../session-result.ts';
import { traceUntil } from '../../simulator/made-up.fixture.ts';
import { unitsByDataset } from '../statistics/resampling-units.ts';
import {
  testLiveMetrics,
  testResults,
  testScenario,
  testSession,
  testSummary,
  testTrace,
} from '../test-sessions.fixture.ts';
import { firstMinute } from './first-minute.ts';
import { householdDifference, householdSummary, householdsOf, instability, unfairness } from './household-figures.ts';
import { withLinkNotes } from './link-notes.ts';
import { liveMetrics, type PlaybackPiece, type WatchedStream } from './live-metrics.ts';
import { componentDifference, qoeComponents } from './qoe-components.ts';
import { largeDatasets, shownGapClosed, tooFewSessions } from './verdicts.ts';

const RULES = { ladderBps: [1e6, 2e6, 3e6, 4e6, 8e6], segmentSeconds: 4, segmentCount: 30 };
const [SEGMENT] = testSession().segments;
const played = (bitrates: readonly number[], more: Partial<SessionResult> = {}) =>
  testSession({
    segments: bitrates.map((mbps, index) => ({ ...SEGMENT!, index, bitrateBps: mbps * 1e6, stallSeconds: 0 })),
    startupSeconds: 0,
    ...more,
  });
const steps = (...parts: [mbps: number, count: number][]) =>
  parts.flatMap(([mbps, n]) => new Array<number>(n).fill(mbps));

test('the first 60 s have what viewers see: quality, less stalls', () => {
  const even = played(steps([3, 30]));
  const late = played(steps([3, 15], [1, 15]));
  const stalled = played(steps([3, 30]));
  stalled.segments[2]!.stallSeconds = 1;
  const [first, second, third] = [even, late, stalled].map((one) => firstMinute(one, RULES).perceivedFirst60Seconds);
  expect(first).toBeCloseTo(modelledQuality({ bitrateBps: 3e6 }), 9);
  expect(second).toBe(first);
  expect(first! - third!).toBeCloseTo((PERCEIVED_PRICES.stall + PERCEIVED_PRICES.stallSecond) / 15, 9);
});

test('the ramp ends with 80 % of the later bitrate; startup and the stalls before it delay it', () => {
  const session = played(steps([1, 4], [8, 26]));
  expect(firstMinute(session, RULES).rampSeconds).toBe(16);
  session.segments[2]!.stallSeconds = 1;
  session.segments[20]!.stallSeconds = 5;
  expect(firstMinute({ ...session, startupSeconds: 2 }, RULES).rampSeconds).toBe(19);
});

test('segments that never arrived count as media of quality 0', () => {
  const whole = firstMinute(played(steps([3, 5])), RULES).perceivedFirst60Seconds;
  expect(whole).toBeCloseTo(modelledQuality({ bitrateBps: 3e6 }), 9);
  const cut = firstMinute(played(steps([3, 5]), { endedBy: 'cutoff' }), RULES).perceivedFirst60Seconds;
  expect(cut).toBeLessThan(0.4 * whole!);
});

const rows = (mbps: number[]) => mbps.map((value) => ({ bitrateBps: value * 1e6 }));

test('unfairness is 0 for equal values and for none, sqrt(1 - 1/n) if one has everything', () => {
  expect(unfairness([3, 3, 3])).toBe(0);
  expect(unfairness([0, 0])).toBe(0);
  expect(unfairness([7, 0, 0, 0])).toBeCloseTo(Math.sqrt(3 / 4), 12);
  // Jain: (1 + 3)^2 / (2 x 10).
  expect(unfairness([1, 3])).toBeCloseTo(Math.sqrt(1 - 16 / 20), 12);
});

test('unfairness does not depend on the order or the unit', () => {
  const values = fc.array(between(-100, 100), { minLength: 1 });
  forAll([values], { seed: 1 }, (list) => {
    expect(unfairness([...list].reverse().map((value) => value * 8))).toBeCloseTo(unfairness(list), 5);
  });
});

test('instability is 0 without changes, and for sessions shorter than the window', () => {
  expect(instability(rows(Array(20).fill(5)), { segmentSeconds: 4 })).toBe(0);
  expect(instability(rows([1, 8, 1, 8, 1]), { segmentSeconds: 4 })).toBe(0);
});

test('instability weights recent seconds more', () => {
  // The one value is of second 20. Its weights are 20 for the change to it, and 19 + ... + 1 for the bitrates before.
  expect(instability(rows([...Array(20).fill(2), 5]), { segmentSeconds: 1 })).toBeCloseTo((3 * 20) / (2 * 190), 12);
  const early = instability(rows([2, ...Array(20).fill(5)]), { segmentSeconds: 1 });
  expect(early).toBeCloseTo(3 / (5 * 190), 12);
});

/** Two players with these QoEs. */
function household(algorithm: string, trace: string, qoes: number[]): SessionResult[] {
  return qoes.map((linear, player) => ({
    ...testSession({ dataset: 'd', trace, group: trace, algorithm, startSeconds: 0 }),
    qoe: { linear, log: 0, hd: null, perceived: linear },
    household: { name: 'two', algorithm, player, joinSeconds: player, linkUtilisation: 0.75 },
  }));
}

const sessions = Array.from({ length: 9 }, (_, i) => [
  ...household('mpc-d', `t${i}`, [4, 2]),
  ...household('mpc-l', `t${i}`, [3 + i, 5]),
]).flat();
const scenario = testScenario();
const households = householdsOf(sessions, scenario);

test('the figures of a household are of all its players', () => {
  expect(households).toHaveLength(18);
  expect(households[1]).toMatchObject({
    ...{ trace: 't0', household: 'two', algorithm: 'mpc-l', players: 2, linkUtilisation: 0.75 },
    ...{ qoeSum: 8, qoeLeast: 3, qoeP5: 3.1, qoeUnfairness: 0.242536, bitrateUnfairness: 0 },
  });
  expect(householdsOf([testSession()], scenario)).toEqual([]);
});

test('the figures of households are compared by place, with intervals over groups', () => {
  const of = (algorithm: string) => households.filter((one) => one.algorithm === algorithm);
  const options = { ways: unitsByDataset(sessions), seed: 1, label: 'd' };
  const difference = householdDifference(of('mpc-l'), of('mpc-d'), options)!;
  expect(difference).toMatchObject({ pairs: 9, units: 9, resampledBy: 'groups' });
  // The sums are 8 + i instead of 6, the least min(3 + i, 5) instead of 2.
  expect(difference.qoeSum.value).toBeCloseTo(6, 12);
  expect(difference.qoeLeast.value).toBeCloseTo((1 + 2 + 7 * 3) / 9, 12);
  expect(difference.qoeSum.ci95![0]).toBeGreaterThan(3);
  expect(difference.qoeSum.ci95![1]).toBeLessThan(9);
  expect(householdDifference(of('mpc-l'), [], options)).toBeUndefined();
});

test('the figures of neighbours, whose algorithm the household names, are apart', () => {
  const seat = { name: 'mixed', linkUtilisation: 0.5, joinSeconds: 0 };
  const play = (algorithm: string, stalls: number[], bps: number) =>
    ['t0', 't1'].flatMap((trace) =>
      stalls.map((stallSeconds, player) => ({
        ...testSession({ trace, group: trace, algorithm: player === 0 ? algorithm : 'dynamic', stallSeconds }),
        ...{ qoeLinear: 0, qoe: { linear: 0, log: 0, hd: null, perceived: 90 - stallSeconds }, meanBitrateBps: bps },
        household: { ...seat, algorithm, player },
      })),
    );
  const players = [{ joinSeconds: 0 }, { joinSeconds: 0, algorithm: 'dynamic' }];
  const household = { name: 'mixed', players, traffic: [] };
  const mixed = [...play('dynamic', [2, 4], 4e6), ...play('mpc-l', [0, 1], 3e6)];
  const rows = householdSummary(testResults(mixed, { baseline: 'dynamic', household }));
  expect(rows.map(({ players, algorithm, stallSeconds }) => [players, algorithm, stallSeconds])).toEqual([
    ...[
      ['all', 'dynamic', 3],
      ['all', 'mpc-l', 0.5],
      ['own', 'dynamic', 2],
      ['own', 'mpc-l', 0],
    ],
    ...[
      ['neighbours', 'dynamic', 4],
      ['neighbours', 'mpc-l', 1],
    ],
  ]);
  const [all, , , , , beside] = rows;
  expect(all).toMatchObject({ perceived: 87, perceivedLeast: 86, meanBitrateBps: 4e6, difference: undefined });
  expect(beside).toMatchObject({ perceived: 89, difference: { perceived: { value: 3 }, stallSeconds: { value: -3 } } });
});

describe('link-notes', () => {
  const uhd = testScenario();
  const household = { name: 'two', algorithm: 'mpc-d', player: 1, joinSeconds: 10.5, linkUtilisation: 1 };

  /** Its only download ends at 51 s. */
  const [segment] = testSession().segments;
  const session = testSession({ segments: [{ ...segment!, requestedAtSeconds: 49, downloadSeconds: 2 }] });
  /** One segment of 4 s, and 600 s of waiting. */
  const cut = { endedBy: 'cutoff' as const, startupSeconds: 20, stallSeconds: 580 };
  const live = (watchedSeconds: number) => ({ startupSeconds: 1, live: testLiveMetrics({ watchedSeconds }) });

  test.each<[string, Partial<SessionResult>, number, number | undefined]>([
    ['counts from the second at which the trace of 59 s begins again, 45', {}, 59, 6],
    ['counts from the end of a whole trace', { startSeconds: 10 }, 60, 1],
    ['does not count within the trace', {}, 60, undefined],
    ['does not count at the end', { startSeconds: 9 }, 60, undefined],
    ['of a household counts from its join', { household }, 60, 1.5],
    ['that was cut off ends at its cutoff', cut, 60, 544],
    ['that was cut off at once, too', { ...cut, segments: [] }, 60, 540],
    // Browsers notice somewhat later.
    ['of a live stream ends with its encoder', live(59.4), 60, undefined],
    ['of a live stream that is a second late counts it', live(60), 60, 1],
  ])('the time past the trace of a session %s', (_, change, durationSeconds, seconds) => {
    const place = { trace: testTrace('t', durationSeconds), segmentCount: 12 };
    const { pastTraceSeconds } = withLinkNotes({ ...session, ...change }, place, uhd);
    expect(pastTraceSeconds).toEqual(seconds && expect.closeTo(seconds, 9));
  });

  const rising = traceUntil([
    { until: 120, mbps: 1 },
    { until: 300, mbps: 20 },
  ]);

  test.each<[string, Partial<SessionResult>, number, object, number | undefined]>([
    ['payload of the link, over the seconds of the media', {}, 30, {}, 0.5e6],
    ['not of a link that is faster over the whole session', {}, 48, {}, undefined],
    ['from the start of the session', { startSeconds: 100 }, 12, {}, undefined],
    ['from the join of a player', { household: { ...household, joinSeconds: 100 } }, 12, {}, undefined],
    ['past the end, where the trace begins again', { startSeconds: 300 }, 12, {}, 0.5e6],
    ['of scaled rates', {}, 30, { traceScale: { factor: 0.25 } }, 0.125e6],
    ['of rates scaled to a mean', {}, 30, { traceScale: { meanBps: 12.4e7 } }, undefined],
  ])('slow link: %s', (_, change, segmentCount, scenario, expected) => {
    const place = { trace: rising, segmentCount };
    const before = testSession({ ...change, slowLinkBps: 7 });
    const { slowLinkBps } = withLinkNotes(before, place, { ...uhd, payloadShare: 0.5, ...scenario });
    expect(slowLinkBps).toEqual(expected && expect.closeTo(expected, 3));
  });
});

const piece = (seconds: number, latencySeconds: number, rate = 1, isStalled = false): PlaybackPiece => {
  return { seconds, latencySeconds, rate, isStalled };
};
const stall = (seconds: number, latencySeconds: number) => piece(seconds, latencySeconds, 1, true);
const stream = (change: Partial<WatchedStream>): WatchedStream => {
  const media = { bitratesBps: [1e6, 1e6], segmentSeconds: 2, ladderBps: [1e6, 8e6] };
  return { history: [piece(60, 1)], ...media, jumps: 0, ...change };
};

test('the metrics of undisturbed playback', () => {
  const none = { stallSecondsPerMinute: 0, stallsPerMinute: 0, offRateShare: 0, rateDeviationMean: 0, jumps: 0 };
  const latency = { latencySecondsMean: expect.closeTo(1, 9), latencySecondsP95: expect.closeTo(1, 9) };
  // 2 s x 1 Mbit/s - 0.05 x 1 x 1 s per segment of 2 s, twice per 4 s.
  const qoe = expect.closeTo(2 * (2 - 0.05), 9);
  expect(liveMetrics(stream({}))).toEqual({ ...none, ...latency, watchedSeconds: 60, qoe });
});

test('metrics count a stall in two pieces once; latency grows by a second per second of it', () => {
  const history = [piece(80, 1), stall(4, 1), stall(6, 5), piece(20, 11), stall(10, 11)];
  const { latencySecondsMean, latencySecondsP95, ...metrics } = liveMetrics(stream({ history }));
  expect(metrics).toMatchObject({ watchedSeconds: 120, stallSecondsPerMinute: 10, stallsPerMinute: 1 });
  expect(latencySecondsMean).toBeCloseTo((80 + 10 * 6 + 20 * 11 + 10 * 16) / 120, 9);
  // The last 6 s of 120 s are above it.
  expect(latencySecondsP95).toBeCloseTo(15, 0);
  expect(metrics.qoe).toBeLessThan(-8 * 20 + 4);
});

test('shares of the rate leave stalls out; latency falls at a higher rate', () => {
  const history = [piece(30, 2, 1.5), piece(5, 1), piece(5, 1, 1.005), stall(20, 1), piece(40, 2, 0.75)];
  const metrics = liveMetrics(stream({ history }));
  expect(metrics.offRateShare).toBeCloseTo(0.7, 9);
  expect(metrics.rateDeviationMean).toBeCloseTo((30 * 0.5 + 5 * 0.005 + 40 * 0.25) / 80, 9);
  expect(liveMetrics(stream({ history: [piece(2, 2, 1.5)] })).latencySecondsMean).toBeCloseTo(1.5, 9);
});

test('metrics price latency by the top bitrate above 1.1 s, and switches by their size', () => {
  const qoe = (latency: number, bitratesBps = [1e6, 1e6]) =>
    liveMetrics(stream({ history: [piece(60, latency)], bitratesBps })).qoe;
  expect(qoe(1.1)).toBeCloseTo(2 * (2 - 0.05 * 1.1), 9);
  expect(qoe(1.2)).toBeCloseTo(2 * (2 - 0.1 * 8 * 1.2), 9);
  expect(qoe(1, [1e6, 8e6]) - qoe(1, [8e6, 8e6])).toBeCloseTo(-2 * 7 - 7, 9);
});

test('a viewer who saw nothing has the cost of the stall', () => {
  expect(liveMetrics(stream({ history: [stall(180, 2)], bitratesBps: [] }))).toMatchObject({
    ...{ qoe: -8 * 180 * 2, stallSecondsPerMinute: 60, rateDeviationMean: 0 },
  });
  expect(() => liveMetrics(stream({ history: [] }))).toThrow('expected a history of more than 0 s');
});

describe('qoe-components', () => {
  const [low, high] = [scenario.ladderBps[0]!, scenario.ladderBps[3]!];

  type SessionChanges = Partial<Pick<SessionResult, 'trace' | 'endedBy' | 'stallSeconds'>> & { segmentCount?: number };

  /** A session that stalls in its first segment. */
  function session(bitratesBps: number[], { stallSeconds = 0, segmentCount, ...rest }: SessionChanges = {}) {
    const [blank] = testSession().segments;
    const segments = bitratesBps.map((bitrateBps, index) => ({ ...blank!, index, bitrateBps }));
    segments[0]!.stallSeconds = stallSeconds;
    const played = { segments, startupSeconds: 0.5, stalls: [], ...(segmentCount !== undefined && { segmentCount }) };
    return testSession({ trace: 'a', ...rest, segments, ...sessionTotals(played, scenario) });
  }

  test('components add up to the QoE', () => {
    const played = session([low, high, high, low], { stallSeconds: 2 });
    const { qoe, quality, stalls, startup, switches } = qoeComponents(played, scenario);
    expect(quality).toBeCloseTo((3 + 30 + 30 + 3) / 4, 9);
    expect(stalls).toBeCloseTo((120 * 2) / 4, 9);
    expect(startup).toBeCloseTo((120 * 0.5) / 4, 9);
    expect(switches).toBeCloseTo((27 + 27) / 4, 9);
    expect(qoe).toBeCloseTo(quality - stalls - startup - switches, 9);
  });

  test('components of an unfinished session include the missing segments', () => {
    const cut = session([low, high], { stallSeconds: 600, segmentCount: 24, endedBy: 'cutoff' });
    const { qoe, quality, stalls, startup, switches } = qoeComponents(cut, scenario);
    expect(quality).toBeCloseTo(33 / 24, 6);
    expect(qoe).toBeCloseTo(quality - stalls - startup - switches, 6);
  });

  test('componentDifference pairs by place, and its parts add up to the QoE', () => {
    const baseline = ['a', 'b', 'c'].map((trace, i) => session([low, low, high, high], { trace, stallSeconds: i }));
    const own = ['c', 'a', 'b', 'd'].map((trace) => session([low, high, high, high], { trace }));
    const all = [...baseline, ...own];
    const options = { scenario, ways: unitsByDataset(all), seed: 1, label: 'set' };
    const found = componentDifference(own, baseline, options)!;
    expect(found).toMatchObject({ pairs: 3, units: 3, resampledBy: 'recordings' });
    expect(found.quality.value).toBeCloseTo(27 / 4, 6);
    expect(found.stalls.value).toBeCloseTo(-30, 6);
    expect(found.switches.value).toBeCloseTo(0, 6);
    const { qoe, quality, stalls, startup, switches } = found;
    expect(qoe.value).toBeCloseTo(quality.value - stalls.value - startup.value - switches.value, 6);
    expect(found.quality.ci95![0]).toBeCloseTo(27 / 4, 6);
    expect(componentDifference(own, [], options)).toBeUndefined();
  });
});

describe('verdicts', () => {
  /** `qoe` of each algorithm in session i of `recordings` with one session each. */
  function played(qoe: Readonly<Record<string, (i: number) => number>>, { recordings = 12, dataset = 'set' } = {}) {
    return Object.entries(qoe).flatMap(([algorithm, of]) =>
      Array.from({ length: recordings }, (_, i) =>
        testSession({ dataset, algorithm, trace: `t${i}`, group: `g${i}`, qoeLinear: of(i) }),
      ),
    );
  }

  const shown = (qoe: Parameters<typeof played>[0], recordings = 12) => {
    const summary = testSummary(played({ 'mpc-d': () => 50, ...qoe }, { recordings }));
    const row = summary.find(({ algorithm }) => algorithm === 'mpc-l')!;
    return shownGapClosed(row, summary)?.value;
  };

  test('the gap closed is shown up to 1, also below 0, and is a dash above the oracle', () => {
    const shownFor = (qoe: number) => shown({ 'mpc-l': () => qoe, 'mpc-o': () => 60 });
    expect([49, 55, 60, 60.4, 70].map(shownFor)).toEqual([-0.1, 0.5, 1, undefined, undefined]);
  });

  test("the gap closed is a dash if the oracle's lead is not clearly positive, or has no interval", () => {
    const uncertain = (i: number) => (i % 2 === 0 ? 90 : 30);
    expect(shown({ 'mpc-l': () => 55, 'mpc-o': uncertain })).toBe(undefined);
    expect(shown({ 'mpc-l': () => 55, 'mpc-o': () => 60 }, 1)).toBe(undefined);
  });

  /** Two algorithms in data sets with these numbers of recordings. */
  const summaryOf = (recordings: Readonly<Record<string, number>>) =>
    testSummary(
      Object.entries(recordings).flatMap(([dataset, count]) =>
        played({ 'mpc-d': () => 1, 'mpc-l': () => 2 }, { dataset, recordings: count }),
      ),
    );

  test.each<[Record<string, number>, string | undefined]>([
    [{ a: 1 }, 'a.'],
    [{ a: 7 }, 'a.'],
    [{ a: 8 }, undefined],
    [{}, undefined],
    [{ a: 7, b: 9, c: 1 }, 'a, c.'],
    [{ a: 1, b: 1 }, 'a, b, all together.'],
  ])('recordings %j: data sets with fewer than eight sessions decide nothing', (recordings, names) => {
    const sentence = names && `Fewer than 8 sessions per algorithm decide nothing: ${names}`;
    expect(tooFewSessions(summaryOf(recordings))).toBe(sentence);
  });

  test('data sets with several recordings have figures of their own, else all together', () => {
    expect(largeDatasets(summaryOf({ a: 1, large: 12, b: 1 }))).toEqual(['large']);
    expect(largeDatasets(summaryOf({ a: 1, b: 1 }))).toEqual(['all']);
    expect(largeDatasets(summaryOf({ a: 1 }))).toEqual(['a']);
    // Without a comparison, sessions count.
    expect(largeDatasets(testSummary(['a', 'b'].map((dataset) => testSession({ dataset }))))).toEqual(['all']);
  });
});
