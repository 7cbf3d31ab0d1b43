/** Converts requests and their progress into observations for forecasters: throughput, idle times, request latency. */

import { type Observation, SILENCE_SECONDS } from '../../abr/forecast.ts';

/** Throughput is reported in pieces of at most 0.1 s, so that forecasts are no older. */
const PIECES_PER_SECOND = 10;
/**
 * Bits may be reported this late: a browser's progress events are 50 ms apart, and its main thread may be busy. After a
 * longer pause without a report no bits arrived.
 */
const SETTLE_SECONDS = 0.15;

/** What the meter keeps of a request in flight. */
interface Metered {
  /** When it was sent; if it waits for media that does not exist yet, when that will exist. */
  sentSeconds: number;
  /** Its bits are known until this time; undefined before its first byte. */
  reportedSeconds: number | undefined;
  /** The observation at its first byte. */
  latency: Observation | undefined;
}

/** Bits that arrived. */
export type ThroughputPiece = Extract<Observation, { kind: 'throughput' }>;
type Piece = ThroughputPiece | (Observation & { kind: 'idle' });

/**
 * Measures the requests of a session, also concurrent ones, and emits observations in order of time; pieces of
 * throughput do not cross a multiple of 0.1 s. Times are of the session's clock; one before the latest counts as the
 * latest.
 *
 * Time is `throughput` while a request is past its first byte or has waited for it longer than `SILENCE_SECONDS`,
 * `idle` without requests, and neither while requests wait for less than that: then the capacity is unknown.
 */
export class ObservationMeter {
  readonly #emit: (observation: Observation) => void;
  /** By the object that stands for the request. */
  readonly #requests = new Map<object, Metered>();
  /** Closed pieces that may still receive bits, and latencies between them, in order of time. */
  #queue: Observation[] = [];
  #open: Piece | undefined = { kind: 'idle', startSeconds: 0, endSeconds: 0 };
  #nowSeconds = 0;
  /** When the first waiting request is overdue; `Infinity` without one. */
  #overdueSeconds = Number.POSITIVE_INFINITY;

  constructor(emit: (observation: Observation) => void) {
    this.#emit = emit;
  }

  /** `request` is any object, to pass to the other methods until the request ends. Returns it. */
  requestSent(atSeconds: number, request: object = {}): object {
    this.#account(atSeconds);
    this.#requests.set(request, { sentSeconds: this.#nowSeconds, reportedSeconds: undefined, latency: undefined });
    this.#settle();
    return request;
  }

  /** The link has delivered what exists of a request; more will exist at `untilSeconds`. */
  waits(request: object, atSeconds: number, untilSeconds: number): void {
    this.#account(atSeconds);
    Object.assign(this.#requests.get(request)!, { sentSeconds: untilSeconds, reportedSeconds: undefined });
    this.#settle();
  }

  /** `bits` arrived for a request that waited, on their way since `sinceSeconds`. 0: the throughput is not known. */
  resumed(request: object, atSeconds: number, sinceSeconds: number, bits: number): void {
    const from = Math.max(sinceSeconds, this.#nowSeconds);
    const isKnown = bits > 0 && from < atSeconds;
    if (isKnown && this.#open === undefined) {
      this.#extend(from);
      this.#cut('throughput', from);
    }
    this.#account(atSeconds);
    const metered = this.#requests.get(request)!;
    metered.reportedSeconds = from;
    if (isKnown) this.received(request, atSeconds, (bits * (atSeconds - from)) / (atSeconds - sinceSeconds));
    metered.reportedSeconds = this.#nowSeconds;
    this.#settle();
  }

  firstByte(request: object, atSeconds: number): void {
    this.#account(atSeconds);
    const metered = this.#requests.get(request)!;
    const { sentSeconds } = metered;
    metered.reportedSeconds = this.#nowSeconds;
    this.#enter();
    if (this.#open?.kind === 'throughput') this.#cut(this.#open.kind, this.#nowSeconds);
    const now = this.#nowSeconds;
    metered.latency = { kind: 'request-latency', atSeconds: now, latencySeconds: now - sentSeconds };
    this.#queue.push(metered.latency);
  }

  /** `bits` of a request arrived since its first byte or its previous report. */
  received(request: object, atSeconds: number, bits: number): void {
    this.#account(atSeconds);
    const metered = this.#requests.get(request)!;
    const from = metered.reportedSeconds ?? this.#nowSeconds;
    const to = this.#nowSeconds;
    metered.reportedSeconds = to;
    this.#spread(bits, from, to);
    this.#flush();
  }

  /** Counts bits that arrived evenly between two times. */
  #spread(bits: number, from: number, to: number): void {
    const open = this.#open;
    if (open?.kind === 'throughput' && from >= open.startSeconds) {
      open.bits += bits;
      return;
    }
    const pieces = [...this.#queue, open].filter((one): one is ThroughputPiece => one?.kind === 'throughput');
    const overlaps = pieces.map((piece) => overlapSeconds(piece, from, to));
    const overlap = overlaps.reduce((sum, one) => sum + one, 0);
    if (overlap > 0) for (const [i, piece] of pieces.entries()) piece.bits += (bits * overlaps[i]!) / overlap;
    else if (pieces.length > 0) pieces.at(-1)!.bits += bits;
  }

  /**
   * A request ended, complete or not. `cameAtOnce`: it was complete at its first byte, without a call of `received`;
   * neither its latency nor its throughput counts, because they cannot be distinguished.
   */
  requestEnded(request: object, atSeconds: number, { cameAtOnce = false } = {}): void {
    this.#account(atSeconds);
    const metered = this.#requests.get(request);
    this.#requests.delete(request);
    if (metered && cameAtOnce) {
      this.#queue = this.#queue.filter((one) => one !== metered.latency);
      const isAlone = [...this.#requests.values()].every(({ reportedSeconds }) => reportedSeconds === undefined);
      if (isAlone && this.#open?.startSeconds === metered.reportedSeconds) this.#open = undefined;
    }
    this.#settle();
  }

  /** Time has passed: emits settled observations. */
  advance(nowSeconds: number): void {
    this.#account(nowSeconds);
    this.#flush();
  }

  /** Extends the open piece to `seconds`; a request may become overdue before. */
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

  #settle(): void {
    this.#enter();
    this.#flush();
  }

  /** Opens a piece of the present kind if it differs from the open one's. */
  #enter(): void {
    let isDelivering = false;
    this.#overdueSeconds = Number.POSITIVE_INFINITY;
    for (const { sentSeconds, reportedSeconds } of this.#requests.values()) {
      if (reportedSeconds !== undefined) isDelivering = true;
      else this.#overdueSeconds = Math.min(this.#overdueSeconds, sentSeconds + SILENCE_SECONDS);
    }
    const isBusy = isDelivering || this.#overdueSeconds <= this.#nowSeconds;
    const kind = isBusy ? 'throughput' : this.#requests.size > 0 ? undefined : 'idle';
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
    const reported = [...this.#requests.values()].map(
      ({ reportedSeconds = Number.POSITIVE_INFINITY }) => reportedSeconds,
    );
    const settledBefore = Math.max(Math.min(...reported), this.#nowSeconds - SETTLE_SECONDS);
    while (this.#queue.length > 0) {
      const piece = this.#queue[0]!;
      if ((piece.kind === 'request-latency' ? piece.atSeconds : piece.endSeconds) > settledBefore) break;
      this.#queue.shift();
      this.#emit(piece);
    }
  }
}

function overlapSeconds(piece: Piece, from: number, to: number): number {
  return Math.max(0, Math.min(piece.endSeconds, to) - Math.max(piece.startSeconds, from));
}
