/**
 * Bytes of a file that is mostly padding: stretches of real bytes and runs of one repeated byte. A 60 MB segment costs
 * a few kB of memory, and any range of it can be read.
 */

/** `count` times the same byte. */
export interface FillRun {
  fill: number;
  count: number;
}

export type ByteRun = Uint8Array | FillRun;

/** Longest piece that `ByteRuns.read` yields. */
export const READ_BYTES = 64 * 1024;

/** One shared block per fill byte; its readers must not write to it. */
const fillBlocks = new Map<number, Uint8Array>();

function fillBlock(fill: number): Uint8Array {
  let block = fillBlocks.get(fill);
  if (!block) {
    block = new Uint8Array(READ_BYTES).fill(fill);
    fillBlocks.set(fill, block);
  }
  return block;
}

const lengthOf = (run: ByteRun): number => (run instanceof Uint8Array ? run.length : run.count);

/** An immutable sequence of runs. */
export class ByteRuns {
  readonly length: number;
  /** Where each run begins. */
  private readonly starts: number[] = [];

  constructor(private readonly runs: readonly ByteRun[]) {
    let length = 0;
    for (const run of runs) {
      this.starts.push(length);
      length += lengthOf(run);
    }
    this.length = length;
  }

  static concat(parts: readonly ByteRuns[]): ByteRuns {
    return new ByteRuns(parts.flatMap(({ runs }) => runs));
  }

  /** The bytes from `start` up to `end`, in pieces of at most `READ_BYTES` that must not be written to. */
  *read(start = 0, end = this.length): Generator<Uint8Array, void, void> {
    let at = Math.max(0, start);
    const stop = Math.min(end, this.length);
    for (let i = this.runAt(at); at < stop; i++) {
      const run = this.runs[i]!;
      const runStart = this.starts[i]!;
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

  /** All of it in one piece: for small files and tests. */
  toBytes(): Uint8Array {
    const bytes = new Uint8Array(this.length);
    let at = 0;
    for (const piece of this.read()) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  /** Index of the run that holds byte `at`. */
  private runAt(at: number): number {
    let low = 0;
    let high = this.runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle]! + lengthOf(this.runs[middle]!) > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
