import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { normal, seededRandom } from '../../../abr/statistics/random.ts';
import { readTraces } from '../../formats/trace-files.ts';
import { remembered } from '../../remembered.ts';
import { resolveScenario, scenarioNamed } from '../../scenario-file.ts';
import { sessionPlayer } from '../../simulator/threads/run-sessions.ts';
import {
  alwaysValidInterval,
  type ClusterSums,
  type Contrast,
  contrastOf,
  intervalOf,
  ratioOf,
  sessionsToFind,
} from './cluster-ratios.ts';

const CLUSTERS = 1000;
const SESSIONS_PER_VIEWER = 3;
/** Viewers leave after one of these numbers of segments. */
const WATCHED_SEGMENTS = [4, 10, 24, 48];

/** `TRIALS=2000 npm run unit -- replay/evaluation/cluster-ratios` prints the figures of docs/findings.md. */
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
