/**
 * Statistics of a set of links: autocorrelation, the effect of epoch boundaries, outages. All work on means per
 * second.
 */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { mean } from '../evaluation/quantiles.ts';
import { remembered } from '../remembered.ts';
import type { RateSeries } from './rate-series.ts';

/** Rates are raised to this before the logarithm, so that an outage is finite, in Mbit/s. */
const LOG_FLOOR_MBPS = 0.5;
/** A second below this rate belongs to an outage, in Mbit/s. */
export const OUTAGE_MBPS = 1;

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

/** Lengths in seconds of the runs below a limit in Mbit/s. */
export function outageRuns(mbps: Float64Array, belowMbps = OUTAGE_MBPS): number[] {
  const runs: number[] = [];
  let start = 0;
  for (let i = 0; i <= mbps.length; i++) {
    if (i < mbps.length && mbps[i]! < belowMbps) continue;
    if (i > start) runs.push(i - start);
    start = i + 1;
  }
  return runs;
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
  return {
    phaseSeconds: only ?? Number.NaN,
    changeAt: at / atCount,
    changeElsewhere: (all - at) / (allCount - atCount),
  };
}

/** Sums per second of the epoch. */
class Profiles {
  readonly changeSum = new Float64Array(EPOCH_SECONDS);
  readonly changeCount = new Float64Array(EPOCH_SECONDS);

  add(mbps: Float64Array, epochPhaseSeconds: number): void {
    const log = logRates(mbps);
    for (let i = 1; i < mbps.length; i++) {
      const phase = Math.floor(epochPhaseSeconds + i + 1e-6) % EPOCH_SECONDS;
      this.changeSum[phase]! += Math.abs(log[i]! - log[i - 1]!);
      this.changeCount[phase]! += 1;
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
    }
  }
}
