/** Reads a trace that the viewer opened or dropped. */

import { defaultMetadata, parseSidecar } from '../replay/formats/sidecar.ts';
import { parseTraces, traceNameOf } from '../replay/formats/trace-format.ts';
import type { TraceListing } from './origin-client.ts';

export interface TraceUpload {
  file: string;
  text: string;
  sidecar?: string;
}

/** Reads a trace and, if given, its sidecar. Throws with file, line and field if one is invalid. */
export async function readOwnTrace(files: readonly File[]): Promise<TraceUpload> {
  const sidecarFile = files.find(({ name }) => name.endsWith('.json'));
  const [file, ...others] = files.filter((one) => one !== sidecarFile);
  if (file === undefined || others.length > 0) {
    throw new Error(`expected one trace and at most one sidecar (.json), got ${files.length} files`);
  }
  const text = await file.text();
  const sidecar = await sidecarFile?.text();
  const name = traceNameOf(file.name);
  const metadata = sidecar === undefined ? defaultMetadata(name) : parseSidecar(sidecar, name, sidecarFile!.name);
  parseTraces(text, { name, file: file.name, metadata });
  return { file: file.name, text, ...(sidecar !== undefined && { sidecar }) };
}

/** What the viewer should know about an uploaded trace; undefined for nothing. */
export function notesOn(file: string, parts: readonly TraceListing[]): string | undefined {
  const names = parts.map(({ name }) => name).join(', ');
  const notes = [
    ...(parts.length > 1 ? [`It has gaps and is replayed in ${parts.length} parts: ${names}.`] : []),
    ...(parts[0]!.hasClock ? [] : ['It has no clock (epoch_phase_s in a sidecar), so no handovers are drawn.']),
  ];
  return notes.length === 0 ? undefined : `${file}: ${notes.join(' ')}`;
}
