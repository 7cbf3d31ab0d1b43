import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll, whole } from '../../../abr/property.fixture.ts';
import { normal, type Random, seededRandom } from '../../../abr/statistics/random.ts';
import { readTraces } from '../../formats/trace-files.ts';
import { remembered } from '../../remembered.ts';
import type { Estimate, SessionResult } from '../../results.ts';
import { resolveScenario, scenarioNamed } from '../../scenario-file.ts';
import { sessionPlayer } from '../../simulator/threads/run-sessions.ts';
import { testSession, testSummary } from '../test-sessions.fixture.ts';
import { effectiveUnits, estimates } from './bootstrap.ts';
import {
  alwaysValidInterval,
  type ClusterSums,
  type Contrast,
  contrastOf,
  intervalOf,
  ratioOf,
  sessionsToFind,
} from './cluster-ratios.ts';
import { mean, tailSize, UnitSample } from './quantiles.ts';
import { studentQuantile } from './student-t.ts';

/** Mean QoE of the baseline, and the differences of `mpc-l` and of the oracle. */
const [BASELINE_MEAN, TRUE_DIFF, ORACLE_DIFF] = [40, 6, 15];
/** Standard deviations of the paired difference: between groups, between recordings in a group, between sessions. */
const SPREADS = { group: 3, recording: 3, session: 8 };
const SESSIONS_PER_RECORDING = 2;

/** The true values that the intervals should cover. */
const TRUTH = {
  qoeDiff: TRUE_DIFF,
  qoeMeanRatio: (BASELINE_MEAN + TRUE_DIFF) / BASELINE_MEAN,
  oracleGapClosed: TRUE_DIFF / ORACLE_DIFF,
} as const;
type Covered = keyof typeof TRUTH;

/** `mpc-d`, `mpc-l` and `mpc-o` on every session of one benchmark; `recordings` per group. */
function drawBenchmark(recordings: readonly number[], random: Random): SessionResult[] {
  const sessions: SessionResult[] = [];
  for (const [g, count] of recordings.entries()) {
    const baselineOfGroup = 8 * normal(random);
    const diffOfGroup = SPREADS.group * normal(random);
    for (let r = 0; r < count; r++) {
      const diffOfRecording = SPREADS.recording * normal(random);
      for (let s = 0; s < SESSIONS_PER_RECORDING; s++) {
        const baseline = BASELINE_MEAN + baselineOfGroup + 10 * normal(random);
        // A shifted exponential: few sessions have large differences.
        const noise = 1 + Math.log(1 - random());
        const diff = TRUE_DIFF + diffOfGroup + diffOfRecording + SPREADS.session * noise;
        const oracle = ORACLE_DIFF + diffOfGroup + 3 * normal(random);
        const place = { dataset: 'drawn', group: `${g}`, trace: `${g}-${r}`, startSeconds: 61 * s, segments: [] };
        for (const [algorithm, gain] of Object.entries({ 'mpc-d': 0, 'mpc-l': diff, 'mpc-o': oracle })) {
          sessions.push(testSession({ ...place, algorithm, qoeLinear: baseline + gain }));
        }
      }
    }
  }
  return sessions;
}

/** By statistic, the share of benchmarks whose 95 % interval of `mpc-l` against `mpc-d` covers the truth. */
function intervalCoverage(recordings: readonly number[], benchmarks: number): Record<Covered, number> {
  const random = seededRandom(5);
  const shares: Record<Covered, number> = { qoeDiff: 0, qoeMeanRatio: 0, oracleGapClosed: 0 };
  for (let i = 0; i < benchmarks; i++) {
    const drawn = drawBenchmark(recordings, random);
    const summary = testSummary(drawn, { seed: i, resamples: 200 });
    const comparison = summary.find((row) => row.algorithm === 'mpc-l')!.vsBaseline!;
    for (const name of Object.keys(TRUTH) as Covered[]) {
      const interval = (comparison[name] as Estimate | null)?.ci95;
      if (interval && interval[0] <= TRUTH[name] && TRUTH[name] <= interval[1]) shares[name] += 1 / benchmarks;
    }
  }
  return shares;
}

test('the effective number of units is their number for equal sizes and smaller for unequal ones', () => {
  expect(effectiveUnits([5, 5, 5, 5])).toBeCloseTo(4);
  expect(effectiveUnits([5, 5, 5, 5, 0])).toBeCloseTo(4);
  expect(effectiveUnits([100, 1, 1, 1])).toBeCloseTo(2.06, 2);
  expect(effectiveUnits([])).toBe(0);
});

