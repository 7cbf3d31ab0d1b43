/** Reads zip archives without a library, because data sets have one simple archive. Node only. */

import { inflateRawSync } from 'node:zlib';
import { InputError } from '../../abr/errors.ts';
import { placeOf } from '../formats/place.ts';
import type { SourceFile } from './recording.ts';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const METHODS: Readonly<Record<number, (bytes: Buffer) => Uint8Array>> = { 0: (bytes) => bytes, 8: inflateRawSync };

/** The text of a file in an archive (stored or deflated; PKWARE's APPNOTE, without zip64). */
export function unzipFile({ path, bytes }: Pick<SourceFile, 'path' | 'bytes'>, name: string): string {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    let end = archive.length - 22;
    while (archive.readUInt32LE(end) !== END_OF_DIRECTORY) end--;
    let at = archive.readUInt32LE(end + 16);
    while (archive.readUInt32LE(at) === DIRECTORY_ENTRY) {
      const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => archive.readUInt16LE(at + field));
      if (archive.toString('utf8', at + 46, at + 46 + nameBytes!) === name) {
        const local = archive.readUInt32LE(at + 42);
        const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
        const content = archive.subarray(start, start + archive.readUInt32LE(at + 20));
        return new TextDecoder().decode(METHODS[archive.readUInt16LE(at + 10)]!(content));
      }
      at += 46 + nameBytes! + extraBytes! + commentBytes!;
    }
  } catch (error) {
    throw new InputError(path, 'a zip archive', error);
  }
  throw new InputError(placeOf({ file: path, field: name }), 'a file in the archive', undefined, 'none of that name');
}
