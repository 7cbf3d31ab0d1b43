/** Turns requests and their progress into what forecasters are told: throughput, idle times and request latency. */

import { type Observation, SILENCE_SECONDS } from '../abr/forecast.ts';

/** Throughput is told in pieces of a tenth of a second, so that a forecast is no older than that. */
const PIECES_PER_SECOND = 10;
/**
 * Bits may be reported this much later than they came: progress events of a browser are 50 ms apart, and its main thread
 * may be busy. Where none were reported for longer, none came.
 */
const SETTLE_SECONDS = 0.15;

/** A request under way; made by `requestSent` and handed back with what becomes of it. */
export interface MeteredRequest {
  readonly sentSeconds: number;
  /** Until when its bits are known; undefined before its first byte. */
  reportedSeconds: number | undefined;
  /** What was observed at its first byte. */
  latency: Observation | undefined;
}

type Piece = Observation & { kind: 'throughput' | 'idle' };

/**
 * Listens to the requests of a session, several at once if need be, and emits observations in order of time; throughput in
 * pieces of at most 0.1 s, none across a multiple of that. Times passed in are seconds of the session's clock and must not
 * run backwards (an earlier one counts as the latest seen).
 *
 * A moment counts as `throughput` while at least one request is past its first byte or has waited for it longer than
 * `SILENCE_SECONDS`, as `idle` while none is under way, and as neither while requests only wait as long as a link in order
 * may take: then capacity is unknown, although something was asked.
 */
export class ObservationMeter {
  readonly #emit: (observation: Observation) => void;
  readonly #requests: MeteredRequest[] = [];
  /** Closed pieces that may still receive bits, and what came between them, in order of time. */
  #queue: Observation[] = [];
  #open: Piece | undefined = { kind: 'idle', startSeconds: 0, endSeconds: 0 };
  #nowSeconds = 0;
  /** When a request that waits will have done so for too long; `Infinity` while none waits. */
  #overdueSeconds = Number.POSITIVE_INFINITY;

  constructor(emit: (observation: Observation) => void) {
    this.#emit = emit;
  }

