/** Compares the synthetic link with recordings: a table of statistics. */

import { seedOf } from '../../abr/random.ts';
import { linkStatistics, type Statistic } from './link-statistics.ts';
import type { RateSeries } from './rate-series.ts';
import { synthesizeStarlinkLink } from './starlink-link.ts';
import type { StarlinkParameters } from './starlink-parameters.ts';
import { BIN_SECONDS, subSecondStatistics } from './sub-second.ts';

/** What is compared, on which series. */
export interface Comparison {
  stepSeconds: number;
  statistics: (series: readonly RateSeries[]) => Statistic[];
}

export const PER_SECOND: Comparison = { stepSeconds: 1, statistics: linkStatistics };
export const SUB_SECOND: Comparison = { stepSeconds: BIN_SECONDS, statistics: subSecondStatistics };

/** A synthetic twin of each recording: as long, in the same group. */
function syntheticTwins({ recordings, parametersOf, comparison, seed }: Omit<FitOptions, 'replicates'>): RateSeries[] {
  const { stepSeconds } = comparison;
  return recordings.map(({ mbps, group }, k) => {
    const linkSeed = seedOf(`twin/${seed}/${k}`);
    const link = synthesizeStarlinkLink({
      parameters: parametersOf(linkSeed),
      seed: linkSeed,
      durationSeconds: mbps.length * stepSeconds,
      stepSeconds,
    });
    return { mbps: link.ratesBps.map((bps) => bps / 1e6), epochPhaseSeconds: link.epochPhaseSeconds, group };
  });
}

interface FitRow {
  name: string;
  real: number;
  /** Mean and standard deviation over the replicates in which the statistic exists. */
  synthetic: number;
  spread: number;
  /** The difference in units of the statistic's tolerance; NaN if either side lacks the statistic. */
  distance: number;
}

interface FitTable {
  rows: FitRow[];
  replicates: number;
  /** Root mean square of the rows' distances. */
  distance: number;
}

interface FitOptions {
  /** In the comparison's steps. */
  recordings: readonly RateSeries[];
  comparison: Comparison;
  /** The parameters of a link, by its seed (a mixture draws each link's character). */
  parametersOf: (seed: number) => StarlinkParameters;
  /** Sets of synthetic twins to compare with. */
  replicates: number;
  seed: number;
}

/** Compares recordings with their synthetic twins. */
export function fitTable({ replicates, seed, ...options }: FitOptions): FitTable {
  const { statistics } = options.comparison;
  const real = statistics(options.recordings);
  const synthetic = Array.from({ length: replicates }, (_, r) =>
    statistics(syntheticTwins({ ...options, seed: seedOf(`${seed}/${r}`) })),
  );
  const rows = real.map((statistic, i): FitRow => {
    const values = synthetic.map((one) => one[i]!.value).filter((value) => !Number.isNaN(value));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1);
    return {
      name: statistic.name,
      real: statistic.value,
      synthetic: mean,
      spread: Math.sqrt(variance),
      distance: distanceOf(statistic, mean),
    };
  });
  const distances = rows.map((row) => row.distance).filter((distance) => !Number.isNaN(distance));
  const distance = Math.sqrt(distances.reduce((sum, value) => sum + value ** 2, 0) / distances.length);
  return { rows, replicates, distance };
}

function distanceOf({ value, scale, tolerance }: Statistic, synthetic: number): number {
  const scaled = (x: number) => (scale.kind === 'ratio' ? Math.log(x + scale.floor) : x);
  const distance = (scaled(synthetic) - scaled(value)) / tolerance;
  // Limited, so that one hopeless row does not dominate the root mean square.
  return Math.max(-5, Math.min(5, distance));
}

export function fitMarkdown({ rows, replicates, distance }: FitTable): string {
  return [
    '| statistic | recorded | synthetic | spread | off by |',
    '|---|---:|---:|---:|---:|',
    ...rows.map(({ name, real, synthetic, spread, distance: off }) => {
      const cells = [name, digits(real), digits(synthetic), digits(spread), Number.isNaN(off) ? '-' : off.toFixed(1)];
      return `| ${cells.join(' | ')} |`;
    }),
    '',
    `synthetic: mean over ${replicates} sets of twins, spread: their standard deviation, off by: difference in units`,
    `of the statistic's tolerance (root mean square of the column: ${distance.toFixed(2)})`,
    '',
  ].join('\n');
}

function digits(value: number): string {
  if (Number.isNaN(value)) return '-';
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}
