/**
 * Pensieve's "cooked" traces: lines of `time Mbps`, separated by white space. As in Pensieve's simulator
 * (`fixed_env.py` of hongzimao/pensieve), the rate of a line holds from the previous line's time to its own, so the
 * first line only gives the start of the clock. Browser-safe.
 */

import { InputError } from '../../abr/errors.ts';
import type { Trace } from '../trace.ts';
import { decimalAt } from './decimal.ts';
import { GrowingColumn } from './growing-column.ts';
import { eachLine, isSpace } from './lines.ts';
import { placeOf } from './place.ts';
import { type TraceSource, traceFromSteps } from './samples.ts';

/** The trace in a cooked text. @throws {InputError} with line and field. */
export function parseCooked(text: string, source: TraceSource): Trace {
  const file = source.file ?? source.name;
  const times = new GrowingColumn();
  const rates = new GrowingColumn();
  eachLine(text, (start, end, line) => {
    let timeEnd = start;
    while (timeEnd < end && !isSpace(text.charCodeAt(timeEnd))) timeEnd++;
    let rateStart = timeEnd;
    while (rateStart < end && isSpace(text.charCodeAt(rateStart))) rateStart++;
    const wrong = (field: string, expected: string, got: unknown): never => {
      throw new InputError(placeOf({ file, line, field }), expected, got);
    };
    if (rateStart === end) wrong('Mbps', 'two columns (time Mbps)', text.slice(start, end));
    const time = decimalAt(text, start, timeEnd);
    if (!(time >= 0)) wrong('time', 'a time in seconds, >= 0', text.slice(start, timeEnd));
    const previous = times.last();
    if (previous !== undefined && time <= previous) wrong('time', `a time after ${previous}`, time);
    const mbps = decimalAt(text, rateStart, end);
    if (!(mbps >= 0)) wrong('Mbps', 'a rate in Mbit/s, >= 0', text.slice(rateStart, end));
    times.push(time);
    rates.push(mbps * 1e6);
  });
  if (times.length < 2) {
    throw new InputError(file, 'at least two lines (time Mbps)', times.length);
  }
  const timesSeconds = times.toArray();
  const stepEndsSeconds = timesSeconds.slice(1);
  if (timesSeconds[0] !== 0) for (let i = 0; i < stepEndsSeconds.length; i++) stepEndsSeconds[i]! -= timesSeconds[0]!;
  return traceFromSteps({ stepEndsSeconds, ratesBps: rates.toArray().slice(1) }, source);
}

/** The trace as a cooked text, with a precision of 1 us and 1 bit/s, without RTT, loss and metadata. */
export function formatCooked(trace: Trace): string {
  const { stepEndsSeconds, ratesBps } = trace;
  const lines = [`0 ${mbps(ratesBps[0] ?? 0)}`];
  for (let i = 0; i < stepEndsSeconds.length; i++) {
    lines.push(`${Number(stepEndsSeconds[i]!.toFixed(6))} ${mbps(ratesBps[i]!)}`);
  }
  return `${lines.join('\n')}\n`;
}

function mbps(bps: number): string {
  return (bps / 1e6).toFixed(6).replace(/\.?0+$/, '');
}
