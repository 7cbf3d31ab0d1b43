/** Downloads a file so that a broken download can be resumed. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { makeFolder, writeFileAtomically } from '../../replay/formats/write-file.ts';

/**
 * Downloads `url` to `file`. What has arrived is in `<file>.part` until it is complete; if the server names a version
 * (ETag), a later call continues there. A broken connection is resumed at once if it made progress.
 * @throws {InputError} for a response other than the file, and if the disk cannot take it, which leaves no part.
 */
export async function downloadFile(url: string, file: string, signal: AbortSignal): Promise<void> {
  const part = `${file}.part`;
  try {
    makeFolder(dirname(file));
    let heldBytes = 0;
    for (;;) {
      const broken = await appendRest(url, part, signal);
      if (broken === undefined) break;
      const { size } = statSync(part);
      if (size <= heldBytes) throw broken;
      heldBytes = size;
    }
    if (/^\s*<(!doctype\s+html|html)/i.test(readFileSync(part).toString('latin1', 0, 1024))) {
      forget(part);
      throw new InputError(url, 'the file', undefined, 'an HTML page');
    }
    renameSync(part, file);
    forget(part);
  } catch (error) {
    if (!isFileError(error)) throw error;
    forget(part);
    throw new InputError(file, 'a file that can be written', error);
  }
}

/** Errors of `fs` name the system call; the others are not about the disk. */
const isFileError = (error: unknown) => (error as NodeJS.ErrnoException).syscall !== undefined;

/** Where a part keeps its ETag. */
const versionOf = (part: string) => `${part}.etag`;

function forget(part: string): void {
  for (const file of [part, versionOf(part)]) rmSync(file, { force: true });
}

/** Appends the rest of the file to `part`. Returns the error of a connection that broke, after writing what came. */
async function appendRest(url: string, part: string, signal: AbortSignal): Promise<InputError | undefined> {
  const held = existsSync(part) && existsSync(versionOf(part)) ? statSync(part).size : 0;
  const headers = {
    'accept-encoding': 'identity',
    ...(held > 0 && { range: `bytes=${held}-`, 'if-range': readFileSync(versionOf(part), 'utf8') }),
  };
  const failed = (error: Error) => {
    signal.throwIfAborted();
    return new InputError(url, 'the file', error.cause ?? error);
  };
  const response = await fetch(url, { headers, signal }).catch((error) => {
    throw failed(error);
  });
  const continues =
    held > 0 && response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${held}-`) === true;
  if (response.status !== 200 && !continues) {
    await response.body?.cancel();
    // The part does not fit the file: start afresh the next time.
    if (held > 0) forget(part);
    throw new InputError(url, 'the file', undefined, `HTTP ${response.status} ${response.statusText}`.trim());
  }
  if (!continues) rmSync(versionOf(part), { force: true });
  const output = await open(part, continues ? 'a' : 'w');
  try {
    const etag = response.headers.get('etag');
    if (etag !== null) writeFileAtomically(versionOf(part), etag);
    for await (const chunk of response.body ?? []) await output.writeFile(chunk);
    await output.sync();
    return undefined;
  } catch (error) {
    if (isFileError(error) || error instanceof InputError) throw error;
    return failed(error as Error);
  } finally {
    await output.close();
  }
}

/** Lower-case hexadecimal digits. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The name that git gives to a file's content. */
export function gitBlobOf(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
