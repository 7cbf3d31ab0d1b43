/** A range of a file as the body of a response. */

import type { ByteRuns } from '../media/byte-runs.ts';

/** A range of bytes, `end` exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

interface RangeStreamOptions {
  /** The reader has taken this many bytes and asks for more, or for the end. */
  onTaken(bytes: number): void;
  onCancel(): void;
}

/** The link allows bytes, and the reader takes them. A piece is composed only when the reader asks for it. */
export class RangeStream {
  readonly stream: ReadableStream<Uint8Array>;
  private _allowedBytes = 0;
  private _wake = () => {};

  constructor(file: ByteRuns, { start, end }: ByteRange, { onTaken, onCancel }: RangeStreamOptions) {
    let at = start;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      onTaken(at - start);
      if (at === end) {
        controller.close();
        return;
      }
      while (at === start + this._allowedBytes) await new Promise<void>((resolve) => (this._wake = resolve));
      const piece = file.piece(at, start + this._allowedBytes);
      at += piece.length;
      controller.enqueue(piece);
    };
    this.stream = new ReadableStream({ pull, cancel: onCancel }, { highWaterMark: 0 });
  }

  allow(bytes: number): void {
    this._allowedBytes = bytes;
    this._wake();
  }
}
