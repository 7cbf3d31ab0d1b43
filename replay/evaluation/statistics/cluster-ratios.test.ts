import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { normal, seededRandom } from '../../../abr/statistics/random.ts';
import { readTraces } from '../../formats/trace-files.ts';
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

/** x and y of a session, by metric. */
const METRICS = {
  qoe: ({ watched, qoe }: ArmTotals) => [watched, watched * qoe],
  stalled: ({ watched, stalled }: ArmTotals) => [watched + stalled, stalled],
  stallsPerSession: ({ stalled }: ArmTotals) => [1, stalled],
} as const;
type DrawnMetric = keyof typeof METRICS;
const DRAWN_METRICS = Object.keys(METRICS) as DrawnMetric[];

type ArmTotals = { watched: number; stalled: number; qoe: number };

/** By link: the sessions of both arms from the same starts. */
type Pool = { control: ArmTotals; arm: ArmTotals }[][];

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
      return { control: play('throughput'), arm: play(arm) };
    }),
  );
}

/** The difference between the arms if every viewer were in both: viewers have links, and links starts, with equal chance. */
function truthOf(pool: Pool, metric: DrawnMetric): number {
  const expected = (of: 'control' | 'arm') => {
    const values = pool.flatMap((sessions) => sessions.map((both) => METRICS[metric](both[of])));
    return values.reduce((sum, [, y]) => sum + y!, 0) / values.reduce((sum, [x]) => sum + x!, 0);
  };
  return expected('arm') - expected('control');
}

/**
 * One trial: sessions of viewers, each with a link, a cluster and an arm. Calls `look` after every `every` sessions
 * with the contrast of each metric.
 */
function drawTrial(
  { pool, sessions, every, seed }: { pool: Pool; sessions: number; every: number; seed: number },
  look: (contrasts: Record<DrawnMetric, Contrast>, sessions: number) => void,
): void {
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const viewers = Array.from({ length: Math.ceil(sessions / SESSIONS_PER_VIEWER) }, () => ({
    link: pool[pick(pool.length)]!,
    cluster: pick(CLUSTERS),
    arm: random() < 0.5 ? ('arm' as const) : ('control' as const),
  }));
  const arms = { control: newSums(), arm: newSums() };
  for (let n = 1; n <= sessions; n++) {
    const { link, cluster, arm } = viewers[pick(viewers.length)]!;
    const session = link[pick(link.length)]![arm];
    for (const metric of DRAWN_METRICS) {
      const sums = arms[arm][metric];
      const [x, y] = METRICS[metric](session) as [number, number];
      sums.x[cluster]! += x;
      sums.y[cluster]! += y;
      sums.sessions++;
    }
    if (n % every !== 0) continue;
    const contrasts = DRAWN_METRICS.map((metric) => [metric, contrastOf(arms.arm[metric], arms.control[metric])]);
    look(Object.fromEntries(contrasts), n);
  }
}

const newSums = () => ({ qoe: sumsOf([]), stalled: sumsOf([]), stallsPerSession: sumsOf([]) });

/** `TRIALS=2000 npm run unit -- replay/evaluation/cluster-ratios` prints the figures of docs/findings.md. */
const TRIALS = Number(process.env['TRIALS'] ?? 150);
const IS_FULL = TRIALS >= 2000;
const STARTS = IS_FULL ? 40 : 8;

function sumsOf(sessions: readonly { cluster: number; x: number; y: number }[], clusters = CLUSTERS): ClusterSums {
  const sums = { x: new Float64Array(clusters), y: new Float64Array(clusters), sessions: sessions.length };
  for (const { cluster, x, y } of sessions) {
    sums.x[cluster]! += x;
    sums.y[cluster]! += y;
  }
  return sums;
}

/** One session of a cluster. */
const oneEach = (y: number, cluster: number) => ({ cluster, x: 1, y });

const excludes = ([low, high]: [number, number], value: number) => low > value || high < value;

