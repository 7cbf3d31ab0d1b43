import { expect, test } from '@jest/globals';
import type { SessionResult, SummaryRow } from '../results.ts';
import { testSummary as summaryOf, testLiveMetrics, testResults, testSession } from './test-sessions.fixture.ts';

const row = (rows: SummaryRow[], algorithm: string, dataset = 'set') =>
  rows.find((r) => r.algorithm === algorithm && r.dataset === dataset)!;

/** `recordings` recordings of ten sessions; `qoe(i)` of session i. */
const sessionsOf = (algorithm: string, recordings: number, qoe: (i: number) => number): SessionResult[] =>
  Array.from({ length: recordings * 10 }, (_, i) => {
    const recording = { trace: `t${i % recordings}`, group: `g${(i % recordings) >> 1}` };
    return testSession({ algorithm, ...recording, startSeconds: Math.floor(i / recordings) * 61, qoeLinear: qoe(i) });
  });

test('a row has tail, severe share, waste, quantiles and early ends', () => {
  const sessions = Array.from({ length: 41 }, (_, i) =>
    testSession({
      ...{ startSeconds: i, qoeLinear: i, stallSeconds: i / 2, wastedBits: i === 0 ? 12e6 * 41 : 0 },
      endedBy: i === 40 ? 'cutoff' : i > 37 ? 'fault' : 'end',
    }),
  );
  expect(row(summaryOf(sessions), 'mpc-d')).toMatchObject({
    sessions: 41,
    cutoffs: 1,
    faults: 2,
    qoeMean: 20,
    qoeMedian: 20,
    qoeP5: 2,
    qoeP95: 38,
    qoePerceivedMean: 10,
    stallSecondsMean: 10,
    stallSecondsWorst5pct: 19.5, // the worst three of 41: 20, 19.5, 19
    severeShare: 20 / 41, // more than 10 s: 10.5 to 20
    wastedShare: 0.5,
    deliveredBps: (2 * 12e6) / 4, // a segment of 12 Mbit and 4 s each, and as many discarded bits
    startupSecondsMean: 1,
    vsBaseline: null,
  });
});

test('a row has no perceived QoE where a session lacks it, as in older results', () => {
  const { perceived, ...older } = testSession().qoe;
  const sessions = [testSession(), testSession({ startSeconds: 1, qoe: older })];
  expect(perceived).toBeDefined();
  expect(row(summaryOf(sessions), 'mpc-d').qoePerceivedMean).toBeUndefined();
});

test('a row of live sessions has means of their metrics, and differences of means with intervals', () => {
  const of = (algorithm: string, added: number) =>
    Array.from({ length: 20 }, (_, i) => {
      const live = testLiveMetrics({ qoe: i + added, latencySecondsMean: 1 + i / 100 - added, jumps: i % 2 });
      const place = { trace: `t${i}`, group: `g${i >> 1}` };
      const freezes = { freezeCount: 3 + 2 * added, stallCount: 9 };
      return testSession({ algorithm, ...place, ...freezes, meanBitrateBps: 3e6 + added, live });
    });
  const rows = summaryOf([...of('mpc-d', 0), ...of('mpc-l', 0.5)]);
  const near = (value: number) => expect.closeTo(value, 9);
  const means = { qoe: near(10), latencySecondsMean: near(0.595), jumpsPerMinute: near(0.25) };
  expect(row(rows, 'mpc-l').live).toMatchObject({ ...means, freezesPerMinute: near(2) });
  expect(row(rows, 'mpc-d').vsBaseline).toBeNull();
  const constant = (value: number) => ({ value: near(value), ci95: [near(value), near(value)] });
  expect(row(rows, 'mpc-l').vsBaseline!.live).toEqual({
    qoeDiff: constant(0.5),
    latencySecondsDiff: constant(-0.5),
    stallSecondsPerMinuteDiff: constant(0),
    freezesPerMinuteDiff: constant(2 - 1.5),
    bitrateBpsDiff: constant(0.5),
  });
});

test('several data sets get rows over all', () => {
  const rows = summaryOf([testSession(), testSession({ dataset: 'other', qoeLinear: 20 })]);
  expect(rows.map((r) => `${r.dataset} ${r.qoeMean}`)).toEqual(['set 10', 'other 20', 'all 15']);
});

const noise = (i: number) => 8 * Math.sin(12.9 * i);
const baseline = sessionsOf('mpc-d', 20, (i) => 50 + noise(i));
const own = sessionsOf('mpc-l', 20, (i) => 55 + noise(i));
const comparisonOf = (sessions: SessionResult[]) => row(summaryOf(sessions), 'mpc-l').vsBaseline!;

