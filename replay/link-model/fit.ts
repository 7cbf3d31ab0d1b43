/** Compares the synthetic link with recordings: a table of statistics, and a seeded search for better parameters. */

import { seedOf } from '../../abr/random.ts';
import { linkStatistics, type Statistic } from './link-statistics.ts';
import { RandomStream } from './random-stream.ts';
import type { RateSeries } from './rate-series.ts';
import { synthesizeStarlinkLink } from './starlink-link.ts';
import type { StarlinkParameters } from './starlink-parameters.ts';
import { BIN_SECONDS, subSecondStatistics } from './sub-second.ts';

/** The parameters of a link, by its seed (a mixture draws each link's character). */
export type ParametersOf = (seed: number) => StarlinkParameters;

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
  parametersOf: ParametersOf;
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
  // Limited, so that one hopeless row does not decide the search.
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

/** How the search changes a parameter: by addition, by factors, or within (0, 1). */
const MOVES: Partial<Record<keyof StarlinkParameters, 'add' | 'factor' | 'share'>> = {
  ceilingMbps: 'factor',
  ceilingSpread: 'factor',
  meanZ: 'add',
  meanSpread: 'factor',
  variabilitySpread: 'factor',
  variabilityByMean: 'add',
  epochSpread: 'factor',
  epochCorrelation: 'share',
  keepShare: 'share',
  badEpochShare: 'share',
  badEpochDepth: 'factor',
  slowSpread: 'factor',
  slowSeconds: 'factor',
  fastSpread: 'factor',
  fastSeconds: 'factor',
  noiseSpread: 'factor',
  surroundingsSpread: 'factor',
  surroundingsSeconds: 'factor',
  dipDepth: 'share',
  dipSeconds: 'factor',
  cutDepth: 'share',
  cutSeconds: 'factor',
  collapseShare: 'share',
  collapseSeconds: 'factor',
  fadesPerHour: 'factor',
  fadeSeconds: 'factor',
  blockagesPerHour: 'factor',
  blockageIntensitySpread: 'factor',
  blockageClustering: 'factor',
  blockageSeconds: 'factor',
  blockageSpread: 'factor',
  recoverySeconds: 'factor',
};

export interface SearchOptions {
  recordings: readonly RateSeries[];
  comparison: Comparison;
  start: StarlinkParameters;
  iterations: number;
  replicates: number;
  seed: number;
  /** Called after each improvement. */
  onImprovement?: (iteration: number, distance: number) => void;
}

/**
 * Searches for parameters with a smaller distance: it changes three random ones at a time and keeps improvements; steps
 * grow on success and shrink otherwise (a (1+1) evolution strategy with the 1/5 rule). All candidates use the same
 * synthetic seeds, so evaluate the result with `fitTable` on another seed.
 */
export function searchParameters(options: SearchOptions): { parameters: StarlinkParameters; distance: number } {
  const { recordings, comparison, start, iterations, replicates, seed } = options;
  const random = new RandomStream(seed, 'search');
  // What is 0 is switched off, and stays so.
  const names = (Object.keys(MOVES) as (keyof StarlinkParameters)[]).filter((name) => start[name] !== 0);
  const distanceFor = (parameters: StarlinkParameters) =>
    fitTable({ recordings, comparison, parametersOf: () => parameters, replicates, seed }).distance;
  let best = { ...start };
  let distance = distanceFor(best);
  let step = 0.3;
  for (let iteration = 1; iteration <= iterations; iteration++) {
    const candidate = { ...best };
    for (let k = 0; k < 3; k++) {
      const name = names[random.whole(names.length)]!;
      candidate[name] = moved(candidate[name], MOVES[name]!, step * random.normal());
    }
    const reached = distanceFor(candidate);
    if (reached < distance) {
      best = candidate;
      distance = reached;
      step = Math.min(0.5, step * 1.3);
      options.onImprovement?.(iteration, distance);
    } else step = Math.max(0.05, step * 0.94);
  }
  return { parameters: rounded(best), distance };
}

function moved(value: number, move: 'add' | 'factor' | 'share', by: number): number {
  if (move === 'add') return value + by;
  if (move === 'factor') return value * Math.exp(by);
  const odds = (Math.max(0.01, Math.min(0.99, value)) / (1 - Math.max(0.01, Math.min(0.99, value)))) * Math.exp(2 * by);
  return odds / (1 + odds);
}

/** Rounded to three digits; the recordings do not determine more. */
function rounded(parameters: StarlinkParameters): StarlinkParameters {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, Number((value as number).toPrecision(3))]),
  ) as unknown as StarlinkParameters;
}
