/** Reads a trace that a page hands in, and keeps those that pages handed in beside the origin's own. */

import { InputError } from '../../abr/errors.ts';
import { defaultMetadata, parseSidecar } from '../formats/sidecar.ts';
import { parseTraces, traceNameOf } from '../formats/trace-format.ts';
import type { Trace } from '../trace.ts';

/** Enough for a day of samples each second, with all columns. */
export const LARGEST_TRACE_BYTES = 8 * 2 ** 20;
/** Traces from pages that are kept; beyond it the oldest is forgotten. */
const MAX_UPLOADED = 50;

/**
 * `{"file": "name.csv", "text": "...", "sidecar"?: "..."}`, `file` naming it and deciding its format. Several traces where
 * the text has gaps.
 * @throws {InputError} that names file, line and field.
 */
export function parseTraceUpload(body: string): Trace[] {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new InputError('body', 'a JSON object', body);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InputError('body', 'a JSON object', value);
  }
  const { file, text, sidecar } = value as Record<string, unknown>;
  const name = typeof file === 'string' ? traceNameOf(file) : '';
  if (typeof file !== 'string' || name === '') {
    throw new InputError('file', 'the name of a file', file);
  }
  if (typeof text !== 'string') throw new InputError('text', 'a text', text);
  if (sidecar !== undefined && typeof sidecar !== 'string') {
    throw new InputError('sidecar', 'a text', sidecar);
  }
  const metadata = sidecar === undefined ? defaultMetadata(name) : parseSidecar(sidecar, name, `${name}.json`);
  return parseTraces(text, { name, file, metadata });
}

/** The origin's traces by name: its own for good, those of pages for a while. */
export class TraceShelf {
  readonly byName: Map<string, Trace>;
  private readonly own: ReadonlySet<string>;

  constructor(own: readonly Trace[]) {
    this.byName = new Map(own.map((trace) => [trace.name, trace]));
    this.own = new Set(this.byName.keys());
  }

  /** Takes a trace in, in place of one that was handed in under the same name. False where it is the name of an own one. */
  add(trace: Trace): boolean {
    if (this.own.has(trace.name)) return false;
    this.byName.delete(trace.name);
    if (this.byName.size - this.own.size >= MAX_UPLOADED) {
      const [oldest] = [...this.byName.keys()].filter((name) => !this.own.has(name));
      this.byName.delete(oldest!);
    }
    this.byName.set(trace.name, trace);
    return true;
  }
}
