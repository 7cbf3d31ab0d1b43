/** Reads a trace that the viewer opened or dropped. */

import type { TraceListing } from '../origin/origin-client.ts';

export interface TraceUpload {
  file: string;
  text: string;
  sidecar?: string;
}

/** Reads a trace and, if given, its sidecar; the origin checks them. */
export async function readOwnTrace(files: readonly File[]): Promise<TraceUpload> {
  const sidecarFile = files.find(({ name }) => name.endsWith('.json'));
  const [file, ...others] = files.filter((one) => one !== sidecarFile);
  if (file === undefined || others.length > 0) {
    throw new Error(`expected one trace and at most one sidecar (.json), got ${files.length} files`);
  }
  const text = await file.text();
  const sidecar = await sidecarFile?.text();
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
