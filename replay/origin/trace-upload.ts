/** Parses uploaded traces, and keeps them beside the origin's own. */

import { InputError } from '../../abr/errors.ts';
import { defaultMetadata, parseSidecar } from '../formats/sidecar.ts';
import { parseTraces, traceNameOf } from '../formats/trace-format.ts';
import type { Trace } from '../trace.ts';
import { bodyObject } from './session-request.ts';

/** Enough for a day of one-second samples with all columns. */
export const LARGEST_TRACE_BYTES = 8 * 2 ** 20;
/** Beyond this number the oldest upload is deleted. */
const MAX_UPLOADED = 50;

/**
 * `{"file": "name.csv", "text": "...", "sidecar"?: "..."}`; `file` gives the trace's name and format. A text with gaps
 * gives several traces.
 * @throws {InputError} that names file, line and field.
 */
export function parseTraceUpload(body: string): Trace[] {
  const { file, text, sidecar } = bodyObject(body);
  const name = typeof file === 'string' ? traceNameOf(file) : '';
  if (typeof file !== 'string' || name === '') throw new InputError('file', 'the name of a file', file);
  if (typeof text !== 'string') throw new InputError('text', 'a text', text);
  if (sidecar !== undefined && typeof sidecar !== 'string') throw new InputError('sidecar', 'a text', sidecar);
  const metadata = sidecar === undefined ? defaultMetadata(name) : parseSidecar(sidecar, name, `${name}.json`);
  return parseTraces(text, { name, file, metadata });
}

/** The origin's traces by name: its own ones and recent uploads. */
export class TraceShelf {
  readonly byName: Map<string, Trace>;
  private readonly own: ReadonlySet<string>;

  constructor(own: readonly Trace[]) {
    this.byName = new Map(own.map((trace) => [trace.name, trace]));
    this.own = new Set(this.byName.keys());
  }

  /** Adds or replaces an upload. Returns false if one of the origin's own traces has the name. */
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
