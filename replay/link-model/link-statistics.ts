/** Statistics of a link: the effect of epoch boundaries, outages. All work on means per second. */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { PiecewisePath } from '../../abr/index.ts';
import type { Trace } from '../trace.ts';

/** Rates are raised to this before the logarithm, so that an outage is finite, in Mbit/s. */
const LOG_FLOOR_MBPS = 0.5;
/** A second below this rate belongs to an outage, in Mbit/s. */
export const OUTAGE_MBPS = 1;

/** Mean rate of each second in Mbit/s, without an incomplete last one; a trace below a second gives one value. */
export function secondsOf({ stepEndsSeconds, ratesBps, durationSeconds }: Trace): Float64Array {
  const path = new PiecewisePath({ stepEndsSeconds, ratesBps });
  const seconds = Math.floor(durationSeconds + 1e-6);
  if (seconds === 0) return Float64Array.of(path.cumulativeBits(durationSeconds) / durationSeconds / 1e6);
  return Float64Array.from({ length: seconds }, (_, second) => {
    return (path.cumulativeBits(second + 1) - path.cumulativeBits(second)) / 1e6;
  });
}

/** ln of max(rate, floor). */
export function logRates(mbps: Float64Array): Float64Array {
  return mbps.map((rate) => Math.log(Math.max(rate, LOG_FLOOR_MBPS)));
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

export interface BoundaryEffect {
  /** The second of the epoch (second of the minute modulo 15) at which the mean change over two seconds is largest. */
  second: number;
  /** Mean |change of ln rate| in those two seconds / that in all others. */
  changeRatio: number;
}

/** `epochPhaseSeconds`: second of the minute at second 0. Two epochs at least. */
export function boundaryEffect(mbps: Float64Array, epochPhaseSeconds: number): BoundaryEffect {
  const log = logRates(mbps);
  const sums = new Float64Array(EPOCH_SECONDS);
  const counts = new Float64Array(EPOCH_SECONDS);
  for (let i = 1; i < mbps.length; i++) {
    const phase = Math.floor(epochPhaseSeconds + i + 1e-6) % EPOCH_SECONDS;
    sums[phase]! += Math.abs(log[i]! - log[i - 1]!);
    counts[phase]! += 1;
  }
  const changes = sums.map((sum, phase) => sum / counts[phase]!);
  const pairs = changes.map((change, phase) => change + changes[(phase + 1) % EPOCH_SECONDS]!);
  const second = pairs.indexOf(Math.max(...pairs));
  const total = (of: Float64Array) => of.reduce((sum, value) => sum + value, 0);
  const atBoundary = (of: Float64Array) => of[second]! + of[(second + 1) % EPOCH_SECONDS]!;
  const changeElsewhere = (total(sums) - atBoundary(sums)) / (total(counts) - atBoundary(counts));
  return { second, changeRatio: atBoundary(sums) / atBoundary(counts) / changeElsewhere };
}
