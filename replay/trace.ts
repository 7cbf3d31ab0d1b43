/** A recorded or synthetic link: its rate over time and its metadata. */

import { HANDOVER_SECOND } from '../abr/forecast.ts';
import { EPOCH_SECONDS, PiecewisePath } from '../abr/index.ts';

export interface TraceMetadata {
  /** Data set, the unit of reporting. Default: the file's folder, or `unknown` without one. */
  dataset: string;
  /** Place and day, the unit of splitting and resampling. Default: the trace's name. */
  recordingGroup: string;
  /** Second of the minute (UTC) of second 0. */
  epochPhaseSeconds?: number;
  /** UTC in ms of second 0. */
  startUtcMs?: number;
  /** Where the handovers' dips are in the recording: second of the trace modulo 15. */
  handoverPhaseSeconds?: number;
  location?: string;
  licence?: string;
  /** The user's own, of no named data set: scenarios by name leave its rates as they are. */
  keepsRates?: boolean;
  other?: Readonly<Record<string, unknown>>;
}

export interface Trace {
  /** The file's name without folder and ending; parts of a split trace end in `#1`, `#2` ... */
  name: string;
  file?: string;
  /** Ends of the steps in seconds, ascending, > 0; the first step starts at 0. */
  stepEndsSeconds: Float64Array;
  /** Rate within each step in bit/s, >= 0, at least one > 0. */
  ratesBps: Float64Array;
  durationSeconds: number;
  /** Round-trip time per step in seconds (NaN = unknown). The simulator and the paced origin ignore it. */
  rttSeconds?: Float64Array;
  /** Packet loss per step, 0 to 1 (NaN = unknown). */
  loss?: Float64Array;
  metadata: TraceMetadata;
}

/** Traces without `start_utc` are replayed as if they began within this minute. */
const FALLBACK_START_UTC_MS = Date.UTC(2025, 0, 1);

/** UTC in ms of the trace's second 0: `start_utc`, else a fixed date at second `epoch_phase_s`. */
export function traceStartUtcMs(metadata: TraceMetadata): number {
  return metadata.startUtcMs ?? FALLBACK_START_UTC_MS + (metadata.epochPhaseSeconds ?? 0) * 1000;
}

/** Converts the second of the minute at second 0 to the handovers' second modulo 15, and back. */
export function handoverPhaseOf(epochPhaseSeconds: number): number {
  const phase = (((HANDOVER_SECOND - epochPhaseSeconds) % EPOCH_SECONDS) + EPOCH_SECONDS) % EPOCH_SECONDS;
  // Rounding noise could turn a difference of almost 0 into 15.
  return Number(phase.toFixed(6)) % EPOCH_SECONDS;
}

/** The period of a replayed trace: its duration, reduced to a multiple of 15 s if it has at least 15 s. */
export function wrapSeconds(trace: Pick<Trace, 'durationSeconds'>): number {
  const { durationSeconds } = trace;
  return durationSeconds >= EPOCH_SECONDS
    ? Math.floor(durationSeconds / EPOCH_SECONDS + 1e-9) * EPOCH_SECONDS
    : durationSeconds;
}

/** The replayed steps of a trace (one period), with rates x `scale`. */
export function linkSteps(trace: Trace, scale: number): { stepEndsSeconds: number[]; ratesBps: number[] } {
  const end = wrapSeconds(trace);
  const stepEndsSeconds: number[] = [];
  const ratesBps: number[] = [];
  for (let i = 0; i < trace.stepEndsSeconds.length; i++) {
    const stepEnd = trace.stepEndsSeconds[i]!;
    stepEndsSeconds.push(Math.min(stepEnd, end));
    ratesBps.push(trace.ratesBps[i]! * scale);
    if (stepEnd >= end) break;
  }
  return { stepEndsSeconds, ratesBps };
}

/** Mean rate in bit/s of one period. */
export function meanRateBps(trace: Trace): number {
  const end = wrapSeconds(trace);
  return new PiecewisePath(linkSteps(trace, 1)).cumulativeBits(end) / end;
}
