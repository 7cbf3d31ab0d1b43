/** Pensieve's "cooked" traces: lines of `time Mbps`. A rate holds from the previous line's time to its own. */

import { InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { decimalOf, linesOf } from './lines.ts';
import { placeOf } from './place.ts';
import { type TraceSource, traceFromSteps } from './samples.ts';

/** The trace in a cooked text. @throws {InputError} with line and field. */
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
    if (!(mbps >= 0)) wrong('Mbps', 'a rate in Mbit/s, >= 0', others.join(' '));
    times.push(time);
    rates.push(mbps * 1e6);
  }
  if (times.length < 2) throw new InputError(file, 'at least two lines (time Mbps)', times.length);
  const stepEndsSeconds = Float64Array.from(times.slice(1), (time) => time - times[0]!);
  return traceFromSteps({ stepEndsSeconds, ratesBps: Float64Array.from(rates.slice(1)) }, source);
}
