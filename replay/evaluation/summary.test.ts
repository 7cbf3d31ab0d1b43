import { describe, expect, test } from '@jest/globals';
import type { SessionResult, SummaryRow } from '../results.ts';
import { testLiveMetrics, testResults, testSession, testSummary } from './test-sessions.fixture.ts';

const summaryOf = (sessions: SessionResult[]) => testSummary(sessions);
const row = (rows: SummaryRow[], algorithm: string, dataset = 'set') =>
  rows.find((r) => r.algorithm === algorithm && r.dataset === dataset)!;

/** `recordings` recordings of ten sessions; `qoe(i)` of session i. */
function sessionsOf(
  algorithm: string,
  recordings: number,
  qoe: (i: number) => number,
  fields: Partial<SessionResult> = {},
) {
  return Array.from({ length: recordings * 10 }, (_, i) => {
    const recording = { trace: `t${i % recordings}`, group: `g${(i % recordings) >> 1}` };
    const startSeconds = Math.floor(i / recordings) * 61;
    return testSession({ algorithm, ...recording, startSeconds, qoeLinear: qoe(i), ...fields });
  });
}

describe('figures of a row', () => {
  test('tail, severe share, waste and quantiles', () => {
    const sessions = Array.from({ length: 41 }, (_, i) =>
      testSession({ startSeconds: i, qoeLinear: i, stallSeconds: i / 2, wastedBits: i === 0 ? 12e6 * 41 : 0 }),
    );
    expect(row(summaryOf(sessions), 'mpc-d')).toMatchObject({
      sessions: 41,
      qoeMean: 20,
      qoeMedian: 20,
      qoeP5: 2,
      qoeP95: 38,
      qoePerceivedMean: 10,
      stallSecondsMean: 10,
      stallSecondsWorst5pct: 19.5, // the worst three of 41: 20, 19.5, 19
      severeShare: 20 / 41, // more than 10 s: 10.5 to 20
      wastedShare: 0.5,
      startupSecondsMean: 1,
      vsBaseline: null,
    });
  });

  test('no perceived QoE where a session lacks it, as in older results', () => {
    const { perceived, ...older } = testSession().qoe;
    const sessions = [testSession(), testSession({ startSeconds: 1, qoe: older })];
    expect(perceived).toBeDefined();
    expect(row(summaryOf(sessions), 'mpc-d').qoePerceivedMean).toBeUndefined();
  });

  test('of live sessions: means of their metrics, and differences of means with intervals', () => {
    const of = (algorithm: string, added: number) =>
      Array.from({ length: 20 }, (_, i) => {
        const live = testLiveMetrics({ qoe: i + added, latencySecondsMean: 1 + i / 100 - added, jumps: i % 2 });
        const place = { trace: `t${i}`, group: `g${i >> 1}` };
        return testSession({ algorithm, ...place, meanBitrateBps: 3e6 + added, live });
      });
    const rows = summaryOf([...of('mpc-d', 0), ...of('mpc-l', 0.5)]);
    const { qoe, latencySecondsMean, jumpsPerMinute, stallsPerMinute } = row(rows, 'mpc-l').live!;
    expect([qoe, latencySecondsMean, jumpsPerMinute, stallsPerMinute]).toEqual([
      ...[10, 0.595, 0.25, 0.75].map((value) => expect.closeTo(value, 9)),
    ]);
    expect(row(rows, 'mpc-d').vsBaseline).toBeNull();
    const constant = (of: number) => {
      const value = expect.closeTo(of, 9);
      return { value, ci95: [value, value] };
    };
    expect(row(rows, 'mpc-l').vsBaseline!.live).toEqual({
      qoeDiff: constant(0.5),
      latencySecondsDiff: constant(-0.5),
      stallSecondsPerMinuteDiff: constant(0),
      stallsPerMinuteDiff: constant(0),
      bitrateBpsDiff: constant(0.5),
    });
  });

  test('counts sessions that ended early', () => {
    const ends = ['cutoff', 'fault', 'end'] as const;
    const sessions = ends.map((endedBy, startSeconds) => testSession({ startSeconds, endedBy }));
    expect(row(summaryOf(sessions), 'mpc-d')).toMatchObject({ sessions: 3, cutoffs: 1, faults: 1 });
  });

  test('several data sets get rows over all', () => {
    const rows = summaryOf([testSession(), testSession({ dataset: 'other', qoeLinear: 20 })]);
    expect(rows.map((r) => [r.dataset, r.qoeMean])).toEqual([
      ['set', 10],
      ['other', 20],
      ['all', 15],
    ]);
  });
});

