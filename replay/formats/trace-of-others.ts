/** Parses Pensieve's "cooked" traces and mahimahi's traces (ATC'15). Browser-safe. */

import { InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { decimalOf, linesOf } from './lines.ts';
import { placeOf } from './place.ts';
import { MOST_MBPS, type TraceSource, traceFromSteps } from './samples.ts';

/** Parses lines of `time Mbps`. A rate holds from the previous line's time to its own time. @throws {InputError} */
export function parseCooked(text: string, source: TraceSource): Trace {
  const file = source.file ?? source.name;
  const times: number[] = [];
  const rates: number[] = [];
  for (const [row, line] of linesOf(text)) {
    const [first = '', ...others] = row.split(/\s+/);
    const wrong = (field: string, expected: string, got: unknown): never => {
      throw new InputError(placeOf({ file, line, field }), expected, got);
    };
    if (others.length === 0) wrong('Mbps', 'two columns (time Mbps)', row);
    const time = decimalOf(first);
    if (!(time >= 0)) wrong('time', 'a time in seconds, >= 0', first);
    const previous = times.at(-1);
    if (previous !== undefined && time <= previous) wrong('time', `a time after ${previous}`, time);
    const mbps = decimalOf(others.join(' '));
    if (!(mbps >= 0 && mbps <= MOST_MBPS)) wrong('Mbps', 'a rate in Mbit/s, 0 to 1e6', others.join(' '));
    times.push(time);
    rates.push(mbps * 1e6);
  }
  if (times.length < 2) throw new InputError(file, 'at least two lines (time Mbps)', times.length);
  const stepEndsSeconds = Float64Array.from(times.slice(1), (time) => time - times[0]!);
  return traceFromSteps({ stepEndsSeconds, ratesBps: Float64Array.from(rates.slice(1)) }, source);
}

const MAHIMAHI_PACKET_BITS = 1500 * 8;

const READ_STEP_MS = 100;
/** A week. A list of other numbers, such as of timestamps, would fill the memory with steps. */
const MOST_MS = 604_800_000;

/** Parses a line in ms per opportunity to deliver 1500 bytes; gives steps of 0.1 s. @throws {InputError} */
export function parseMahimahi(text: string, source: TraceSource): Trace {
  const file = source.file ?? source.name;
  const packets: number[] = [];
  let lastMs = 0;
  for (const [row, line] of linesOf(text)) {
    const ms = decimalOf(row);
    if (!(ms >= 0 && ms <= MOST_MS && Number.isInteger(ms))) {
      throw new InputError(placeOf({ file, line }), `a whole number of milliseconds from 0 to ${MOST_MS}`, row);
    }
    if (ms < lastMs) throw new InputError(placeOf({ file, line }), `a time of at least ${lastMs} ms`, ms);
    // An opportunity at t ms belongs to the millisecond that ends at t; at 0 ms it belongs to the first millisecond.
    const step = Math.max(0, Math.ceil(ms / READ_STEP_MS) - 1);
    while (packets.length <= step) packets.push(0);
    packets[step]! += 1;
    lastMs = ms;
  }
  if (packets.length === 0) throw new InputError(file, 'at least one line (ms)', '');
  if (lastMs === 0) throw new InputError(file, 'a last line after 0 ms', undefined, '0 ms');
  const endMs = (step: number) => Math.min((step + 1) * READ_STEP_MS, lastMs);
  const ratesBps = Float64Array.from(packets, (inStep, i) => {
    return (inStep * MAHIMAHI_PACKET_BITS * 1000) / (endMs(i) - i * READ_STEP_MS);
  });
  const stepEndsSeconds = Float64Array.from(packets, (_, i) => endMs(i) / 1000);
  return traceFromSteps({ stepEndsSeconds, ratesBps }, source);
}
