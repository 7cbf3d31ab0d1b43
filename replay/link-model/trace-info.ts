/** The statistics of a trace that `leo-abr trace info` prints. */

import { quantile } from '../../abr/quantile.ts';
import { mean } from '../evaluation/quantiles.ts';
import { textTable } from '../formats/text-table.ts';
import type { Trace } from '../trace.ts';
import { type BoundaryEffect, boundaryEffect, OUTAGE_MBPS, outageRuns, secondsOf } from './link-statistics.ts';

/** All but `stepSeconds` are taken on means per second; null: unknown, or the trace is too short. */
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
  /** Runs of seconds below 1 Mbit/s, the longest of them, and their share of the time. */
  outages: number;
  longestOutageSeconds: number;
  outageShare: number;
  /** From the metadata. */
  epochPhaseSeconds: number | null;
  /** Of the UTC epoch, or of the trace modulo 15 if its phase is unknown. Null below 60 s. */
  boundary: BoundaryEffect | null;
}

const LEAST_SECONDS_FOR_BOUNDARY = 60;

export function traceInfo(trace: Trace): TraceInfo {
  const mbps = secondsOf(trace);
  const ascending = Float64Array.from(mbps).sort();
  const zeros = outageRuns(mbps, Number.MIN_VALUE);
  const outages = outageRuns(mbps, OUTAGE_MBPS);
  const sum = (runs: number[]) => runs.reduce((total, run) => total + run, 0);
  const steps = trace.stepEndsSeconds.map((end, i) => end - (trace.stepEndsSeconds[i - 1] ?? 0)).sort();
  const phase = trace.metadata.epochPhaseSeconds;
  const boundary = mbps.length >= LEAST_SECONDS_FOR_BOUNDARY ? boundaryEffect(mbps, phase ?? 0) : undefined;
  return {
    name: trace.name,
    dataset: trace.metadata.dataset,
    recordingGroup: trace.metadata.recordingGroup,
    durationSeconds: trace.durationSeconds,
    stepSeconds: Number(quantile(steps, 0.5).toPrecision(6)),
    meanMbps: mean(ascending),
    p5Mbps: quantile(ascending, 0.05),
    p25Mbps: quantile(ascending, 0.25),
    p50Mbps: quantile(ascending, 0.5),
    p75Mbps: quantile(ascending, 0.75),
    p95Mbps: quantile(ascending, 0.95),
    maxMbps: ascending[ascending.length - 1]!,
    zeroRuns: zeros.length,
    longestZeroRunSeconds: Math.max(0, ...zeros),
    outages: outages.length,
    longestOutageSeconds: Math.max(0, ...outages),
    outageShare: sum(outages) / ascending.length,
    epochPhaseSeconds: phase ?? null,
    boundary: boundary && Number.isFinite(boundary.changeRatio) ? boundary : null,
  };
}

const COLUMNS: readonly (readonly [title: string, cell: (info: TraceInfo) => string])[] = [
  ['trace', ({ name }) => name],
  ['dataset', ({ dataset }) => dataset],
  ['seconds', ({ durationSeconds }) => String(Number(durationSeconds.toFixed(1)))],
  ['step', ({ stepSeconds }) => String(stepSeconds)],
  ...(['mean', 'p5', 'p25', 'p50', 'p75', 'p95'] as const).map(
    (title) => [title, (info: TraceInfo) => rate(info[`${title}Mbps`])] as const,
  ),
  ['<1 %', ({ outageShare }) => (100 * outageShare).toFixed(1)],
  ['outages', ({ outages }) => String(outages)],
  ['longest', ({ longestOutageSeconds }) => String(longestOutageSeconds)],
  ['zero', ({ longestZeroRunSeconds }) => String(longestZeroRunSeconds)],
  ['phase', ({ epochPhaseSeconds }) => String(epochPhaseSeconds ?? '-')],
  [
    'boundary',
    ({ boundary, epochPhaseSeconds }) =>
      boundary === null
        ? '-'
        : `${epochPhaseSeconds === null ? '+' : ''}${boundary.second} (x${boundary.changeRatio.toFixed(1)})`,
  ],
];

/** A table in text, with a legend. */
export function traceInfoTable(infos: readonly TraceInfo[]): string {
  const header = COLUMNS.map(([title]) => title);
  const rows = infos.map((info) => COLUMNS.map(([, cell]) => cell(info)));
  return `${textTable([header, ...rows], 2).join('\n')}\n${LEGEND}`;
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
