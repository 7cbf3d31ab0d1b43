/** Reads the segments of an MP4 file from its index, the box `sidx` (ISO/IEC 14496-12). */

import { InputError } from '../../abr/errors.ts';
import { bytesOf, type Piece, type StreamSegment } from './pieces.ts';

const HEADER_BYTES = 8;
/** An index without segments, whose times have 64 bits. */
const LEAST_BYTES = 40;
const EXPECTED = 'an MP4 file with an index of its segments (the box "sidx")';

/** `piece` is the file, or the range of the index in the file.  */
export function indexedSegments(piece: Piece): StreamSegment[] {
  const { file } = piece;
  const at = piece.start ?? findIndex(file);
  const size = bytesOf({ file, start: at, end: at + HEADER_BYTES }).readUInt32BE(0);
  const index = bytesOf({ file, start: at, end: at + size });
  if (index.toString('latin1', 4, 8) !== 'sidx' || size < LEAST_BYTES)
    throw new InputError(file, EXPECTED, undefined, 'none');
  const isLong = index.readUInt8(8) === 1;
  const timescale = index.readUInt32BE(16);
  // `first_offset` follows `earliest_presentation_time`, which is not needed.
  const offset = isLong ? Number(index.readBigUInt64BE(28)) : index.readUInt32BE(24);
  let entry = isLong ? 36 : 28;
  const count = index.readUInt16BE(entry + 2);
  entry += 4;
  if (entry + 12 * count > size)
    throw new InputError(file, EXPECTED, undefined, `one that ends before its ${count} segments`);
  let start = at + size + offset;
  let startSeconds = 0;
  return Array.from({ length: count }, (_, i) => {
    const reference = index.readUInt32BE(entry + 12 * i);
    // If the highest bit is set, the entry refers to another index.
    if (reference >= 2 ** 31) throw new InputError(file, 'an index of segments', undefined, 'one of further indexes');
    const seconds = index.readUInt32BE(entry + 12 * i + 4) / timescale;
    const segment = { file, start, end: start + reference, startSeconds, seconds };
    start += reference;
    startSeconds += seconds;
    return segment;
  });
}

/** Goes from box to box at the start of the file. */
function findIndex(file: string): number {
  for (let at = 0; ; ) {
    const header = bytesOf({ file, start: at, end: at + 2 * HEADER_BYTES });
    const type = header.toString('latin1', 4, 8);
    if (type === 'sidx') return at;
    const size = header.readUInt32BE(0);
    if ((at === 0 && type !== 'ftyp') || type === 'mdat' || size < HEADER_BYTES) {
      throw new InputError(file, EXPECTED, undefined, `the box ${JSON.stringify(type)}`);
    }
    at += size;
  }
}
