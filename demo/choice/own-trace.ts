/** Reads a trace that the viewer opened or dropped on the page. */

import type { TraceListing, TraceUpload } from '../origin/origin-client.ts';

/** Reads a trace, and its sidecar if the files have it. The origin checks both. */
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

/** Returns a note about an uploaded trace for the viewer; undefined if nothing is special. */
export function notesOn(file: string, parts: readonly TraceListing[]): string | undefined {
  const names = parts.map(({ name }) => name).join(', ');
  const notes = [
    ...(parts.length > 1 ? [`It has gaps and is replayed in ${parts.length} parts: ${names}.`] : []),
    ...(parts[0]!.hasClock ? [] : ['It has no clock (epoch_phase_s in a sidecar), so no handovers are drawn.']),
  ];
  return notes.length === 0 ? undefined : `${file}: ${notes.join(' ')}`;
}
