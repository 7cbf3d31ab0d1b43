/** mahimahi's traces (ATC'15): a line per opportunity to deliver 1500 bytes, in ms. Browser-safe. */

import { InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { decimalOf, linesOf } from './lines.ts';
import { placeOf } from './place.ts';
import { type TraceSource, traceFromSteps } from './samples.ts';

const MAHIMAHI_PACKET_BITS = 1500 * 8;

const READ_STEP_MS = 100;

/** The trace in a mahimahi text, in steps of 0.1 s; the last one ends at the last line. @throws {InputError} */
export function parseMahimahi(text: string, source: TraceSource): Trace {
  const file = source.file ?? source.name;
  const packets: number[] = [];
  let lastMs = 0;
  for (const [row, line] of linesOf(text)) {
    const ms = decimalOf(row);
    if (!(ms >= 0 && Number.isSafeInteger(ms))) {
      throw new InputError(placeOf({ file, line }), 'a whole number of milliseconds', row);
    }
    if (ms < lastMs) throw new InputError(placeOf({ file, line }), `a time of at least ${lastMs} ms`, ms);
    // An opportunity at t ms belongs to the millisecond that ends at t; one at 0 to the first millisecond.
    const step = Math.max(0, Math.ceil(ms / READ_STEP_MS) - 1);
    while (packets.length <= step) packets.push(0);
    packets[step]! += 1;
    lastMs = ms;
  }
  if (packets.length === 0) throw new InputError(file, 'at least one line (ms)', '');
  if (lastMs === 0) throw new InputError(file, 'a last line after 0 ms', undefined, '0 ms');
  const ratesBps = new Float64Array(packets.length);
  const stepEndsSeconds = new Float64Array(packets.length);
  let startMs = 0;
  packets.forEach((inStep, i) => {
    const endMs = Math.min(startMs + READ_STEP_MS, lastMs);
    stepEndsSeconds[i] = endMs / 1000;
    ratesBps[i] = (inStep * MAHIMAHI_PACKET_BITS * 1000) / (endMs - startMs);
    startMs = endMs;
  });
  return traceFromSteps({ stepEndsSeconds, ratesBps }, source);
}
