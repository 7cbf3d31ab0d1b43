/** Appends whole lines to files, and prepares their folder. */

import * as nodeFiles from 'node:fs/promises';
import { basename } from 'node:path';
import { InputError } from '../../abr/errors.ts';

/** Functions of the file system, which tests replace by a full disk. */
export type AppendFiles = Pick<typeof nodeFiles, 'appendFile' | 'truncate'>;

/** Creates the folder and prepares it. Rejects with an `InputError` if that fails or the folder is not writable. */
export async function openFolder(directory: string, prepare = async () => {}): Promise<void> {
  try {
    await nodeFiles.mkdir(directory, { recursive: true });
    await nodeFiles.access(directory, nodeFiles.constants.W_OK);
    await prepare();
  } catch (error) {
    throw new InputError(directory, 'a folder that can be written to', (error as Error).message);
  }
}

/** Appends all bytes to the file, or appends none and rejects. */
export async function appendWhole(files: AppendFiles, path: string, bytes: Uint8Array): Promise<void> {
  // Somebody may have moved the file away.
  const size = await nodeFiles.stat(path).then(
    (found) => found.size,
    () => 0,
  );
  try {
    await files.appendFile(path, bytes);
  } catch (error) {
    // The disk may have taken a part of the bytes.
    await files.truncate(path, size).catch(() => {});
    throw error;
  }
}

/** The message of an error of the file system without the path of the folder, because clients read it. */
export function messageOf(error: unknown): string {
  const { message, path = '' } = error as NodeJS.ErrnoException;
  return message.replace(path, () => basename(path));
}
