/**
 * Statistics of a set of links: marginal quantiles, autocorrelation, the effect of epoch boundaries, outages. The same
 * estimators serve recorded and synthetic links; all work on means per second (`sub-second.ts`: per 0.1 s).
 */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { quantile } from '../../abr/quantile.ts';
import { mean } from '../evaluation/quantiles.ts';
import { remembered } from '../remembered.ts';
import type { RateSeries } from './rate-series.ts';

/** Rates are raised to this before the logarithm, so that an outage is finite, in Mbit/s. */
const LOG_FLOOR_MBPS = 0.5;
/** A second below this rate belongs to an outage, in Mbit/s. */
export const OUTAGE_MBPS = 1;

/** How a statistic is compared: by difference, or by the ln of the ratio after `floor` is added to both values. */
export type Scale = { kind: 'difference' } | { kind: 'ratio'; floor: number };

export interface Statistic {
  name: string;
  value: number;
  scale: Scale;
  /** The difference on that scale that counts as 1 in the fit. */
  tolerance: number;
}

export const ratio = (floor: number): Scale => ({ kind: 'ratio', floor });
export const difference: Scale = { kind: 'difference' };

export function row(...[name, value, scale, tolerance]: [string, number, Scale, number]): Statistic {
  return { name, value, scale, tolerance };
}

/** ln of max(rate, floor). */
export function logRates(mbps: Float64Array): Float64Array {
  return mbps.map((rate) => Math.log(Math.max(rate, LOG_FLOOR_MBPS)));
}

/** Pooled autocorrelation at a lag in steps, about each series' own mean; NaN if all series are shorter. */
export function autocorrelation(logs: readonly Float64Array[], lag: number): number {
  let covariance = 0;
  let variance = 0;
  for (const log of logs) {
    const n = log.length;
    if (n <= lag) continue;
    const center = mean(log);
    let own = 0;
    for (let i = 0; i < n; i++) own += (log[i]! - center) ** 2;
    let lagged = 0;
    for (let i = lag; i < n; i++) lagged += (log[i]! - center) * (log[i - lag]! - center);
    variance += own;
    covariance += (lagged * n) / (n - lag);
  }
  return covariance / variance;
}

/** The runs below a limit in Mbit/s, from their first second to the second after them. */
function runsBelow(mbps: Float64Array, belowMbps: number): { start: number; end: number }[] {
  const runs: { start: number; end: number }[] = [];
  let start = 0;
  for (let i = 0; i <= mbps.length; i++) {
    if (i < mbps.length && mbps[i]! < belowMbps) continue;
    if (i > start) runs.push({ start, end: i });
    start = i + 1;
  }
  return runs;
}

/** Lengths in seconds of the runs below a limit in Mbit/s. */
export function outageRuns(mbps: Float64Array, belowMbps = OUTAGE_MBPS): number[] {
  return runsBelow(mbps, belowMbps).map(({ start, end }) => end - start);
}

/**
 * How outages of at least 3 s begin and end: the means of the 12 s before and of the 3 s after each one, as shares of
 * the series' median. The partly blocked seconds beside the outage are left out; so are outages near the ends.
 */
function aroundOutages(mbps: Float64Array): { before: number; after: number }[] {
  const median = Math.max(OUTAGE_MBPS, quantile(Float64Array.from(mbps).sort(), 0.5));
  return runsBelow(mbps, OUTAGE_MBPS)
    .filter(({ start, end }) => end - start >= 3 && start >= 13 && end + 4 <= mbps.length)
    .map(({ start, end }) => ({
      before: mean(mbps.subarray(start - 13, start - 1)) / median,
      after: mean(mbps.subarray(end + 1, end + 4)) / median,
    }));
}

interface BoundaryEffect {
  /**
   * The second of the epoch (second of the minute modulo 15) at which the mean change over two seconds is largest; NaN
   * for several groups.
   */
  phaseSeconds: number;
  /** Mean |change of ln rate| per second in those two seconds and in all others. */
  changeAt: number;
  changeElsewhere: number;
  /** 1 - the lowest of the 15 mean ratios of the rate to its own centred 15 s mean. */
  dipDepth: number;
}