describe('a contrast', () => {
  test('of one mean has the standard error of the mean', () => {
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

  test('counts sessions that are copies of one another in their cluster once', () => {
    const sessions = [3, 1, 4, 1, 5].map(oneEach);
    const once = contrastOf(sumsOf(sessions, 5));
    const thrice = contrastOf(sumsOf([...sessions, ...sessions, ...sessions], 5));
    expect(thrice.standardError).toBeCloseTo(once.standardError, 12);
  });

  test('of two arms leaves out what clusters share', () => {
    const random = seededRandom(4);
    const effects = Array.from({ length: 50 }, () => 10 * normal(random));
    const arm = (shift: number) => sumsOf(effects.map((effect) => effect + shift + normal(random)).map(oneEach), 50);
    const [one, other] = [arm(1), arm(0)];
    const both = contrastOf(one, other);
    expect(both.value).toBeCloseTo(ratioOf(one) - ratioOf(other), 12);
    expect(both.standardError).toBeLessThan(0.3);
  });

  test('without sessions or with one cluster has no interval', () => {
    const none = contrastOf(sumsOf([], 3));
    expect([none.value, intervalOf(none), alwaysValidInterval(none)]).toEqual([Number.NaN, null, null]);
    const one = contrastOf(sumsOf([oneEach(2, 1), oneEach(3, 1)], 3));
    expect([one.value, intervalOf(one)]).toEqual([2.5, null]);
  });
});

describe('an interval for any number of looks', () => {
  const contrast = (sessions: number, clusters = 1e6): Contrast => ({ value: 1, standardError: 1, clusters, sessions });
  /** Half the width in standard errors. */
  const width = (of: Contrast, alpha?: number) => alwaysValidInterval(of, alpha)![1] - 1;

  test('is that of the normal mixture for many clusters, and wider for few', () => {
    const growth = 1 + 7.935;
    const limit = Math.sqrt((growth / (growth - 1)) * (2 * Math.log(20) + Math.log(growth)));
    expect(width(contrast(10_000))).toBeCloseTo(limit, 3);
    expect(width(contrast(10_000, 40))).toBeGreaterThan(1.05 * limit);
    expect(alwaysValidInterval(contrast(10_000, 3))).toBeNull();
  });

  test('is narrowest, in standard errors, near 10,000 sessions, and wider with a smaller alpha', () => {
    const widths = [1e3, 1e4, 1e5].map((sessions) => width(contrast(sessions)));
    expect(widths[1]).toBeLessThan(Math.min(widths[0]!, widths[2]!));
    expect(width(contrast(1e4), 0.01)).toBeGreaterThan(widths[1]!);
  });
});

describe(`${TRIALS} simulated trials`, () => {
  let pools: { same: Pool; different: Pool } | undefined;
  /** Sessions of dash.js's rule against itself, and of MPC-L against the rule. */
  const played = () => (pools ??= { same: playPool('throughput'), different: playPool('mpc-l') });

  type Condition = (contrast: Contrast, metric: DrawnMetric) => boolean;

  /** For each condition and metric, the percentage of trials in which it holds at a look, at least once. */
  function percents(trial: { pool: Pool; sessions: number; every: number }, ...conditions: Condition[]): number[][] {
    const counts = conditions.map(() => DRAWN_METRICS.map(() => 0));
    for (let seed = 1; seed <= TRIALS; seed++) {
      const found = new Set<string>();
      drawTrial({ ...trial, seed }, (contrasts) => {
        for (const [m, metric] of DRAWN_METRICS.entries()) {
          for (const [c, holds] of conditions.entries()) {
            if (found.has(`${c} ${m}`) || !holds(contrasts[metric], metric)) continue;
            found.add(`${c} ${m}`);
            counts[c]![m]!++;
          }
        }
      });
    }
    const shares = counts.map((row) => row.map((count) => (100 * count) / TRIALS));
    if (IS_FULL) process.stdout.write(`${expect.getState().currentTestName}: ${JSON.stringify(shares)} %\n`);
    return shares;
  }

  test.each(['same', 'different'] as const)(
    '%s arms: the interval excludes the truth in about 5 %%',
    (arms) => {
      const pool = played()[arms];
      const truths = Object.fromEntries(DRAWN_METRICS.map((metric) => [metric, truthOf(pool, metric)]));
      const misses: Condition = (contrast, metric) => excludes(intervalOf(contrast)!, truths[metric]!);
      for (const percent of percents({ pool, sessions: 3000, every: 3000 }, misses)[0]!) {
        expect(percent).toBeGreaterThanOrEqual(IS_FULL ? 3 : 2);
        expect(percent).toBeLessThanOrEqual(IS_FULL ? 7 : 8);
      }
    },
    600_000,
  );

  test('same arms, a look every 100 sessions: the interval for any number of looks excludes 0 in at most 5 %', () => {
    const trial = { pool: played().same, sessions: IS_FULL ? 10_000 : 4000, every: 100 };
    const [always, once] = percents(
      trial,
      (contrast) => excludes(alwaysValidInterval(contrast) ?? [0, 0], 0),
      ({ value, standardError }) => Math.abs(value) > 2 * standardError,
    );
    for (const percent of always!) expect(percent).toBeLessThanOrEqual(5);
    // Without the correction many looks exclude 0.
    for (const percent of once!) expect(percent).toBeGreaterThan(IS_FULL ? 20 : 12);
  }, 600_000);
});
