/** Counts the CMAF chunks of a body that comes in parts: its boxes of type `mdat`, each the end of a chunk. */

/** `mdat`, as four bytes. */
const MDAT = 0x6d646174;
const HEADER_BYTES = 8;

export class ChunkCounter {
  /** The header of the present box (size and type), as far as it has come. */
  readonly #header = new DataView(new ArrayBuffer(HEADER_BYTES));
  /** Bytes of the present box so far. */
  #bytes = 0;

  /** Returns how many chunks end in the next part of the body. */
  endedIn(part: ArrayBuffer | ArrayBufferView): number {
    const bytes = ArrayBuffer.isView(part)
      ? new Uint8Array(part.buffer, part.byteOffset, part.byteLength)
      : new Uint8Array(part);
    let chunks = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#bytes < HEADER_BYTES) this.#header.setUint8(this.#bytes++, bytes[at++]!);
      if (this.#bytes < HEADER_BYTES) continue;
      const size = Math.max(HEADER_BYTES, this.#header.getUint32(0));
      const taken = Math.min(size - this.#bytes, bytes.length - at);
      this.#bytes += taken;
      at += taken;
      if (this.#bytes < size) continue;
      if (this.#header.getUint32(4) === MDAT) chunks++;
      this.#bytes = 0;
    }
    return chunks;
  }
}
