/** A stream's video as files on disk, for every kind of manifest. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { check, InputError } from '../../abr/errors.ts';

/** A file, or its bytes from `start` to before `end`. */
export interface Piece {
  file: string;
  start?: number;
  end?: number;
}

export interface StreamSegment extends Piece {
  /** Time from the start of the stream, as the manifest says. */
  startSeconds: number;
  seconds: number;
}

export interface StreamRepresentation {
  /** The id that the plugin uses. */
  id: string;
  /** Bitrate that the manifest declares. */
  bitrateBps: number;
  width?: number;
  height?: number;
  frameRate?: number;
  codec?: string;
  segments: StreamSegment[];
}

const ON_DISK = 'a file on disk (download the stream first)';

/** The path of a reference. `base` is the file that has the reference, or the address that the reference is below. */
export function pathOf(reference: string, base: string | URL): string {
  const url = urlOf(reference, base);
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw new InputError(reference, ON_DISK, error);
  }
}

/** @throws {InputError} for an address that is not on disk. */
export function urlOf(reference: string, base: string | URL): URL {
  const from = typeof base === 'string' ? pathToFileURL(base) : base;
  const url = URL.canParse(reference, from.href) ? new URL(reference, from) : undefined;
  check(url?.protocol === 'file:', reference, ON_DISK, url?.href ?? reference);
  return url;
}

/** Reads a piece. @throws {InputError} with the file. */
export function bytesOf({ file, start = 0, end }: Piece): Buffer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const bytes = Buffer.alloc((end ?? fstatSync(descriptor).size) - start);
    const count = readSync(descriptor, bytes, 0, bytes.length, start);
    if (count < bytes.length) throw new Error(`${start + count} bytes`);
    return bytes;
  } catch (error) {
    throw new InputError(file, end === undefined ? 'a readable file' : `a file of at least ${end} bytes`, error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