// Standard error 1 point; plain percentiles cover 84 to 92 % and fail.
test('the 95 % interval covers the truth in 93 to 97 % of 400 known benchmarks of unequal groups', () => {
  for (const share of Object.values(intervalCoverage([5, 3, 2, 2, 1, 1, 1, 1, 1], 400))) {
    expect(share).toBeGreaterThanOrEqual(0.93);
    expect(share).toBeLessThanOrEqual(0.97);
  }
});

const sum = (values: number[]) => values.reduce((total, one) => total + one, 0);
/** The mean of the values, of shifted and of doubled values, on the same resamples. */
const meansOf = (values: number[], unitOf: number[]) =>
  estimates({ unitOf, unitCount: new Set(unitOf).size, seed: 3 }, (counts) => {
    const weights = unitOf.map((unit) => counts[unit]!);
    const mean = sum(values.map((value, i) => value * weights[i]!)) / sum(weights);
    return { mean, shifted: mean + 10, twice: 2 * mean };
  });

test('means of components add up, and shifted samples have shifted intervals', () => {
  const { mean, shifted, twice } = meansOf([1, 2, 3, 4, 5, 6], [0, 0, 1, 2, 2, 3]);
  expect(mean.value).toBe(3.5);
  expect(mean.ci95![0]).toBeLessThan(3.5);
  expect(mean.ci95![1]).toBeGreaterThan(3.5);
  expect(shifted.ci95![0]).toBeCloseTo(mean.ci95![0] + 10, 9);
  expect(twice.ci95![1]).toBeCloseTo(2 * mean.ci95![1], 9);
});

test('one unit has no interval, and none has no mean', () => {
  expect(meansOf([1, 2], [0, 0]).mean).toEqual({ value: 1.5, ci95: null });
  expect(meansOf([], []).mean).toEqual({ value: Number.NaN, ci95: null });
});

const CLUSTERS = 1000;
const SESSIONS_PER_VIEWER = 3;
/** Viewers leave after one of these numbers of segments. */
const WATCHED_SEGMENTS = [4, 10, 24, 48];

/** `TRIALS=2000 npm run unit -- replay/evaluation/statistics` prints the figures of docs/findings.md. */
const TRIALS = Number(process.env['TRIALS'] ?? 150);
const IS_FULL = TRIALS >= 2000;
const STARTS = IS_FULL ? 40 : 8;

type Session = readonly [x: number, y: number, cluster?: number];
type ArmTotals = { watched: number; stalled: number; qoe: number };
type Metric = (session: ArmTotals) => Session;

/** QoE, stalled share of the time, and seconds of stall per session. */
const METRICS: readonly Metric[] = [
  ({ watched, qoe }) => [watched, watched * qoe],
  ({ watched, stalled }) => [watched + stalled, stalled],
  ({ stalled }) => [1, stalled],
];

function sumsOf(sessions: readonly Session[], clusters = CLUSTERS): ClusterSums {
  const sums = { x: new Float64Array(clusters), y: new Float64Array(clusters), sessions: sessions.length };
  for (const [x, y, cluster = 0] of sessions) {
    sums.x[cluster]! += x;
    sums.y[cluster]! += y;
  }
  return sums;
}

const oneEach = (y: number, cluster: number): Session => [1, y, cluster];

/** By link: the sessions of both arms from the same starts. */
type Pool = { control: ArmTotals; arm: ArmTotals }[][];
const pools = new Map<string, Pool>();

/** Plays sessions of dash.js's rule, and of the algorithm of the arm, on every shipped link. */
function playPool(arm: string): Pool {
  const traces = readTraces([fileURLToPath(new URL('../../traces', import.meta.url))], { onNote: () => {} });
  const scenario = resolveScenario(scenarioNamed('hd-16'));
  const player = sessionPlayer({ scenario, controllers: new Map() });
  return traces.map((trace) =>
    Array.from({ length: STARTS }, (_, i) => {
      const startSeconds = Math.round((i * trace.durationSeconds) / STARTS);
      const segmentCount = WATCHED_SEGMENTS[i % WATCHED_SEGMENTS.length]!;
      const play = (algorithm: string): ArmTotals => {
        const { segments, stallSeconds, qoe } = player({ trace, startSeconds, segmentCount, seed: i, algorithm })[0]!;
        return { watched: segments.length * scenario.segmentSeconds, stalled: stallSeconds, qoe: qoe.linear };
      };
      const control = play('throughput');
      return { control, arm: arm === 'throughput' ? control : play(arm) };
    }),
  );
}

/** The difference if every viewer were in both arms: viewers have links, and links starts, with equal chance. */
function truthOf(pool: Pool, metric: Metric): number {
  const ratio = (of: 'control' | 'arm') => ratioOf(sumsOf(pool.flat().map((both) => metric(both[of]))));
  return ratio('arm') - ratio('control');
}

