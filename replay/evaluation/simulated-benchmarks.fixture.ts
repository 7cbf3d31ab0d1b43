/** Draws benchmarks from a known hierarchical distribution and measures the coverage of the summary's intervals. */

import { normal, type Random, seededRandom } from '../../abr/random.ts';
import type { BaselineComparison, Estimate, SessionResult } from '../results.ts';
import { summarise } from './summary.ts';

/** Recordings per group, and sessions per recording. */
export interface BenchmarkShape {
  recordings: readonly number[];
  sessionsPerRecording: number;
  /** Standard deviations of the paired difference: between groups, between recordings in one, between sessions. */
  groupSpread: number;
  recordingSpread: number;
  sessionSpread: number;
  /** Session noise is a shifted exponential (few sessions with large differences) instead of normal. */
  skewed: boolean;
}

const LADDER_BPS = [3e6, 120e6];
const BASELINE_MEAN = 40;
const TRUE_DIFF = 6;
const ORACLE_DIFF = 15;
const NO_SEGMENTS: SessionResult['segments'] = [];

/** The true values that the intervals should cover. */
export const TRUTH = {
  qoeDiff: TRUE_DIFF,
  qoeMeanRatio: (BASELINE_MEAN + TRUE_DIFF) / BASELINE_MEAN,
  oracleGapClosed: TRUE_DIFF / ORACLE_DIFF,
} as const;

export type CoveredStatistic = keyof typeof TRUTH;

/** `mpc-d`, `mpc-l` and `mpc-o` on every session of one benchmark. */
export function drawBenchmark(shape: BenchmarkShape, random: Random): SessionResult[] {
  const sessions: SessionResult[] = [];
  const sessionNoise = () => (shape.skewed ? 1 + Math.log(1 - random()) : normal(random));
  for (const [g, recordings] of shape.recordings.entries()) {
    const baselineOfGroup = (shape.groupSpread > 0 ? 8 : 0) * normal(random);
    const diffOfGroup = shape.groupSpread * normal(random);
    for (let r = 0; r < recordings; r++) {
      const diffOfRecording = shape.recordingSpread * normal(random);
      for (let s = 0; s < shape.sessionsPerRecording; s++) {
        const baseline = BASELINE_MEAN + baselineOfGroup + 10 * normal(random);
        const diff = TRUE_DIFF + diffOfGroup + diffOfRecording + shape.sessionSpread * sessionNoise();
        const oracle = ORACLE_DIFF + diffOfGroup + 3 * normal(random);
        const place = { dataset: 'drawn', group: `${g}`, trace: `${g}-${r}`, startSeconds: 61 * s };
        sessions.push(drawnSession(place, 'mpc-d', baseline));
        sessions.push(drawnSession(place, 'mpc-l', baseline + diff));
        sessions.push(drawnSession(place, 'mpc-o', baseline + oracle));
      }
    }
  }
  return sessions;
}

/** By statistic, the share of benchmarks whose 95 % interval of `mpc-l` against `mpc-d` covers the truth. */
export function intervalCoverage(options: {
  shape: BenchmarkShape;
  benchmarks: number;
  resamples: number;
  seed: number;
}): Record<CoveredStatistic, number> {
  const random = seededRandom(options.seed);
  const covered = { qoeDiff: 0, qoeMeanRatio: 0, oracleGapClosed: 0 };
  for (let i = 0; i < options.benchmarks; i++) {
    const comparison = summarise(drawBenchmark(options.shape, random), {
      scenario: { ladderBps: LADDER_BPS },
      baseline: 'mpc-d',
      seed: i,
      resamples: options.resamples,
    }).find((row) => row.algorithm === 'mpc-l')!.vsBaseline!;
    for (const name of Object.keys(TRUTH) as CoveredStatistic[]) {
      if (covers(comparison, name)) covered[name]++;
    }
  }
  for (const name of Object.keys(TRUTH) as CoveredStatistic[]) covered[name] /= options.benchmarks;
  return covered;
}

function covers(comparison: BaselineComparison, name: CoveredStatistic): boolean {
  const interval = (comparison[name] as Estimate | null)?.ci95;
  return !!interval && interval[0] <= TRUTH[name] && TRUTH[name] <= interval[1];
}

function drawnSession(
  place: Pick<SessionResult, 'dataset' | 'group' | 'trace' | 'startSeconds'>,
  algorithm: string,
  qoe: number,
): SessionResult {
  return {
    dataset: place.dataset,
    group: place.group,
    trace: place.trace,
    startSeconds: place.startSeconds,
    algorithm,
    seed: 0,
    endedBy: 'end',
    segments: NO_SEGMENTS,
    qoe: { linear: qoe, log: qoe, hd: null },
    meanBitrateBps: qoe * 1e6,
    stallSeconds: 0,
    stallCount: 0,
    startupSeconds: 0,
    switches: 0,
    switchBps: 0,
    wastedBits: 0,
  };
}