describe('against the baseline', () => {
  const noise = (i: number) => 8 * Math.sin(12.9 * i);
  const baseline = sessionsOf('mpc-d', 20, (i) => 50 + noise(i));

  test('a constant difference has an interval of width 0, because sessions are paired', () => {
    const { vsBaseline } = row(summaryOf([...baseline, ...sessionsOf('mpc-l', 20, (i) => 55 + noise(i))]), 'mpc-l');
    expect(vsBaseline).toMatchObject({ baseline: 'mpc-d', pairs: 200, resampledBy: 'groups', units: 10 });
    const five = expect.closeTo(5, 9);
    expect(vsBaseline!.qoeDiff).toEqual({ value: five, ci95: [five, five] });
    expect(vsBaseline!.qoeMeanRatio!.value).toBeCloseTo(1.1, 3);
    expect(vsBaseline!.worst5pctDiff).toEqual({ value: 0, ci95: [0, 0] });
    expect(vsBaseline!.oracleGapClosed).toBeNull();
  });

  test('one severe session more among a few recordings decides nothing', () => {
    // The shipped drives in `hd-16`: 3 of 18 sessions stall for over 10 s with MPC-D, 4 with MPC-L.
    const severe = { 'mpc-d': ['slow/1', 'slow/5', 'slow/6'], 'mpc-l': ['slow/5', 'slow/6', 'urban/0', 'urban/1'] };
    const drives = Object.entries({ motorway: 2, country: 2, urban: 7, slow: 7 });
    const sessions = Object.entries(severe).flatMap(([algorithm, at]) =>
      drives.flatMap(([trace, starts]) =>
        Array.from({ length: starts }, (_, i) => {
          const stallSeconds = at.includes(`${trace}/${i}`) ? 12 : 10;
          return testSession({ algorithm, trace, group: trace, startSeconds: 61 * i, stallSeconds });
        }),
      ),
    );
    const { value, ci95 } = row(summaryOf(sessions), 'mpc-l').vsBaseline!.severeShareDiff;
    expect(value).toBeCloseTo(1 / 18, 9);
    expect(ci95![0]).toBeLessThan(-0.05);
    expect(ci95![1]).toBeGreaterThan(0.15);
  });

  test('pairs by place, over common places only', () => {
    const own = sessionsOf('mpc-l', 20, (i) => 55 + noise(i))
      .slice(30)
      .reverse();
    const { vsBaseline } = row(summaryOf([...baseline, ...own]), 'mpc-l');
    expect(vsBaseline!.pairs).toBe(170);
    expect(vsBaseline!.qoeDiff.value).toBeCloseTo(5, 9);
  });

  test('with fewer than eight groups recordings are resampled, as the row shows', () => {
    const rows = summaryOf([...sessionsOf('mpc-d', 6, noise), ...sessionsOf('mpc-l', 6, noise)]);
    expect(row(rows, 'mpc-l').vsBaseline).toMatchObject({ resampledBy: 'recordings', units: 6 });
  });

  test('slow links, few of the groups, are resampled as all links are', () => {
    const played = [...sessionsOf('mpc-d', 16, noise), ...sessionsOf('mpc-l', 16, noise)];
    const slow = played.map((one) => (one.group === played[0]!.group ? { ...one, slowLinkBps: 1e6 } : one));
    const rows = testResults(slow).byLink!.filter(({ dataset, vsBaseline }) => dataset === 'set' && vsBaseline);
    expect(rows.map(({ links, vsBaseline }) => [links, vsBaseline!.resampledBy, vsBaseline!.units])).toEqual([
      ['slow', 'groups', 1],
      ['other', 'groups', 7],
    ]);
  });

  test('the parts of a split trace are one recording, so there is no interval', () => {
    const sessions = ['mpc-d', 'mpc-l'].flatMap((algorithm) =>
      ['t#1', 't#2'].map((trace) => testSession({ algorithm, trace, qoeLinear: algorithm === 'mpc-d' ? 50 : 60 })),
    );
    expect(row(summaryOf(sessions), 'mpc-l').vsBaseline).toMatchObject({
      units: 1,
      qoeDiff: { value: 10, ci95: null },
      qoeMeanRatio: { value: 1.2, ci95: null },
    });
  });

  test('no ratio unless the baseline is clearly positive', () => {
    const ratioOver = (level: number, spread: number) => {
      const unit = (i: number) => spread * Math.sin(i % 20);
      const rows = summaryOf([
        ...sessionsOf('mpc-d', 20, (i) => level + unit(i)),
        ...sessionsOf('mpc-l', 20, (i) => level + unit(i) + 5),
      ]);
      return row(rows, 'mpc-l').vsBaseline!.qoeMeanRatio;
    };
    expect(ratioOver(-10, 1)).toBeNull();
    expect(ratioOver(5, 1)).toBeNull(); // under 5 % of 120
    expect(ratioOver(10, 100)).toBeNull(); // its interval reaches 0
    expect(ratioOver(10, 1)).not.toBeNull();
  });

  test('the closed gap is a share of the gain of the oracle, null above 1 and for a gain below 2 % of the top bitrate', () => {
    const gapClosed = (lead: number, share = 0.5) =>
      row(
        summaryOf([
          ...baseline,
          ...sessionsOf('mpc-l', 20, (i) => 50 + noise(i) + lead * share),
          ...sessionsOf('mpc-o', 20, (i) => 50 + noise(i) + lead),
        ]),
        'mpc-l',
      ).vsBaseline!.oracleGapClosed;
    expect(gapClosed(10)!.value).toBeCloseTo(0.5, 9);
    expect(gapClosed(10, 1)!.value).toBe(1);
    expect(gapClosed(10, 1.01)).toBeNull();
    expect(gapClosed(2.5)).not.toBeNull();
    expect(gapClosed(2.3)).toBeNull();
  });

  test('without the baseline there are no comparisons', () => {
    expect(summaryOf(sessionsOf('mpc-l', 4, noise)).every((r) => r.vsBaseline === null)).toBe(true);
  });
});