type TrialOptions = { pool: Pool; sessions: number; every: number };

/** Draws sessions of viewers, each with a link, a cluster and an arm. Returns each look's contrasts by metric. */
function drawTrial({ pool, sessions, every }: TrialOptions, seed: number): Contrast[][] {
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const viewers = Array.from({ length: Math.ceil(sessions / SESSIONS_PER_VIEWER) }, () => ({
    link: pool[pick(pool.length)]!,
    cluster: pick(CLUSTERS),
    arm: random() < 0.5 ? ('arm' as const) : ('control' as const),
  }));
  const arms = { control: METRICS.map(() => sumsOf([])), arm: METRICS.map(() => sumsOf([])) };
  const looks: Contrast[][] = [];
  for (let n = 1; n <= sessions; n++) {
    const { link, cluster, arm } = viewers[pick(viewers.length)]!;
    const session = link[pick(link.length)]![arm];
    for (const [m, sums] of arms[arm].entries()) {
      const [x, y] = METRICS[m]!(session);
      sums.x[cluster]! += x;
      sums.y[cluster]! += y;
      sums.sessions++;
    }
    if (n % every === 0) looks.push(arms.arm.map((sums, m) => contrastOf(sums, arms.control[m])));
  }
  return looks;
}

const excludes = ([low, high]: [number, number], value: number) => low > value || high < value;

test('a contrast of one mean has the standard error of the mean', () => {
  const values = [3, 1, 4, 1, 5, 9, 2, 6];
  const sums = sumsOf(values.map(oneEach), 10);
  const mean = 31 / 8;
  const variance = values.reduce((sum, y) => sum + (y - mean) ** 2, 0) / 7;
  const contrast = contrastOf(sums);
  expect(contrast.value).toBeCloseTo(mean, 12);
  expect(contrast.standardError).toBeCloseTo(Math.sqrt(variance / 8), 12);
  expect(contrast.clusters).toBeCloseTo(8, 12);
  // t(7) at 97.5 %.
  expect(intervalOf(contrast)![1] - mean).toBeCloseTo(2.365 * Math.sqrt(variance / 8), 2);
  // 2.80^2 / 0.5^2 sessions per squared standard deviation.
  expect(sessionsToFind(0.5, contrast)).toBeCloseTo(31.4 * variance, 0);
});

test('a contrast counts sessions that are copies of one another in their cluster once', () => {
  const sessions = [3, 1, 4, 1, 5].map(oneEach);
  const once = contrastOf(sumsOf(sessions, 5));
  const thrice = contrastOf(sumsOf([...sessions, ...sessions, ...sessions], 5));
  expect(thrice.standardError).toBeCloseTo(once.standardError, 12);
});

test('a contrast of two arms leaves out what clusters share', () => {
  const random = seededRandom(4);
  const effects = Array.from({ length: 50 }, () => 10 * normal(random));
  const arm = (shift: number) => sumsOf(effects.map((effect) => effect + shift + normal(random)).map(oneEach), 50);
  const [one, other] = [arm(1), arm(0)];
  const both = contrastOf(one, other);
  expect(both.value).toBeCloseTo(ratioOf(one) - ratioOf(other), 12);
  expect(both.standardError).toBeLessThan(0.3);
});

test('a contrast of arms that are equal but for rounding is 0', () => {
  const arm = (x: number[]) => ({ x: Float64Array.from(x), y: Float64Array.from(x, (a) => 3.1 * a), sessions: 3 });
  const [one, other] = [arm([312.5, 0.1, 7]), arm([0.3, 41.7, 99.9])];
  expect(ratioOf(one)).not.toBe(ratioOf(other));
  expect(contrastOf(one, other).value).toBe(0);
});

test('a contrast without sessions or with one cluster has no interval', () => {
  const none = contrastOf(sumsOf([], 3));
  expect([none.value, intervalOf(none), alwaysValidInterval(none)]).toEqual([Number.NaN, null, null]);
  const one = contrastOf(sumsOf([oneEach(2, 1), oneEach(3, 1)], 3));
  expect([one.value, intervalOf(one)]).toEqual([2.5, null]);
});

const contrast = (sessions: number, clusters = 1e6): Contrast => ({ value: 1, standardError: 1, clusters, sessions });
/** Half the width in standard errors. */
const width = (of: Contrast, alpha?: number) => alwaysValidInterval(of, alpha)![1] - 1;

test('an interval for any number of looks is that of the normal mixture for many clusters, and wider for few', () => {
  const growth = 1 + 7.935;
  const limit = Math.sqrt((growth / (growth - 1)) * (2 * Math.log(20) + Math.log(growth)));
  expect(width(contrast(10_000))).toBeCloseTo(limit, 3);
  expect(width(contrast(10_000, 40))).toBeGreaterThan(1.05 * limit);
  expect(alwaysValidInterval(contrast(10_000, 3))).toBeNull();
});