/**
 * The boundary effect. Its phase is estimated per recording group, because recorders' clocks are off by about a second.
 * Undefined if no series has a known phase and at least 30 s.
 */
export function boundaryEffect(series: readonly RateSeries[]): BoundaryEffect | undefined {
  const groups = new Map<string, Profiles>();
  for (const one of series) {
    if (one.epochPhaseSeconds === undefined || one.mbps.length < 2 * EPOCH_SECONDS) continue;
    remembered(groups, one.group, () => new Profiles()).add(one.mbps, one.epochPhaseSeconds);
  }
  if (groups.size === 0) return undefined;
  const aligned = new Profiles();
  const only = groups.size === 1 ? [...groups.values()][0]!.peakPhase() : undefined;
  for (const profiles of groups.values()) aligned.addAligned(profiles);
  const at = aligned.changeSum[0]! + aligned.changeSum[1]!;
  const atCount = aligned.changeCount[0]! + aligned.changeCount[1]!;
  const all = aligned.changeSum.reduce((sum, change) => sum + change, 0);
  const allCount = aligned.changeCount.reduce((sum, count) => sum + count, 0);
  const ratios = Array.from(aligned.ratioSum, (sum, i) => sum / Math.max(1, aligned.ratioCount[i]!));
  return {
    phaseSeconds: only ?? Number.NaN,
    changeAt: at / atCount,
    changeElsewhere: (all - at) / (allCount - atCount),
    dipDepth: 1 - Math.min(...ratios),
  };
}

/** Sums per second of the epoch. */
class Profiles {
  readonly changeSum = new Float64Array(EPOCH_SECONDS);
  readonly changeCount = new Float64Array(EPOCH_SECONDS);
  readonly ratioSum = new Float64Array(EPOCH_SECONDS);
  readonly ratioCount = new Float64Array(EPOCH_SECONDS);

  add(mbps: Float64Array, epochPhaseSeconds: number): void {
    const log = logRates(mbps);
    const half = (EPOCH_SECONDS - 1) / 2;
    let window = 0;
    for (let i = 0; i < mbps.length; i++) {
      const phase = Math.floor(epochPhaseSeconds + i + 1e-6) % EPOCH_SECONDS;
      if (i > 0) {
        this.changeSum[phase]! += Math.abs(log[i]! - log[i - 1]!);
        this.changeCount[phase]! += 1;
      }
      // `window` is the sum of the 15 s that end at i; its centre is `half` seconds back.
      window += mbps[i]! - (mbps[i - EPOCH_SECONDS] ?? 0);
      if (i < EPOCH_SECONDS - 1 || window < OUTAGE_MBPS * EPOCH_SECONDS) continue;
      const centre = (phase - half + EPOCH_SECONDS) % EPOCH_SECONDS;
      this.ratioSum[centre]! += (mbps[i - half]! * EPOCH_SECONDS) / window;
      this.ratioCount[centre]! += 1;
    }
  }

  /** The second p with the largest mean change over p and p + 1. */
  peakPhase(): number {
    const mean = (phase: number) => this.changeSum[phase % EPOCH_SECONDS]! / this.changeCount[phase % EPOCH_SECONDS]!;
    let best = 0;
    for (let phase = 1; phase < EPOCH_SECONDS; phase++) {
      if (mean(phase) + mean(phase + 1) > mean(best) + mean(best + 1)) best = phase;
    }
    return best;
  }

  /** Adds another profile, rotated so that its peak is at 0. */
  addAligned(other: Profiles): void {
    const peak = other.peakPhase();
    for (let i = 0; i < EPOCH_SECONDS; i++) {
      const from = (i + peak) % EPOCH_SECONDS;
      this.changeSum[i]! += other.changeSum[from]!;
      this.changeCount[i]! += other.changeCount[from]!;
      this.ratioSum[i]! += other.ratioSum[from]!;
      this.ratioCount[i]! += other.ratioCount[from]!;
    }
  }
}

