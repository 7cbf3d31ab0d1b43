/** Converts the samples of a file into traces, split where the rate is unknown. */

import { InputError } from '../../abr/errors.ts';
import { handoverPhaseOf, type Trace, type TraceMetadata } from '../trace.ts';

/** Columns of equal length; NaN = unknown. A sample holds from its time to the next one's. */
export interface Samples {
  /** Ascending. */
  timesSeconds: Float64Array;
  ratesBps: Float64Array;
  rttSeconds?: Float64Array | undefined;
  loss?: Float64Array | undefined;
}

export interface TraceSource {
  name: string;
  file?: string | undefined;
  metadata: TraceMetadata;
  /** Receives a note on each omission, with its reason. */
  onNote?: ((note: string) => void) | undefined;
}

/** In a regular file, a larger spacing (in steps) is a gap. */
const GAP_STEPS = 1.5;
/** A file is regular if at least this share of its spacings is within 10 % of the median. */
const REGULAR_SHARE = 0.75;
const REGULAR_TOLERANCE = 0.1;

/** The file's median spacing in seconds (1 s for a single sample), and whether the file is regular. */
function stepOf(timesSeconds: Float64Array): { stepSeconds: number; regular: boolean } {
  const n = timesSeconds.length - 1;
  if (n < 1) return { stepSeconds: 1, regular: false };
  const spacings = new Float64Array(n);
  for (let i = 0; i < n; i++) spacings[i] = timesSeconds[i + 1]! - timesSeconds[i]!;
  const median = spacings.sort()[n >> 1]!;
  let near = 0;
  for (const spacing of spacings) if (Math.abs(spacing - median) <= REGULAR_TOLERANCE * median) near++;
  // 9 digits remove the rounding noise of differences, and are finer than any clock.
  return { stepSeconds: Number(median.toPrecision(9)), regular: near >= REGULAR_SHARE * n };
}

/**
 * Traces from samples. Blank rates split a file, and in a regular file also spacings of more than 1.5 steps; in an
 * irregular one (change points) a sample holds until the next one. The last sample of a part lasts one step (the median
 * spacing). Several parts are named `name#1`, `name#2` ...; they keep the recording group, and their phases and UTC
 * start are shifted. A part without capacity cannot be replayed: it is omitted with a note, but counts in the
 * numbering.
 * @throws {InputError} if no part remains.
 */
export function tracesFromSamples(samples: Samples, source: TraceSource): Trace[] {
  const { timesSeconds, ratesBps } = samples;
  const { name, file } = source;
  const { stepSeconds, regular } = stepOf(timesSeconds);
  const gapSeconds = regular ? GAP_STEPS * stepSeconds : Number.POSITIVE_INFINITY;

  const parts: { from: number; to: number }[] = [];
  const n = timesSeconds.length;
  for (let i = 0; i < n; i++) {
    if (Number.isNaN(ratesBps[i])) continue;
    const last = parts[parts.length - 1];
    if (last !== undefined && last.to === i && timesSeconds[i]! - timesSeconds[i - 1]! <= gapSeconds) last.to = i + 1;
    else parts.push({ from: i, to: i + 1 });
  }
  if (parts.length === 0) {
    throw new InputError(file ?? name, 'at least one known rate', undefined, `${n} blank samples`);
  }

  const { samples: promised } = source.metadata.other ?? {};
  if (typeof promised === 'number' && n < promised) {
    source.onNote?.(`${file ?? name}: the sidecar announces ${promised} samples, the file has ${n}`);
  }

  const traces: Trace[] = [];
  parts.forEach(({ from, to }, index) => {
    const partName = parts.length === 1 ? name : `${name}#${index + 1}`;
    const startSeconds = timesSeconds[from]!;
    const rates = ratesBps.slice(from, to);
    if (rates.every((rate) => rate === 0)) {
      if (parts.length > 1) source.onNote?.(`${partName}: omitted, its ${to - from} samples are all zeros`);
      return;
    }
    const stepEndsSeconds = new Float64Array(to - from);
    for (let i = from + 1; i < to; i++) stepEndsSeconds[i - 1 - from] = timesSeconds[i]! - startSeconds;
    // The last sample ends at a following blank; before a gap or the end it lasts one step.
    const next = timesSeconds[to];
    const blankFollows = next !== undefined && next - timesSeconds[to - 1]! <= gapSeconds;
    const endSeconds = blankFollows ? next : timesSeconds[to - 1]! + stepSeconds;
    stepEndsSeconds[to - 1 - from] = Number((endSeconds - startSeconds).toPrecision(12));
    const trace: Trace = {
      name: partName,
      stepEndsSeconds,
      ratesBps: rates,
      durationSeconds: stepEndsSeconds[to - 1 - from]!,
      metadata: shiftedMetadata(source.metadata, startSeconds - timesSeconds[0]!),
    };
    if (file !== undefined) trace.file = file;
    const rtt = knownPart(samples.rttSeconds, from, to);
    if (rtt !== undefined) trace.rttSeconds = rtt;
    const loss = knownPart(samples.loss, from, to);
    if (loss !== undefined) trace.loss = loss;
    traces.push(trace);
  });
  if (traces.length === 0) throw zerosOnly(source);
  return traces;
}

/** A trace from contiguous steps from second 0. @throws {InputError} if all rates are 0. */
export function traceFromSteps(steps: Pick<Trace, 'stepEndsSeconds' | 'ratesBps'>, source: TraceSource): Trace {
  const { stepEndsSeconds, ratesBps } = steps;
  const { name, file, metadata } = source;
  if (ratesBps.every((rate) => rate === 0)) throw zerosOnly(source);
  const durationSeconds = stepEndsSeconds[stepEndsSeconds.length - 1]!;
  return { name, ...(file === undefined ? {} : { file }), stepEndsSeconds, ratesBps, durationSeconds, metadata };
}

function zerosOnly({ file, name }: TraceSource): InputError {
  return new InputError(file ?? name, 'at least one rate above 0', undefined, 'zeros only');
}

function knownPart(column: Float64Array | undefined, from: number, to: number): Float64Array | undefined {
  const part = column?.slice(from, to);
  return part?.some((value) => !Number.isNaN(value)) ? part : undefined;
}

/** The metadata of a part that begins `offsetSeconds` later. */
function shiftedMetadata(metadata: TraceMetadata, offsetSeconds: number): TraceMetadata {
  if (offsetSeconds === 0) return metadata;
  const shifted = { ...metadata };
  if (metadata.startUtcMs !== undefined) shifted.startUtcMs = metadata.startUtcMs + Math.round(offsetSeconds * 1000);
  if (metadata.epochPhaseSeconds !== undefined) {
    shifted.epochPhaseSeconds = Number(((metadata.epochPhaseSeconds + offsetSeconds) % 60).toFixed(6)) % 60;
  }
  if (metadata.handoverPhaseSeconds !== undefined) {
    shifted.handoverPhaseSeconds = handoverPhaseOf(handoverPhaseOf(metadata.handoverPhaseSeconds) + offsetSeconds);
  }
  return shifted;
}
