/** Converts requests and their progress into observations for forecasters. */

import { type Observation, SILENCE_SECONDS } from '../../abr/forecast.ts';

/** Pieces of throughput have at most 0.1 s, so that forecasts are no older. */
const PIECES_PER_SECOND = 10;
/** Bits may be reported this late: a browser's progress events are 50 ms apart, and its main thread may be busy. */
const SETTLE_SECONDS = 0.15;

/** A request in flight. */
interface Metered {
  /** Time of the request or, if it waits for media, time at which the media will exist. */
  sentSeconds: number;
  /** Usual seconds from the request to its first byte. */
  expectedSeconds: number;
  /** Bits are known until this time; undefined before the first byte. */
  reportedSeconds: number | undefined;
  /** The observation at the first byte. */
  latency: (Observation & { kind: 'request-latency' }) | undefined;
  /** Pieces of throughput have bits of it. */
  hasBits: boolean;
}

export type ThroughputPiece = Extract<Observation, { kind: 'throughput' }>;
type Piece = ThroughputPiece | (Observation & { kind: 'idle' });

/**
 * Measures the concurrent requests of a session, and emits observations in order of time. Pieces of throughput do not
 * cross a multiple of 0.1 s. Times are of the session's clock; a time before the latest time counts as the latest.
 *
 * Time is `throughput` while a request is past its first byte or overdue by `SILENCE_SECONDS`, and `idle` without
 * requests. While requests wait for less than that, the capacity is unknown and nothing is emitted.
 */
export class ObservationMeter {
  private readonly _requests = new Map<object, Metered>();
  /** Closed pieces that may still receive bits, and latencies, in order of time. */
  private _queue: Observation[] = [];
  private _open: Piece | undefined = { kind: 'idle', startSeconds: 0, endSeconds: 0 };
  private _nowSeconds = 0;
  /** Time at which the first waiting request is overdue; `Infinity` without a waiting request. */
  private _overdueSeconds = Number.POSITIVE_INFINITY;

  constructor(private readonly _emit: (observation: Observation) => void) {}

  /**
   * Returns `request`, an object that identifies the request in the other methods. `expectedSeconds`: a wait of this
   * long for the first byte is not the link's.
   */
  requestSent(atSeconds: number, request: object = {}, expectedSeconds = 0): object {
    this._account(atSeconds);
    const sentSeconds = this._nowSeconds;
    this._requests.set(request, {
      sentSeconds,
      expectedSeconds,
      reportedSeconds: undefined,
      latency: undefined,
      hasBits: false,
    });
    this._settle();
    return request;
  }

  /** The link has nothing more to deliver for this request before `untilSeconds`. */
  waits(request: object, atSeconds: number, untilSeconds: number): void {
    this._account(atSeconds);
    Object.assign(this._requests.get(request)!, { sentSeconds: untilSeconds, reportedSeconds: undefined });
    this._settle();
  }

  /** `bits` arrived for a request that waited, on their way since `sinceSeconds`. 0: the throughput is unknown. */
  resumed(request: object, atSeconds: number, sinceSeconds: number, bits: number): void {
    const from = Math.max(sinceSeconds, this._nowSeconds);
    const isKnown = bits > 0 && from < atSeconds;
    if (isKnown && this._open === undefined) {
      this._extend(from);
      this._cut('throughput', from);
    }
    this._account(atSeconds);
    const metered = this._requests.get(request)!;
    metered.reportedSeconds = from;
    if (isKnown) this.received(request, atSeconds, (bits * (atSeconds - from)) / (atSeconds - sinceSeconds));
    metered.reportedSeconds = this._nowSeconds;
    this._settle();
  }

  firstByte(request: object, atSeconds: number): void {
    this._account(atSeconds);
    const metered = this._requests.get(request)!;
    const { sentSeconds } = metered;
    metered.reportedSeconds = this._nowSeconds;
    this._enter();
    if (this._open?.kind === 'throughput') this._cut(this._open.kind, this._nowSeconds);
    const now = this._nowSeconds;
    metered.latency = { kind: 'request-latency', atSeconds: now, latencySeconds: now - sentSeconds };
    this._queue.push(metered.latency);
  }

  /** `bits` arrived since the first byte or the previous report. */
  received(request: object, atSeconds: number, bits: number): void {
    this._account(atSeconds);
    const metered = this._requests.get(request)!;
    const { reportedSeconds: from = this._nowSeconds } = metered;
    const to = this._nowSeconds;
    metered.reportedSeconds = to;
    metered.hasBits = true;
    this._spread(bits, from, to);
    this._flush();
  }

