/** The statistics of a trace that `leo-abr trace info` prints. */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { PiecewisePath } from '../../abr/index.ts';
import { quantile } from '../../abr/statistics/distributions.ts';
import { mean } from '../evaluation/statistics/quantiles.ts';
import { textTable } from '../formats/text-table.ts';
import type { Trace } from '../trace.ts';

const LEAST_SECONDS_FOR_BOUNDARY = 60;
const QUANTILES = { p5: 0.05, p25: 0.25, p50: 0.5, p75: 0.75, p95: 0.95 };

/** A table with a row per trace, and what the columns mean. All figures but `step` are taken on means per second. */
export function traceInfoTable(traces: readonly Trace[]): string {
  const rows = traces.map(cellsOf);
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
  return `${textTable(lines, 2).join('\n')}\n${LEGEND}`;
}

function cellsOf(trace: Trace): Record<string, string> {
  const { name, durationSeconds, stepEndsSeconds, metadata } = trace;
  const mbps = secondsOf(trace);
  const ascending = Float64Array.from(mbps).sort();
  const outages = outageRuns(mbps, OUTAGE_MBPS);
  const longest = (runs: readonly number[]) => String(Math.max(0, ...runs));
  const steps = stepEndsSeconds.map((end, i) => end - (stepEndsSeconds[i - 1] ?? 0)).sort();
  const quantiles = Object.entries(QUANTILES).map(([title, level]) => [title, rate(quantile(ascending, level))]);
  return {
    trace: name,
    dataset: metadata.dataset,
    seconds: String(Number(durationSeconds.toFixed(1))),
    step: String(Number(quantile(steps, 0.5).toPrecision(6))),
    mean: rate(mean(mbps)),
    ...Object.fromEntries(quantiles),
    '<1 %': ((100 * outages.reduce((total, run) => total + run, 0)) / mbps.length).toFixed(1),
    outages: String(outages.length),
    longest: longest(outages),
    zero: longest(outageRuns(mbps, Number.MIN_VALUE)),
    phase: String(metadata.epochPhaseSeconds ?? '-'),
    boundary: boundaryCell(mbps, metadata.epochPhaseSeconds),
  };
}

/** Second of the UTC epoch, or of the trace modulo 15 if its phase is unknown. Short or constant traces have none. */
function boundaryCell(mbps: Float64Array, phase: number | undefined): string {
  const { second, changeRatio } = boundaryEffect(mbps, phase ?? 0);
  if (mbps.length < LEAST_SECONDS_FOR_BOUNDARY || !Number.isFinite(changeRatio)) return '-';
  return `${phase === undefined ? '+' : ''}${second} (x${changeRatio.toFixed(1)})`;
}

const LEGEND = `
Rates in Mbit/s, times in seconds, all on means per second. outages: runs below 1 Mbit/s; longest: the longest of them;
zero: the longest run without capacity. phase: second of the minute at sample 0. boundary: second of the 15 s epoch (+:
of the trace) at which the rate changes most, and the ratio of that change to the change elsewhere; a ratio below about
1.5 may be chance.
`;

function rate(mbps: number): string {
  return mbps < 10 ? mbps.toFixed(2) : mbps.toFixed(1);
}

/** Rates are raised to this before the logarithm, so that an outage is finite, in Mbit/s. */
const LOG_FLOOR_MBPS = 0.5;
/** A second below this rate belongs to an outage, in Mbit/s. */
const OUTAGE_MBPS = 1;

/** Mean rate of each second in Mbit/s, without an incomplete last second. A trace below a second gives one value. */
export function secondsOf({ stepEndsSeconds, ratesBps, durationSeconds }: Trace): Float64Array {
  const path = new PiecewisePath({ stepEndsSeconds, ratesBps });
  const seconds = Math.floor(durationSeconds + 1e-6);
  if (seconds === 0) return Float64Array.of(path.cumulativeBits(durationSeconds) / durationSeconds / 1e6);
  return Float64Array.from({ length: seconds }, (_, second) => {
    // Whole bits remove the rounding noise of differences, which would look like changes of a constant rate.
    return Math.round(path.cumulativeBits(second + 1) - path.cumulativeBits(second)) / 1e6;
  });
}

export function logRates(mbps: Float64Array): Float64Array {
  return mbps.map((rate) => Math.log(Math.max(rate, LOG_FLOOR_MBPS)));
}

/** Lengths in seconds of the runs below a limit in Mbit/s. */
export function outageRuns(mbps: ArrayLike<number>, belowMbps: number): number[] {
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
  /** Second of the epoch (second of the minute modulo 15) at which the mean change over two seconds is largest. */
  second: number;
  /** Mean |change of ln rate| in these two seconds / the mean in all others. */
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
