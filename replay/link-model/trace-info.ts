/** What a trace looks like, in one row of numbers: the content of `leo-abr trace info`. */

import type { Trace } from '../trace.ts';
import { autocorrelation, boundaryEffect, logRates, OUTAGE_MBPS, outageRuns, quantileOf } from './link-statistics.ts';
import { rateSeriesOf } from './rate-series.ts';

/** All but `stepSeconds` on means per second; null is what the trace cannot say. */
export interface TraceInfo {
  name: string;
  dataset: string;
  recordingGroup: string;
  durationSeconds: number;
  /** Median length of its steps. */
  stepSeconds: number;
  meanMbps: number;
  p5Mbps: number;
  p25Mbps: number;
  p50Mbps: number;
  p75Mbps: number;
  p95Mbps: number;
  maxMbps: number;
  /** Runs of seconds without any capacity, and the longest of them. */
  zeroRuns: number;
  longestZeroRunSeconds: number;
  /** Runs of seconds below 1 Mbit/s, the longest, and the share of the time. */
  outages: number;
  longestOutageSeconds: number;
  outageShare: number;
  /** Of ln max(rate, 0.5 Mbit/s). */
  autocorrelation: { lagSeconds: number; value: number | null }[];
  /** What the metadata say. */
  epochPhaseSeconds: number | null;
  /**
   * Where the rate itself changes most, over two neighbouring seconds: second of the UTC epoch (of the trace modulo 15
   * where its phase is unknown), and how much more it changes there than elsewhere. Null below 60 s.
   */
  boundary: { second: number; changeRatio: number } | null;
}

const LAGS_SECONDS = [1, 5, 15, 30];
const LEAST_SECONDS_FOR_BOUNDARY = 60;

export function traceInfo(trace: Trace): TraceInfo {
  const series = rateSeriesOf(trace);
  const ascending = Float64Array.from(series.mbps).sort();
  const log = logRates(series.mbps);
  const zeros = outageRuns(series.mbps, Number.MIN_VALUE);
  const outages = outageRuns(series.mbps, OUTAGE_MBPS);
  const sum = (runs: number[]) => runs.reduce((total, run) => total + run, 0);
  const steps = trace.stepEndsSeconds.map((end, i) => end - (trace.stepEndsSeconds[i - 1] ?? 0)).sort();
  const phase = trace.metadata.epochPhaseSeconds;
  const effect =
    series.mbps.length >= LEAST_SECONDS_FOR_BOUNDARY
      ? boundaryEffect([{ ...series, epochPhaseSeconds: phase ?? 0 }])
      : undefined;
  const ratio = effect === undefined ? Number.NaN : effect.changeAt / effect.changeElsewhere;
  return {
    name: trace.name,
    dataset: trace.metadata.dataset,
    recordingGroup: trace.metadata.recordingGroup,
    durationSeconds: trace.durationSeconds,
    stepSeconds: Number(quantileOf(steps, 0.5).toPrecision(6)),
    meanMbps: sumOf(ascending) / ascending.length,
    p5Mbps: quantileOf(ascending, 0.05),
    p25Mbps: quantileOf(ascending, 0.25),
    p50Mbps: quantileOf(ascending, 0.5),
    p75Mbps: quantileOf(ascending, 0.75),
    p95Mbps: quantileOf(ascending, 0.95),
    maxMbps: ascending[ascending.length - 1]!,
    zeroRuns: zeros.length,
    longestZeroRunSeconds: Math.max(0, ...zeros),
    outages: outages.length,
    longestOutageSeconds: Math.max(0, ...outages),
    outageShare: sum(outages) / ascending.length,
    autocorrelation: LAGS_SECONDS.map((lagSeconds) => {
      const value = autocorrelation([log], lagSeconds);
      return { lagSeconds, value: Number.isFinite(value) ? value : null };
    }),
    epochPhaseSeconds: phase ?? null,
    boundary:
      effect !== undefined && Number.isFinite(ratio) ? { second: effect.phaseSeconds, changeRatio: ratio } : null,
  };
}

function sumOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** The infos as a table of text, with a line on what the columns are. */
export function traceInfoTable(infos: readonly TraceInfo[]): string {
  const header = [
    'trace',
    'dataset',
    'seconds',
    'step',
    'mean',
    'p5',
    'p25',
    'p50',
    'p75',
    'p95',
    '<1 %',
    'outages',
    'longest',
    'zero',
    ...LAGS_SECONDS.map((lag) => `r${lag}`),
    'phase',
    'boundary',
  ];
  const rows = infos.map((info) => [
    info.name,
    info.dataset,
    String(Number(info.durationSeconds.toFixed(1))),
    String(info.stepSeconds),
    ...[info.meanMbps, info.p5Mbps, info.p25Mbps, info.p50Mbps, info.p75Mbps, info.p95Mbps].map(short),
    (100 * info.outageShare).toFixed(1),
    String(info.outages),
    String(info.longestOutageSeconds),
    String(info.longestZeroRunSeconds),
    ...info.autocorrelation.map(({ value }) => value?.toFixed(2) ?? '-'),
    info.epochPhaseSeconds === null ? '-' : String(info.epochPhaseSeconds),
    info.boundary === null
      ? '-'
      : `${info.epochPhaseSeconds === null ? '+' : ''}${info.boundary.second} (x${info.boundary.changeRatio.toFixed(1)})`,
  ]);
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd();
  return `${[header, ...rows].map(line).join('\n')}\n${LEGEND}`;
}

const LEGEND = `
Rates in Mbit/s, times in seconds, all on means per second. outages: runs below 1 Mbit/s, the longest of them, and the
longest run without anything (zero). rN: autocorrelation of ln rate (floor 0.5 Mbit/s) at N s. phase: second of the minute
of sample 0. boundary: second of the 15 s epoch (+: of the trace) where the rate changes most, and how many times more than
elsewhere there; below about x1.5 it may be chance.
`;

function short(mbps: number): string {
  return mbps < 10 ? mbps.toFixed(2) : mbps.toFixed(1);
}
