import { expect, test } from '@jest/globals';
import { normal, type Random, seededRandom } from '../../../abr/statistics/random.ts';
import type { Estimate, SessionResult } from '../../results.ts';
import { testSession, testSummary } from '../test-sessions.fixture.ts';
import { effectiveUnits, estimates } from './bootstrap.ts';

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

// Standard error 1 point; plain percentiles cover 84 to 92 % and fail. More shapes: README.md.
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
