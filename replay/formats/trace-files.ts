/** Reads and writes traces in files and folders. Node only. */

import { closeSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { Trace, TraceMetadata } from '../trace.ts';
import { defaultMetadata, formatSidecar, parseSidecar, UNKNOWN_DATASET } from './sidecar.ts';
import { formatTraceCsv } from './trace-csv.ts';
import { isTrace, parseTraces, traceNameOf } from './trace-format.ts';
import { writeFileAtomically } from './write-file.ts';

interface ReadTracesOptions {
  onNote?: (note: string) => void;
  /** Data set of traces whose sidecar names none. Default: the folder of the file. */
  dataset?: string;
}

/** Reads each file once, in the given order; in folders, files that begin like traces. @throws {InputError} */
export function readTraces(paths: readonly string[], options: ReadTracesOptions = {}): Trace[] {
  const seen = new Set<string>();
  const traces: Trace[] = [];
  for (const path of paths) {
    const files = traceFilesAt(path);
    if (files.length === 0) throw new InputError(path, 'a folder with traces', undefined, 'none in it');
    for (const file of files) {
      const real = realpathSync(file);
      if (seen.has(real)) continue;
      seen.add(real);
      traces.push(
        ...readTraceFile(file, { dataset: basename(resolve(file === path ? dirname(path) : path)), ...options }),
      );
    }
  }
  return traces;
}

export function readTraceFile(file: string, options: ReadTracesOptions = {}): Trace[] {
  const name = traceNameOf(file);
  const { dataset = basename(dirname(resolve(file))), ...others } = options;
  return parseTraces(readText(file), { name, file, metadata: metadataBeside(file, name, dataset), ...others });
}

function metadataBeside(file: string, traceName: string, dataset: string): TraceMetadata {
  const sidecar = sidecarOf(file);
  const isThere = statSync(sidecar, { throwIfNoEntry: false })?.isFile() === true;
  const metadata = isThere ? parseSidecar(readText(sidecar), traceName, sidecar) : defaultMetadata(traceName);
  return metadata.dataset === UNKNOWN_DATASET && dataset ? { ...metadata, dataset } : metadata;
}

export function traceFilesAt(path: string): string[] {
  return statOf(path).isDirectory() ? filesBelow(path, []) : [path];
}

function filesBelow(path: string, above: readonly string[]): string[] {
  // A symbolic link to a parent folder would never end.
  const real = realpathSync(path);
  if (above.includes(real)) return [];
  const names = readable(path, () => readdirSync(path)).filter((name) => !name.startsWith('.'));
  const paths = names.sort().map((name) => join(path, name));
  return paths.flatMap((one) => {
    const stat = statOf(one);
    if (stat.isDirectory()) return filesBelow(one, [...above, real]);
    // A pipe without a writer never answers.
    return stat.isFile() && isTrace(one, beginningOf(one)) ? [one] : [];
  });
}

function sidecarOf(file: string): string {
  return join(file, '..', `${traceNameOf(file)}.json`);
}

function statOf(path: string) {
  const stat = readable(path, () => statSync(path, { throwIfNoEntry: false }));
  if (stat === undefined) throw new InputError(path, 'a file or folder', undefined, 'a path that does not exist');
  return stat;
}

function readText(file: string): string {
  // Some editors begin a file with a byte order mark.
  return readable(file, () => readFileSync(file, 'utf8').replace(/^\ufeff/, ''));
}

export function beginningOf(file: string): string {
  return readable(file, () => {
    const descriptor = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(4096);
      return bytes.toString('utf8', 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  });
}

function readable<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new InputError(file, 'something readable', error);
  }
}

/** Returns the name of a trace's file, with `-` instead of a part's `#`. */
export function traceFileName(trace: Trace): string {
  return `${trace.name.replaceAll('#', '-')}.csv`;
}

/** Writes CSV and sidecar, atomically; returns the CSV's path. */
export function writeTrace(trace: Trace, folder: string): string {
  const file = join(folder, traceFileName(trace));
  writeFileAtomically(sidecarOf(file), formatSidecar(trace.metadata));
  writeFileAtomically(file, formatTraceCsv(trace));
  return file;
}