  requestSent(atSeconds: number): MeteredRequest {
    this.#account(atSeconds);
    const request = { sentSeconds: this.#nowSeconds, reportedSeconds: undefined, latency: undefined };
    this.#requests.push(request);
    this.#settle();
    return request;
  }

  /** The first byte of a request has come. */
  firstByte(request: MeteredRequest, atSeconds: number): void {
    this.#account(atSeconds);
    const { sentSeconds } = request;
    request.reportedSeconds = this.#nowSeconds;
    this.#enter();
    if (this.#open?.kind === 'throughput') this.#cut(this.#open.kind, this.#nowSeconds);
    const atNow = { atSeconds: this.#nowSeconds, latencySeconds: this.#nowSeconds - sentSeconds };
    request.latency = { kind: 'request-latency', ...atNow };
    this.#queue.push(request.latency);
  }

  /** `bits` of a request past its first byte came since the last report on it. */
  received(request: MeteredRequest, atSeconds: number, bits: number): void {
    this.#account(atSeconds);
    const from = request.reportedSeconds ?? this.#nowSeconds;
    const to = this.#nowSeconds;
    request.reportedSeconds = to;
    const open = this.#open;
    if (open?.kind === 'throughput') this.#queue.push(open);
    let overlap = 0;
    let last: (Piece & { kind: 'throughput' }) | undefined;
    for (const piece of this.#queue) {
      if (piece.kind !== 'throughput') continue;
      overlap += overlapSeconds(piece, from, to);
      last = piece;
    }
    if (overlap > 0) {
      for (const piece of this.#queue) {
        if (piece.kind === 'throughput') piece.bits += (bits * overlapSeconds(piece, from, to)) / overlap;
      }
    } else if (last !== undefined) last.bits += bits;
    if (open?.kind === 'throughput') this.#queue.pop();
    this.#flush();
  }

  /**
   * A request ended, whether it was whole or not. Where `cameAtOnce`, it was whole at its first byte and nothing was
   * reported as received: latency and throughput cannot be told apart, so neither counts.
   */
  requestEnded(request: MeteredRequest, atSeconds: number, { cameAtOnce = false } = {}): void {
    this.#account(atSeconds);
    const at = this.#requests.indexOf(request);
    if (at >= 0) this.#requests.splice(at, 1);
    if (cameAtOnce) {
      this.#queue = this.#queue.filter((one) => one !== request.latency);
      const isAlone = this.#requests.every(({ reportedSeconds }) => reportedSeconds === undefined);
      if (isAlone && this.#open?.startSeconds === request.reportedSeconds) this.#open = undefined;
    }
    this.#settle();
  }

  /** Time has passed: emits what has settled. */
  advance(nowSeconds: number): void {
    this.#account(nowSeconds);
    this.#flush();
  }

  /** Extends the open piece to `seconds`; on the way a request may turn out overdue. */
  #account(seconds: number): void {
    if (this.#overdueSeconds < seconds && this.#open === undefined) {
      this.#extend(this.#overdueSeconds);
      this.#enter();
    }
    this.#extend(seconds);
  }

  #extend(seconds: number): void {
    if (!(seconds > this.#nowSeconds)) return;
    const { kind, startSeconds } = this.#open ?? {};
    if (kind === 'throughput') {
      for (let n = Math.floor(startSeconds! * PIECES_PER_SECOND); n / PIECES_PER_SECOND <= seconds; n++) {
        if (n / PIECES_PER_SECOND > startSeconds!) this.#cut(kind, n / PIECES_PER_SECOND);
      }
      this.#open!.endSeconds = seconds;
    }
    this.#nowSeconds = seconds;
  }

  /** Takes in that a request came or went. */
  #settle(): void {
    this.#enter();
    this.#flush();
  }

  /** Opens a piece of the kind that this moment is of, where it is another one. */
  #enter(): void {
    let isDelivering = false;
    this.#overdueSeconds = Number.POSITIVE_INFINITY;
    for (const { sentSeconds, reportedSeconds } of this.#requests) {
      if (reportedSeconds !== undefined) isDelivering = true;
      else this.#overdueSeconds = Math.min(this.#overdueSeconds, sentSeconds + SILENCE_SECONDS);
    }
    const isBusy = isDelivering || this.#overdueSeconds <= this.#nowSeconds;
    const kind = isBusy ? 'throughput' : this.#requests.length > 0 ? undefined : 'idle';
    if (this.#open?.kind !== kind) this.#cut(kind, this.#nowSeconds);
  }

  /** Ends the open piece and begins another one. */
  #cut(kind: Piece['kind'] | undefined, atSeconds: number): void {
    const open = this.#open;
    if (open !== undefined && atSeconds > open.startSeconds) {
      open.endSeconds = atSeconds;
      this.#queue.push(open);
    }
    this.#open =
      kind === 'throughput'
        ? { kind, startSeconds: atSeconds, endSeconds: atSeconds, bits: 0 }
        : kind && { kind, startSeconds: atSeconds, endSeconds: atSeconds };
  }

  #flush(): void {
    let reported = Number.POSITIVE_INFINITY;
    for (const { reportedSeconds = Number.POSITIVE_INFINITY } of this.#requests) {
      reported = Math.min(reported, reportedSeconds);
    }
    const settledBefore = Math.max(reported, this.#nowSeconds - SETTLE_SECONDS);
    let settled = 0;
    for (const piece of this.#queue) {
      if ((piece.kind === 'request-latency' ? piece.atSeconds : piece.endSeconds) > settledBefore) break;
      settled++;
    }
    if (settled > 0) for (const piece of this.#queue.splice(0, settled)) this.#emit(piece);
  }
}

function overlapSeconds(piece: Piece, from: number, to: number): number {
  return Math.max(0, Math.min(piece.endSeconds, to) - Math.max(piece.startSeconds, from));
}