test('an interval for any number of looks is narrowest, in standard errors, near 10,000 sessions, and wider with a smaller alpha', () => {
  const widths = [1e3, 1e4, 1e5].map((sessions) => width(contrast(sessions)));
  expect(widths[1]).toBeLessThan(Math.min(widths[0]!, widths[2]!));
  expect(width(contrast(1e4), 0.01)).toBeGreaterThan(widths[1]!);
});

type Condition = (contrast: Contrast, metric: number) => boolean;

/** For each condition and metric, the percentage of trials in which it holds at a look, at least once. */
function percents(trial: TrialOptions, ...conditions: Condition[]): number[][] {
  const trials = Array.from({ length: TRIALS }, (_, i) => drawTrial(trial, i + 1));
  const shares = conditions.map((holds) =>
    METRICS.map((_, m) => {
      const found = trials.filter((looks) => looks.some((contrasts) => holds(contrasts[m]!, m)));
      return (100 * found.length) / TRIALS;
    }),
  );
  if (IS_FULL) process.stdout.write(`${expect.getState().currentTestName}: ${JSON.stringify(shares)} %\n`);
  return shares;
}

// BOLA plays fast; the figures are of MPC-L.
test.each(['throughput', IS_FULL ? 'mpc-l' : 'bola'])(
  '%s against throughput: the interval excludes the truth in about 5 %%',
  (arm) => {
    const pool = remembered(pools, arm, () => playPool(arm));
    const truths = METRICS.map((metric) => truthOf(pool, metric));
    const misses: Condition = (contrast, metric) => excludes(intervalOf(contrast)!, truths[metric]!);
    for (const percent of percents({ pool, sessions: 3000, every: 3000 }, misses)[0]!) {
      expect(percent).toBeGreaterThanOrEqual(IS_FULL ? 3 : 2);
      expect(percent).toBeLessThanOrEqual(IS_FULL ? 7 : 8);
    }
  },
  600_000,
);

test('equal arms, a look every 100 sessions: the interval for any number of looks excludes 0 in at most 5 %', () => {
  const pool = remembered(pools, 'throughput', () => playPool('throughput'));
  const [always, once] = percents(
    { pool, sessions: IS_FULL ? 10_000 : 4000, every: 100 },
    (contrast) => excludes(alwaysValidInterval(contrast) ?? [0, 0], 0),
    ({ value, standardError }) => Math.abs(value) > 2 * standardError,
  );
  for (const percent of always!) expect(percent).toBeLessThanOrEqual(5);
  // Without the correction many looks exclude 0.
  for (const percent of once!) expect(percent).toBeGreaterThan(IS_FULL ? 20 : 12);
}, 600_000);

test('the tail is ceil(5 %)', () => {
  expect([1, 20, 21, 40, 41, 100, 1000].map(tailSize)).toEqual([1, 1, 2, 2, 3, 5, 50]);
});

test('law: statistics of a resample equal those of the sample with repeated values', () => {
  const unit = fc.record({ values: fc.array(between(-100, 100), { minLength: 1, maxLength: 9 }), count: whole(0, 4) });
  forAll([fc.array(unit, { minLength: 1, maxLength: 7 })], { seed: 1 }, (units) => {
    const values = units.flatMap((u) => u.values);
    const unitOf = units.flatMap((u, index) => u.values.map(() => index));
    const counts = units.map((u) => u.count);
    const sample = new UnitSample(values, unitOf, units.length);
    const written = units.flatMap((u) => u.values.flatMap((v) => Array<number>(u.count).fill(v))).sort((a, b) => a - b);
    expect(sample.sizeOf(counts)).toBe(written.length);
    if (written.length === 0) {
      expect([sample.mean(counts), sample.tailMean(counts)]).toEqual([NaN, NaN]);
      return;
    }
    expect(sample.mean(counts)).toBeCloseTo(mean(written), 9);
    expect(sample.tailMean(counts)).toBeCloseTo(mean(written.slice(-tailSize(written.length))), 9);
  });
});

// Tables of the t distribution, two-sided 95 % (one-sided 95 % for 5 degrees); 4.5 degrees by numerical integration.
test.each([
  [0.975, 1, 12.706],
  [0.975, 4.5, 2.6589],
  [0.95, 5, 2.015],
  [0.975, 30, 2.042],
  [0.975, 1e9, 1.96],
])('P(T <= t) = %d at %d degrees: t = %d', (level, degrees, t) => {
  expect(studentQuantile(level, degrees) / t).toBeCloseTo(1, 2);
});
