/** Converts the samples of a file into traces, split where the rate is unknown. */

import { InputError } from '../../abr/errors.ts';
import { handoverPhaseOf, type Trace, type TraceMetadata } from '../trace.ts';

/** Columns of equal length; NaN = unknown. A sample holds from its time to the next sample's. */
export interface Samples {
  timesSeconds: Float64Array;
  ratesBps: Float64Array;
  rttSeconds?: Float64Array | undefined;
  loss?: Float64Array | undefined;
}

export interface TraceSource {
  name: string;
  file?: string | undefined;
  metadata: TraceMetadata;
  onNote?: ((note: string) => void) | undefined;
}

/** Rates in bit/s are a common error. */
export const MOST_MBPS = 1e6;

/** In a regular file, a larger spacing (in steps) is a gap. */
const GAP_STEPS = 1.5;
/** A file is regular if at least this share of its spacings is within 10 % of the median. */
const REGULAR_SHARE = 0.75;
const REGULAR_TOLERANCE = 0.1;
/** A year. What is longer is an error, such as times in milliseconds, and would fill the memory with seconds. */
const MOST_SECONDS = 31_622_400;

/** The file's median spacing in seconds (1 s for a single sample), and whether the file is regular. */
function stepOf(timesSeconds: Float64Array): { stepSeconds: number; regular: boolean } {
  if (timesSeconds.length < 2) return { stepSeconds: 1, regular: false };
  const spacings = timesSeconds.subarray(1).map((time, i) => time - timesSeconds[i]!);
  const median = spacings.sort()[spacings.length >> 1]!;
  const near = spacings.filter((spacing) => Math.abs(spacing - median) <= REGULAR_TOLERANCE * median).length;
  // 9 digits remove the rounding noise of differences, and are finer than any clock.
  return { stepSeconds: Number(median.toPrecision(9)), regular: near >= REGULAR_SHARE * spacings.length };
}

/**
 * Makes traces from samples. Blank rates split a file; in a regular file spacings of more than 1.5 steps split it, too.
 * In an irregular file (change points) a sample holds until the next sample. The last sample of a part lasts one step
 * (the median spacing). Several parts are named `name#1`, `name#2` ...; they keep the recording group, and their phases
 * and UTC start are shifted. A part without capacity cannot be replayed: it is left out with a note, but counts in the
 * numbering.
 * @throws {InputError} if no part remains.
 */
export function tracesFromSamples(samples: Samples, source: TraceSource): Trace[] {
  const { timesSeconds, ratesBps } = samples;
  const { name, file = name, metadata, onNote } = source;
  const { stepSeconds, regular } = stepOf(timesSeconds);
  const gapSeconds = regular ? GAP_STEPS * stepSeconds : Number.POSITIVE_INFINITY;
  const isGap = (i: number) => timesSeconds[i]! - timesSeconds[i - 1]! > gapSeconds;

  const n = timesSeconds.length;
  const parts: { from: number; to: number }[] = [];
  for (let i = 0; i < n; i++) {
    if (Number.isNaN(ratesBps[i])) continue;
    const last = parts.at(-1);
    if (last?.to === i && !isGap(i)) last.to = i + 1;
    else parts.push({ from: i, to: i + 1 });
  }
  if (parts.length === 0) throw new InputError(file, 'at least one known rate', undefined, `${n} blank samples`);
  const { samples: promised } = metadata.other ?? {};
  if (typeof promised === 'number' && n < promised) {
    onNote?.(`${file}: the sidecar announces ${promised} samples, the file has ${n}`);
  }

  const traces = parts.flatMap(({ from, to }, index) => {
    const partName = parts.length === 1 ? name : `${name}#${index + 1}`;
    if (ratesBps.subarray(from, to).every((rate) => rate === 0)) {
      if (parts.length > 1) onNote?.(`${partName}: omitted, its ${to - from} samples are all zeros`);
      return [];
    }
    // A part's last sample ends at a following blank. Before a gap or the end the sample lasts one step.
    const endSeconds = to < n && !isGap(to) ? timesSeconds[to]! : timesSeconds[to - 1]! + stepSeconds;
    return [partOf(samples, { ...source, name: partName }, { from, to, endSeconds })];
  });
  if (traces.length === 0) throw zerosOnly(source);
  return traces;
}

/** The samples `from` to before `to` as a trace that begins at second 0. */
function partOf(
  { timesSeconds, ratesBps, ...columns }: Samples,
  { name, file, metadata }: TraceSource,
  { from, to, endSeconds }: { from: number; to: number; endSeconds: number },
): Trace {
  const startSeconds = timesSeconds[from]!;
  const durationSeconds = requireDuration(Number((endSeconds - startSeconds).toPrecision(12)), file ?? name);
  const inner = timesSeconds.subarray(from + 1, to).map((time) => time - startSeconds);
  const stepEndsSeconds = new Float64Array(to - from).fill(durationSeconds);
  stepEndsSeconds.set(inner);
  const [rttSeconds, loss] = [columns.rttSeconds, columns.loss].map((column) => {
    const part = column?.slice(from, to);
    return part?.some((value) => !Number.isNaN(value)) ? part : undefined;
  });
  return {
    ...{ name, stepEndsSeconds, ratesBps: ratesBps.slice(from, to), durationSeconds },
    metadata: shiftedMetadata(metadata, startSeconds - timesSeconds[0]!),
    ...(file !== undefined && { file }),
    ...(rttSeconds && { rttSeconds }),
    ...(loss && { loss }),
  };
}

/** A trace from contiguous steps from second 0. @throws {InputError} if all rates are 0. */
export function traceFromSteps(steps: Pick<Trace, 'stepEndsSeconds' | 'ratesBps'>, source: TraceSource): Trace {
  const { name, file, metadata } = source;
  if (steps.ratesBps.every((rate) => rate === 0)) throw zerosOnly(source);
  return {
    name,
    ...(file !== undefined && { file }),
    ...steps,
    durationSeconds: requireDuration(steps.stepEndsSeconds.at(-1)!, file ?? name),
    metadata,
  };
}

function requireDuration(seconds: number, file: string): number {
  const isFit = seconds >= 1e-3 && seconds <= MOST_SECONDS;
  if (!isFit) throw new InputError(file, `times within 1 ms to ${MOST_SECONDS} s`, undefined, `${seconds} s`);
  return seconds;
}

function zerosOnly({ file, name }: TraceSource): InputError {
  return new InputError(file ?? name, 'at least one rate above 0', undefined, 'zeros only');
}

/** The metadata of a part that begins `offsetSeconds` later. */
function shiftedMetadata(metadata: TraceMetadata, offsetSeconds: number): TraceMetadata {
  if (offsetSeconds === 0) return metadata;
  const { startUtcMs, epochPhaseSeconds: phase, handoverPhaseSeconds: dips } = metadata;
  return {
    ...metadata,
    ...(startUtcMs !== undefined && { startUtcMs: startUtcMs + Math.round(offsetSeconds * 1000) }),
    ...(phase !== undefined && { epochPhaseSeconds: Number(((phase + offsetSeconds) % 60).toFixed(6)) % 60 }),
    ...(dips !== undefined && { handoverPhaseSeconds: handoverPhaseOf(handoverPhaseOf(dips) + offsetSeconds) }),
  };
}
