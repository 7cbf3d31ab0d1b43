/** A file that is mostly padding: real bytes and runs of one repeated byte, any range of which can be read. */

import { concatBytes } from './boxes.ts';

export type ByteRun = Uint8Array | { fill: number; count: number };

/** The longest piece that `ByteRuns.read` yields. */
export const READ_BYTES = 64 * 1024;

/** The longest piece that `ByteRuns.piece` returns. */
const PIECE_BYTES = 256 * 1024;

/** One shared block per fill byte; its readers must not write to it. */
const fillBlocks: Uint8Array[] = [];

function fillBlock(fill: number): Uint8Array {
  fillBlocks[fill] ??= new Uint8Array(READ_BYTES).fill(fill);
  return fillBlocks[fill];
}

const lengthOf = (run: ByteRun): number => (run instanceof Uint8Array ? run.length : run.count);

export class ByteRuns {
  readonly length: number;
  private readonly _starts: number[] = [];

  constructor(private readonly _runs: readonly ByteRun[]) {
    let length = 0;
    for (const run of _runs) {
      this._starts.push(length);
      length += lengthOf(run);
    }
    this.length = length;
  }

  static concat(parts: readonly ByteRuns[]): ByteRuns {
    return new ByteRuns(parts.flatMap(({ _runs: runs }) => runs));
  }

  /** The bytes from `start` up to `end`, in read-only pieces of at most `READ_BYTES`. */
  *read(start = 0, end = this.length): Generator<Uint8Array, void, void> {
    let at = Math.max(0, start);
    const stop = Math.min(end, this.length);
    for (let i = this._runAt(at); at < stop; i++) {
      const run = this._runs[i]!;
      const runStart = this._starts[i]!;
      const runEnd = Math.min(stop, runStart + lengthOf(run));
      while (at < runEnd) {
        const count = Math.min(READ_BYTES, runEnd - at);
        yield run instanceof Uint8Array
          ? run.subarray(at - runStart, at - runStart + count)
          : fillBlock(run.fill).subarray(0, count);
        at += count;
      }
    }
  }

  /** The bytes from `start` up to `end`, at most `PIECE_BYTES` of them, in one read-only piece. */
  piece(start: number, end: number): Uint8Array {
    const [first, ...others] = this.read(start, Math.min(end, start + PIECE_BYTES));
    return others.length === 0 ? (first ?? new Uint8Array()) : concatBytes([first!, ...others]);
  }

  /** All bytes in one piece, for small files and tests. */
  toBytes(): Uint8Array {
    return concatBytes([...this.read()]);
  }

  private _runAt(at: number): number {
    let low = 0;
    let high = this._runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this._starts[middle]! + lengthOf(this._runs[middle]!) > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
