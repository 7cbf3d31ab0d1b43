/** Counts the CMAF chunks of a body that comes in parts: its boxes of type `mdat`, each the end of a chunk. */

/** `mdat`, as four bytes. */
const MDAT = 0x6d646174;
const HEADER_BYTES = 8;

export class ChunkCounter {
  /** The header of the present box (size and type), as far as it has come. */
  private readonly _header = new DataView(new ArrayBuffer(HEADER_BYTES));
  /** Bytes of the present box so far. */
  private _bytes = 0;

  /** Returns how many chunks end in the next part of the body. */
  endedIn(part: ArrayBuffer | ArrayBufferView): number {
    const bytes = ArrayBuffer.isView(part)
      ? new Uint8Array(part.buffer, part.byteOffset, part.byteLength)
      : new Uint8Array(part);
    let chunks = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this._bytes < HEADER_BYTES) this._header.setUint8(this._bytes++, bytes[at++]!);
      if (this._bytes < HEADER_BYTES) continue;
      const size = Math.max(HEADER_BYTES, this._header.getUint32(0));
      const taken = Math.min(size - this._bytes, bytes.length - at);
      this._bytes += taken;
      at += taken;
      if (this._bytes < size) continue;
      if (this._header.getUint32(4) === MDAT) chunks++;
      this._bytes = 0;
    }
    return chunks;
  }
}
