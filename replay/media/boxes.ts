/** Finds and writes boxes of the ISO base media file format (ISO/IEC 14496-12). */

/** A box in a buffer: its content's first byte, and the byte after its last. */
export interface Box {
  type: string;
  start: number;
  end: number;
}

/** The boxes within `[start, end)` of a buffer, with sizes of 32 bits. @throws {Error} if a box exceeds `end`. */
export function boxesIn(bytes: Uint8Array, start = 0, end = bytes.length): Box[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const boxes: Box[] = [];
  let at = start;
  while (at < end) {
    if (at + 8 > end) throw new Error(`MP4: ${end - at} bytes left at byte ${at}, a box needs 8`);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const size = view.getUint32(at);
    if (size < 8 || at + size > end) throw new Error(`MP4: box "${type}" at byte ${at} has size ${size}`);
    boxes.push({ type, start: at + 8, end: at + size });
    at += size;
  }
  return boxes;
}

/** The first box along a path such as `moov/trak/mdia/mdhd`. @throws {Error} if a box is missing. */
export function findBox(bytes: Uint8Array, path: string): Box {
  let within: Box = { type: '', start: 0, end: bytes.length };
  for (const type of path.split('/')) {
    const found = boxesIn(bytes, within.start, within.end).find((box) => box.type === type);
    if (!found) throw new Error(`MP4: no box "${type}" of ${path}`);
    within = found;
  }
  return within;
}

export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

export function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The 8 bytes in front of `contentBytes` of content. */
export function boxHeader(type: string, contentBytes: number): Uint8Array {
  return concatBytes([u32(8 + contentBytes), new TextEncoder().encode(type)]);
}

export function box(type: string, ...content: readonly Uint8Array[]): Uint8Array {
  const body = concatBytes(content);
  return concatBytes([boxHeader(type, body.length), body]);
}

/** A box that begins with a version (one byte) and flags (three bytes). */
export function fullBox(type: string, version: number, flags: number, ...content: readonly Uint8Array[]): Uint8Array {
  return box(type, u32(((version << 24) | flags) >>> 0), ...content);
}
