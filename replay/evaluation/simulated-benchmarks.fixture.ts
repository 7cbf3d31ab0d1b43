/** Draws benchmarks from a known hierarchical distribution and measures the coverage of the summary's intervals. */

import { normal, type Random, seededRandom } from '../../abr/random.ts';
import type { Estimate, SessionResult } from '../results.ts';
import { testSession, testSummary } from './test-sessions.fixture.ts';

const BASELINE_MEAN = 40;
const TRUE_DIFF = 6;
const ORACLE_DIFF = 15;
/** Standard deviations of the paired difference: between groups, between recordings in one, between sessions. */
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
export function intervalCoverage(options: {
  recordings: readonly number[];
  benchmarks: number;
  resamples: number;
  seed: number;
}): Record<Covered, number> {
  const random = seededRandom(options.seed);
  const shares: Record<Covered, number> = { qoeDiff: 0, qoeMeanRatio: 0, oracleGapClosed: 0 };
  for (let i = 0; i < options.benchmarks; i++) {
    const drawn = drawBenchmark(options.recordings, random);
    const summary = testSummary(drawn, { seed: i, resamples: options.resamples });
    const comparison = summary.find((row) => row.algorithm === 'mpc-l')!.vsBaseline!;
    for (const name of Object.keys(TRUTH) as Covered[]) {
      const interval = (comparison[name] as Estimate | null)?.ci95;
      if (interval && interval[0] <= TRUTH[name] && TRUTH[name] <= interval[1]) shares[name] += 1 / options.benchmarks;
    }
  }
  return shares;
}