test('delivered bits are compared as a ratio of sums, with the bits that were discarded', () => {
  const wasting = own.map((one, i) => ({ ...one, wastedBits: i % 40 < 4 ? 12e6 : 0 }));
  const { deliveredRatio } = comparisonOf([...baseline, ...wasting]);
  expect(deliveredRatio!.value).toBeCloseTo(1.1, 9);
  const [low, high] = deliveredRatio!.ci95!;
  expect(low).toBeLessThan(1.1);
  expect(high).toBeGreaterThan(1.1);
});

test('a constant difference has an interval of width 0, because sessions are paired', () => {
  const { qoeDiff, ...more } = comparisonOf([...baseline, ...own]);
  const five = expect.closeTo(5, 9);
  expect(qoeDiff).toEqual({ value: five, ci95: [five, five] });
  expect(more).toMatchObject({ baseline: 'mpc-d', pairs: 200, resampledBy: 'groups', units: 10 });
  expect(more.oracleGapClosed).toBeNull();
  expect(more.qoeMeanRatio!.value).toBeCloseTo(1.1, 3);
  expect(more.worst5pctDiff).toEqual({ value: 0, ci95: [0, 0] });
});

test('sessions are paired by place, over common places only', () => {
  const { pairs, qoeDiff } = comparisonOf([...baseline, ...own.slice(30).reverse()]);
  expect(pairs).toBe(170);
  expect(qoeDiff.value).toBeCloseTo(5, 9);
});

test('slow links, few of the groups, are resampled as all links are', () => {
  const played = [...sessionsOf('mpc-d', 16, noise), ...sessionsOf('mpc-l', 16, noise)];
  const slow = played.map((one) => (one.group === played[0]!.group ? { ...one, slowLinkBps: 1e6 } : one));
  const found = testResults(slow).byLink!.flatMap(({ dataset, links, vsBaseline }) =>
    dataset === 'set' && vsBaseline ? `${links} ${vsBaseline.resampledBy} ${vsBaseline.units}` : [],
  );
  expect(found).toEqual(['slow groups 1', 'other groups 7']);
});

test('the parts of a split trace are one recording, so there is no interval', () => {
  const sessions = ['mpc-d', 'mpc-l'].flatMap((algorithm) =>
    ['t#1', 't#2'].map((trace) => {
      const own = algorithm === 'mpc-l' && { qoeLinear: 60, stallSeconds: 12 };
      return testSession({ algorithm, trace, qoeLinear: 50, stallSeconds: 10, ...own });
    }),
  );
  const alone = (value: number) => ({ value, ci95: null });
  expect(comparisonOf(sessions)).toMatchObject({
    ...{ units: 1, qoeDiff: alone(10), qoeMeanRatio: alone(1.2), worst5pctDiff: alone(2), severeShareDiff: alone(1) },
  });
});

test('no ratio unless the baseline is clearly positive', () => {
  const ratioOver = (level: number, spread: number) => {
    const qoe = (i: number) => level + spread * Math.sin(i % 20);
    const better = sessionsOf('mpc-l', 20, (i) => qoe(i) + 5);
    return comparisonOf([...sessionsOf('mpc-d', 20, qoe), ...better]).qoeMeanRatio;
  };
  expect(ratioOver(-10, 1)).toBeNull();
  expect(ratioOver(5, 1)).toBeNull(); // under 5 % of 120
  expect(ratioOver(10, 100)).toBeNull(); // its interval reaches 0
  expect(ratioOver(10, 1)).not.toBeNull();
});

test('the closed gap is a share of the gain of the oracle, null above 1 and for a gain below 2 % of the top bitrate', () => {
  const gapClosed = (lead: number, share = 0.5) => {
    const better = sessionsOf('mpc-l', 20, (i) => 50 + noise(i) + lead * share);
    const oracle = sessionsOf('mpc-o', 20, (i) => 50 + noise(i) + lead);
    return comparisonOf([...baseline, ...better, ...oracle]).oracleGapClosed;
  };
  expect(gapClosed(10)!.value).toBeCloseTo(0.5, 9);
  expect(gapClosed(10, 1)!.value).toBe(1);
  expect(gapClosed(10, 1.01)).toBeNull();
  expect(gapClosed(2.5)).not.toBeNull();
  expect(gapClosed(2.3)).toBeNull();
});

test('without the baseline there are no comparisons', () => {
  expect(summaryOf(sessionsOf('mpc-l', 4, noise)).every((r) => r.vsBaseline === null)).toBe(true);
});
