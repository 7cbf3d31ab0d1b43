/** How well the synthetic link fits recordings: a table of statistics, and a seeded search for better parameters. */

import { seedOf } from '../random.ts';
import { linkStatistics, type Scale, type Statistic } from './link-statistics.ts';
import { RandomStream } from './random-stream.ts';
import type { RateSeries } from './rate-series.ts';
import { synthesizeStarlinkLink } from './starlink-link.ts';
import type { StarlinkParameters } from './starlink-parameters.ts';

/** Parameters to draw the k-th link of a replicate from (a mixture gives each link its own). */
export type ParametersOf = (seed: number) => StarlinkParameters;

/** Synthetic twins of recordings: as many, as long, in the same groups. */
export function syntheticTwins(
  recordings: readonly RateSeries[],
  parametersOf: ParametersOf,
  seed: number,
): RateSeries[] {
  return recordings.map(({ mbps, group }, k) => {
    const linkSeed = seedOf(`twin/${seed}/${k}`);
    const link = synthesizeStarlinkLink({
      parameters: parametersOf(linkSeed),
      seed: linkSeed,
      durationSeconds: mbps.length,
    });
    return { mbps: link.ratesBps.map((bps) => bps / 1e6), epochPhaseSeconds: link.epochPhaseSeconds, group };
  });
}

export interface FitRow {
  name: string;
  real: number;
  /** Mean and standard deviation over replicates (those in which the statistic exists). */
  synthetic: number;
  spread: number;
  /** The difference in units of the statistic's tolerance; NaN where one side has none. */
  distance: number;
}

export interface FitTable {
  rows: FitRow[];
  replicates: number;
  /** Root mean square of the rows' distances. */
  distance: number;
}

export interface FitOptions {
  recordings: readonly RateSeries[];
  parametersOf: ParametersOf;
  /** Sets of synthetic twins to compare with. */
  replicates: number;
  seed: number;
}

/** Compares recordings with synthetic twins of theirs. */
export function fitTable({ recordings, parametersOf, replicates, seed }: FitOptions): FitTable {
  const real = linkStatistics(recordings);
  const synthetic = Array.from({ length: replicates }, (_, r) =>
    linkStatistics(syntheticTwins(recordings, parametersOf, seedOf(`${seed}/${r}`))),
  );
  const rows = real.map((statistic, i): FitRow => {
    const values = synthetic.map((statistics) => statistics[i]!.value).filter((value) => !Number.isNaN(value));
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
  const on = (x: number, { kind, ...of }: Scale) => (kind === 'ratio' && 'floor' in of ? Math.log(x + of.floor) : x);
  const distance = (on(synthetic, scale) - on(value, scale)) / tolerance;
  // Far off is far off: one hopeless row must not decide the search.
  return Math.max(-5, Math.min(5, distance));
}

/** The table in Markdown, with a line on how to read it. */
export function fitMarkdown({ rows, replicates, distance }: FitTable): string {
  const lines = [
    '| statistic | recorded | synthetic | spread | off by |',
    '|---|---:|---:|---:|---:|',
    ...rows.map(
      ({ name, real, synthetic, spread, distance: off }) =>
        `| ${name} | ${digits(real)} | ${digits(synthetic)} | ${digits(spread)} | ${Number.isNaN(off) ? '-' : off.toFixed(1)} |`,
    ),
  ];
  return `${lines.join('\n')}\n\nsynthetic: mean over ${replicates} sets of twins, spread: their standard deviation, off by: difference in units of the\nstatistic's tolerance (root mean square of the column: ${distance.toFixed(2)})\n`;
}

function digits(value: number): string {
  if (Number.isNaN(value)) return '-';
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** How a parameter is moved: by addition, by factors, or within (0, 1). */
const MOVES: Partial<Record<keyof StarlinkParameters, 'add' | 'factor' | 'share'>> = {
  ceilingMbps: 'factor',
  ceilingSpread: 'factor',
  meanZ: 'add',
  meanSpread: 'factor',
  variabilitySpread: 'factor',
  variabilityByMean: 'add',
  levelSpread: 'factor',
  levelCorrelation: 'share',
  keepShare: 'share',
  badEpochShare: 'share',
  badEpochDepth: 'factor',
  slowSpread: 'factor',
  slowSeconds: 'factor',
  fastSpread: 'factor',
  surroundingsSpread: 'factor',
  surroundingsSeconds: 'factor',
  dipDepth: 'share',
  dipSeconds: 'factor',
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
  start: StarlinkParameters;
  iterations: number;
  replicates: number;
  seed: number;
  /** Is told of each improvement. */
  onImprovement?: (iteration: number, distance: number) => void;
}

/**
 * Looks for parameters at a smaller distance: moves three random ones at a time and keeps what is better, with steps that
 * grow on success and shrink otherwise (a (1+1) evolution strategy with the 1/5 rule). The synthetic seeds stay the same
 * throughout; judge the outcome with `fitTable` on another seed.
 */
export function searchParameters(options: SearchOptions): { parameters: StarlinkParameters; distance: number } {
  const { recordings, start, iterations, replicates, seed } = options;
  const random = new RandomStream(seed, 'search');
  const names = Object.keys(MOVES) as (keyof StarlinkParameters)[];
  const distanceFor = (parameters: StarlinkParameters) =>
    fitTable({ recordings, parametersOf: () => parameters, replicates, seed }).distance;
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

/** Three digits are more than the recordings can tell. */
function rounded(parameters: StarlinkParameters): StarlinkParameters {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, Number((value as number).toPrecision(3))]),
  ) as unknown as StarlinkParameters;
}
