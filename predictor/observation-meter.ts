/** Turns the course of requests into what a forecaster is told: throughput per second, idle gaps, request latency. */

import type { Observation } from '../abr/forecast.ts';

/** Bits may be reported this much later than they came (progress events of a browser are 50 ms apart). */
const SETTLE_SECONDS = 0.3;

/**
 * Listens to the requests of a session, several at once if need be, and emits observations in order of time, none longer
 * than one second and none across a whole second of the session's clock. Times passed in are seconds of that clock and
 * must not run backwards (an earlier one counts as the latest seen).
 *
 * A moment counts as `throughput` while at least one request is past its first byte, as `idle` while none is under way,
 * and as neither while requests only wait for their first byte: then capacity is unknown, although something was asked.
 */
export class ObservationMeter {
  readonly #emit: (observation: Observation) => void;
  /** Closed pieces that may still receive bits, and what came between them, in order of time. */
  #queue: Observation[] = [];
  #open: Observation & { kind: 'throughput' | 'idle' } = { kind: 'idle', startSeconds: 0, endSeconds: 0 };
  #isOpen = true;
  #nowSeconds = 0;
  #waiting = 0;
  #delivering = 0;

  constructor(emit: (observation: Observation) => void) {
    this.#emit = emit;
  }

  /** A request was sent. */
  requestSent(atSeconds: number): void {
    this.#account(atSeconds);
    this.#waiting++;
    this.#changeState();
    this.#flush();
  }

  /** The first byte of a request sent `latencySeconds` ago has come. */
  firstByte(atSeconds: number, latencySeconds: number): void {
    this.#account(atSeconds);
    this.#waiting--;
    this.#delivering++;
    this.#changeState();
    this.#queue.push({ kind: 'request-latency', atSeconds: this.#nowSeconds, latencySeconds });
  }

  /** `bits` of some request came between two moments; the second is now. */
  received(fromSeconds: number, toSeconds: number, bits: number): void {
    this.#account(toSeconds);
    const busy: (Observation & { kind: 'throughput' })[] = [];
    for (const piece of this.#queue) if (piece.kind === 'throughput') busy.push(piece);
    if (this.#isOpen && this.#open.kind === 'throughput') busy.push(this.#open);
    const overlaps = busy.map((piece) =>
      Math.max(0, Math.min(piece.endSeconds, toSeconds) - Math.max(piece.startSeconds, fromSeconds)),
    );
    const total = overlaps.reduce((sum, overlap) => sum + overlap, 0);
    const last = busy[busy.length - 1];
    if (total > 0) {
      busy.forEach((piece, i) => {
        piece.bits += (bits * overlaps[i]!) / total;
      });
    } else if (last !== undefined) last.bits += bits;
    this.#flush();
  }

  /** A request ended, whether it was whole or not; `delivered` says whether its first byte had come. */
  requestEnded(atSeconds: number, delivered: boolean): void {
    this.#account(atSeconds);
    if (delivered) this.#delivering--;
    else this.#waiting--;
    this.#changeState();
    this.#flush();
  }

  /** Time has passed: emits what has settled. */
  advance(nowSeconds: number): void {
    this.#account(nowSeconds);
    this.#flush();
  }

  /** Extends the open piece to `seconds`, cut at each whole second. */
  #account(seconds: number): void {
    if (!(seconds > this.#nowSeconds)) return;
    if (this.#isOpen) {
      for (let cut = Math.floor(this.#nowSeconds) + 1; cut <= seconds; cut++) {
        this.#open.endSeconds = cut;
        this.#close();
        this.#openAt(cut, this.#open.kind);
      }
      this.#open.endSeconds = seconds;
    }
    this.#nowSeconds = seconds;
  }

  #changeState(): void {
    const kind = this.#delivering > 0 ? 'throughput' : this.#waiting > 0 ? undefined : 'idle';
    if (this.#isOpen && this.#open.kind === kind) return;
    if (this.#isOpen) this.#close();
    this.#isOpen = kind !== undefined;
    if (kind !== undefined) this.#openAt(this.#nowSeconds, kind);
  }

  #openAt(seconds: number, kind: 'throughput' | 'idle'): void {
    this.#open =
      kind === 'idle'
        ? { kind, startSeconds: seconds, endSeconds: seconds }
        : { kind, startSeconds: seconds, endSeconds: seconds, bits: 0 };
  }

  #close(): void {
    const { startSeconds, endSeconds } = this.#open;
    if (endSeconds > startSeconds) this.#queue.push(this.#open);
  }

  #flush(): void {
    const settledBefore = this.#delivering > 0 ? this.#nowSeconds - SETTLE_SECONDS : Number.POSITIVE_INFINITY;
    let settled = 0;
    for (const piece of this.#queue) {
      if (('atSeconds' in piece ? piece.atSeconds : piece.endSeconds) > settledBefore) break;
      settled++;
    }
    for (const piece of this.#queue.splice(0, settled)) this.#emit(piece);
  }
}