  /** Counts bits that arrived evenly between two times. */
  private _spread(bits: number, from: number, to: number): void {
    const open = this._open;
    if (open?.kind === 'throughput' && from >= open.startSeconds) {
      open.bits += bits;
      return;
    }
    const pieces = [...this._queue, open].filter((one): one is ThroughputPiece => one?.kind === 'throughput');
    let overlap = 0;
    for (const piece of pieces) overlap += overlapSeconds(piece, from, to);
    if (overlap > 0) for (const piece of pieces) piece.bits += (bits * overlapSeconds(piece, from, to)) / overlap;
    else if (pieces.length > 0) pieces.pop()!.bits += bits;
  }

  /**
   * A request ended, complete or not. `isUnknown`: it does not show the link, because a cache may have answered, or
   * because it was complete at its first byte: latency and throughput then cannot be distinguished. Neither counts.
   */
  requestEnded(request: object, atSeconds: number, { isUnknown = false } = {}): void {
    this._account(atSeconds);
    const { latency, hasBits } = this._requests.get(request) || {};
    this._requests.delete(request);
    if (latency && isUnknown) {
      const isAlone = [...this._requests.values()].every(({ reportedSeconds }) => reportedSeconds === undefined);
      // Other requests lose the bits of this short time, too.
      const isGone = (one: Observation | undefined) =>
        (hasBits || isAlone) && one?.kind === 'throughput' && one.startSeconds >= latency.atSeconds;
      this._queue = this._queue.filter((one) => one !== latency && !isGone(one));
      if (isGone(this._open)) this._open = undefined;
    }
    this._settle();
  }

  advance(nowSeconds: number): void {
    this._account(nowSeconds);
    this._flush();
  }

  /** Extends the open piece to `seconds`. A request may become overdue before. */
  private _account(seconds: number): void {
    if (this._overdueSeconds < seconds && this._open === undefined) {
      this._extend(this._overdueSeconds);
      this._enter();
    }
    this._extend(seconds);
  }

  private _extend(seconds: number): void {
    if (!(seconds > this._nowSeconds)) return;
    const { kind, startSeconds } = this._open || {};
    if (kind === 'throughput') {
      for (let n = Math.floor(startSeconds! * PIECES_PER_SECOND); n / PIECES_PER_SECOND <= seconds; n++) {
        if (n / PIECES_PER_SECOND > startSeconds!) this._cut(kind, n / PIECES_PER_SECOND);
      }
      this._open!.endSeconds = seconds;
    }
    this._nowSeconds = seconds;
  }

  private _settle(): void {
    this._enter();
    this._flush();
  }

  /** Opens a piece of the present kind, unless the open piece has it. */
  private _enter(): void {
    let isDelivering = false;
    this._overdueSeconds = Number.POSITIVE_INFINITY;
    for (const { sentSeconds, expectedSeconds, reportedSeconds } of this._requests.values()) {
      if (reportedSeconds !== undefined) isDelivering = true;
      else this._overdueSeconds = Math.min(this._overdueSeconds, sentSeconds + expectedSeconds + SILENCE_SECONDS);
    }
    const isBusy = isDelivering || this._overdueSeconds <= this._nowSeconds;
    const kind = isBusy ? 'throughput' : this._requests.size > 0 ? undefined : 'idle';
    if (this._open?.kind !== kind) this._cut(kind, this._nowSeconds);
  }

  /** Ends the open piece and begins the next piece. */
  private _cut(kind: Piece['kind'] | undefined, atSeconds: number): void {
    const open = this._open;
    if (open !== undefined && atSeconds > open.startSeconds) {
      open.endSeconds = atSeconds;
      this._queue.push(open);
    }
    this._open =
      kind === 'throughput'
        ? { kind, startSeconds: atSeconds, endSeconds: atSeconds, bits: 0 }
        : kind && { kind, startSeconds: atSeconds, endSeconds: atSeconds };
  }

  private _flush(): void {
    const queue = this._queue;
    if (queue.length === 0) return;
    let earliestSeconds = Number.POSITIVE_INFINITY;
    for (const { reportedSeconds, latency } of this._requests.values()) {
      // A cache's response ends soon after its first byte: until then, its pieces may turn out not to count.
      const isYoung = latency && this._nowSeconds - latency.atSeconds < SETTLE_SECONDS;
      const seconds = isYoung ? latency.atSeconds - 1e-9 : reportedSeconds!;
      if (seconds < earliestSeconds) earliestSeconds = seconds;
    }
    const settledBefore = Math.max(earliestSeconds, this._nowSeconds - SETTLE_SECONDS);
    while (queue.length > 0) {
      const piece = queue[0]!;
      if ((piece.kind === 'request-latency' ? piece.atSeconds : piece.endSeconds) > settledBefore) break;
      queue.shift();
      this._emit(piece);
    }
  }
}

function overlapSeconds(piece: Piece, from: number, to: number): number {
  return Math.max(0, Math.min(piece.endSeconds, to) - Math.max(piece.startSeconds, from));
}