/** All statistics of a set of links, NaN where the set is too small for one. */
export function linkStatistics(series: readonly RateSeries[]): Statistic[] {
  const logs = series.map(({ mbps }) => logRates(mbps));
  const seconds = series.reduce((sum, { mbps }) => sum + mbps.length, 0);
  const pooled = new Float64Array(seconds);
  const changes = new Float64Array(seconds - series.length);
  let at = 0;
  let change = 0;
  series.forEach(({ mbps }, k) => {
    pooled.set(mbps, at);
    at += mbps.length;
    const log = logs[k]!;
    for (let i = 1; i < log.length; i++) changes[change++] = Math.abs(log[i]! - log[i - 1]!);
  });
  pooled.sort();
  changes.sort();
  const ascending = (values: number[]) => values.sort((a, b) => a - b);
  const medians = ascending(series.map(({ mbps }) => quantile(Float64Array.from(mbps).sort(), 0.5)));
  const spreads = ascending(logs.map(standardDeviation));
  const runs = ascending(series.flatMap(({ mbps }) => outageRuns(mbps)));
  const outageSeconds = runs.reduce((sum, run) => sum + run, 0);
  const around = series.flatMap(({ mbps }) => aroundOutages(mbps));
  const boundary = boundaryEffect(series);
  const hours = seconds / 3600;

  return [
    row('mean, Mbit/s', mean(pooled), ratio(1), 0.1),
    ...[1, 5, 10, 25, 50, 75, 90, 95, 99].map((percent) =>
      row(
        `p${percent}, Mbit/s`,
        quantile(pooled, percent / 100),
        ratio(1),
        percent < 5 ? 0.3 : percent < 25 ? 0.15 : 0.1,
      ),
    ),
    row('share below 1 Mbit/s, %', (100 * outageSeconds) / seconds, ratio(0.05), 0.3),
    row('trace median p10, Mbit/s', quantile(medians, 0.1), ratio(1), 0.2),
    row('trace median p90, Mbit/s', quantile(medians, 0.9), ratio(1), 0.15),
    row('sd of ln rate in a trace, p10', quantile(spreads, 0.1), ratio(0), 0.2),
    row('sd of ln rate in a trace, p50', quantile(spreads, 0.5), ratio(0), 0.1),
    row('sd of ln rate in a trace, p90', quantile(spreads, 0.9), ratio(0), 0.2),
    ...[1, 5, 15, 30].map((lag) =>
      row(`autocorrelation at ${lag} s`, autocorrelation(logs, lag), difference, lag === 1 ? 0.03 : 0.05),
    ),
    row('change per second p50', quantile(changes, 0.5), ratio(0.01), 0.1),
    row('change per second p90', quantile(changes, 0.9), ratio(0.01), 0.1),
    row('change per second p99', quantile(changes, 0.99), ratio(0.01), 0.2),
    row('mean change at a boundary', boundary?.changeAt ?? Number.NaN, ratio(0.01), 0.08),
    row('mean change elsewhere', boundary?.changeElsewhere ?? Number.NaN, ratio(0.01), 0.08),
    row(
      'boundary / elsewhere',
      boundary === undefined ? Number.NaN : boundary.changeAt / boundary.changeElsewhere,
      ratio(0),
      0.08,
    ),
    row('dip at a boundary, %', 100 * (boundary?.dipDepth ?? Number.NaN), difference, 2),
    row('outages per hour', runs.length / hours, ratio(0.5), 0.25),
    row('outage mean, s', mean(runs), ratio(0), 0.2),
    row('outage p50, s', quantile(runs, 0.5), ratio(0), 0.4),
    row('outage p90, s', quantile(runs, 0.9), ratio(0), 0.3),
    row('outage longest, s', runs.at(-1) ?? Number.NaN, ratio(0), 0.5),
    row('outages of 10 s or more per hour', runs.filter((run) => run >= 10).length / hours, ratio(0.5), 0.25),
    row('before an outage, % of the median', 100 * medianOf(around.map(({ before }) => before)), ratio(1), 0.3),
    row('after an outage, % of the median', 100 * medianOf(around.map(({ after }) => after)), ratio(1), 0.3),
  ];
}

function medianOf(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5);
}

function standardDeviation(values: Float64Array): number {
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
}
