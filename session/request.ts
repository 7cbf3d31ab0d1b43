/** A request of the player for audio or video, from sent to ended: its bits, its times, and what they show of the link. */

import type { InFlight } from '../abr/controller.ts';
import type { ObservationMeter } from '../predictor/link/observation-meter.ts';
import type { LiveWaits } from './live/live-stream.ts';
import type { Outcome, Progress, Segment } from './player-port.ts';

/** Players report bits 15 times a second and more. On demand each sixth report, 0.4 s apart, is enough. */
const MOST_LEFT_OUT = 5;

interface RequestContext {
  /** The video segment; undefined for audio and init segments. */
  segment?: Segment | undefined;
  /** Expected size of the response. Default 0: unknown. */
  sizeBits?: number | undefined;
  /** Absent without forecasters, and if no silence of the request shows an outage. */
  meter?: ObservationMeter | undefined;
  /** Usual seconds until the first byte, if the origin is slow; `Infinity` if unknown. Default 0: a wait is the link's. */
  expectedSeconds?: number;
  /** Waits of a live segment for the encoder; absent on demand and for init segments. */
  waits?: LiveWaits | undefined;
  /** The present throughput of the session's downloads. */
  knownBps: () => number;
}

/** The request of a video segment. */
export type VideoRequest = Request & { readonly segment: Segment };

/** Times are of the session's clock, in seconds. */
export class Request {
  readonly segment: Segment | undefined;
  /** The expected size until the size is known. */
  sizeBits: number;
  receivedBits = 0;
  firstByteAtSeconds: number | undefined;
  lastBitsAtSeconds: number | undefined;
  /** Seconds from `requestedAtSeconds` to the first attempt that was answered. */
  unansweredSeconds = 0;
  /** An attempt has failed without a bit, and the player may give up: another representation is requested. */
  isRefused = false;
  /** By a seek or a late decision: if the player aborts it, that is no abandonment. */
  isOvertaken = false;
  /** When it was sent; if the origin is slow, when its first byte is expected; `Infinity` while it is postponed. */
  dueSeconds: number;
  /** Until then it is not reconsidered. */
  private _keptUntilSeconds = 0;
  /** Bits whose time is known. The time of the first bits is unknown if they turn out to be all. */
  private _timedBits = 0;
  private _isInChunks = false;
  /** Skipped reports since the last report that counted. */
  private _leftOut = MOST_LEFT_OUT;
  private readonly _expectedBits: number;
  private readonly _meter: ObservationMeter | undefined;
  private _waits: LiveWaits | undefined;
  private readonly _knownBps: () => number;

  /** `requestedAtSeconds`: if earlier attempts show nothing of this one, its time. */
  constructor(
    public requestedAtSeconds: number,
    { segment, sizeBits = 0, meter, expectedSeconds = 0, waits, knownBps }: RequestContext,
  ) {
    this.segment = segment;
    this.sizeBits = this._expectedBits = sizeBits;
    this.dueSeconds = requestedAtSeconds + (expectedSeconds < Number.POSITIVE_INFINITY ? expectedSeconds : 0);
    this._meter = meter;
    this._waits = waits;
    this._knownBps = knownBps;
    if (meter) meter.requestSent(requestedAtSeconds, this, expectedSeconds);
    this._waitForEncoder(requestedAtSeconds);
  }

  isVideo(): this is VideoRequest {
    return this.segment !== undefined;
  }

  /** The segment, counted from the start of the presentation. */
  get segmentIndex(): number {
    const { period, index } = this.segment!;
    return period.firstIndex + index;
  }

  /** The player sends it again, from its first byte. `isLater`: after a pause, because the server has refused it. */
  restarted(atSeconds: number, isLater: boolean): void {
    if (isLater || this.isPostponed || this.receivedBits > 0) {
      this.requestedAtSeconds = atSeconds;
      this.dueSeconds = isLater ? Number.POSITIVE_INFINITY : atSeconds;
      this.firstByteAtSeconds = undefined;
      // A refusal may have a body.
      this.sizeBits = this._expectedBits;
      this.receivedBits = this._timedBits = 0;
      this._leftOut = MOST_LEFT_OUT;
      if (this._waits) this._waits = this._waits.again(atSeconds);
      this._meterWaits(atSeconds, this.dueSeconds);
    }
    if (this.firstByteAtSeconds === undefined) this.unansweredSeconds = atSeconds - this.requestedAtSeconds;
  }

  /** Nothing of it is on its way until the player sends it again. */
  get isPostponed(): boolean {
    return this.dueSeconds === Number.POSITIVE_INFINITY;
  }

  /** The player has sent it again after no answer, and gives up playback after some attempts. */
  refused(): void {
    this.isRefused = true;
    this._keptUntilSeconds = this.dueSeconds = 0;
  }

  /** The headers are here. */
  answered(atSeconds: number, sizeBits: number | undefined): void {
    if (sizeBits! > 0) this.sizeBits = sizeBits!;
    if (this.firstByteAtSeconds !== undefined) return;
    if (this._meter) this._meter.firstByte(this, atSeconds);
    this.firstByteAtSeconds = this.lastBitsAtSeconds = atSeconds;
  }

  /** Returns whether to skip a report of bits, because the next report has its bits, too. Never skips the first report. */
  countsAndSkipsReport(): boolean {
    if (this._waits || this._leftOut === MOST_LEFT_OUT) this._leftOut = 0;
    else this._leftOut++;
    return this._leftOut > 0;
  }

  /** More of the body has arrived. */
  received(
    atSeconds: number,
    { addedBits = 0, totalBits = this.receivedBits + addedBits, sizeBits, chunks }: Progress,
  ): void {
    const bits = Math.max(0, totalBits - this.receivedBits);
    const isFirst = this.firstByteAtSeconds === undefined;
    this.receivedBits += bits;
    const isTimed = this._observe(atSeconds, bits, isFirst, chunks);
    if (isTimed || (!isFirst && bits > 0)) this._timedBits = this.receivedBits;
    if (isFirst) this.firstByteAtSeconds = atSeconds;
    if (bits > 0) this.lastBitsAtSeconds = atSeconds;
    if (sizeBits! > 0) this.sizeBits = sizeBits!;
  }

  /** For the forecasters. Returns whether the link had to wait for the encoder until now. */
  private _observe(atSeconds: number, bits: number, isFirst: boolean, chunks: number | undefined): boolean {
    const { _meter: meter, _waits: waits } = this;
    const sinceSeconds = waits && (bits > 0 || chunks! > 0) ? waits.received(atSeconds, bits, chunks) : undefined;
    this._isInChunks ||= chunks !== undefined;
    if (sinceSeconds !== undefined) {
      // A lower bound counts only where it raises the estimate.
      const isHigher = bits / (atSeconds - sinceSeconds) > this._knownBps();
      meter?.resumed(this, atSeconds, sinceSeconds, isHigher ? bits : 0);
    } else if (isFirst) {
      meter?.firstByte(this, atSeconds);
    } else if (bits > 0) {
      meter?.received(this, atSeconds, waits && this._isInChunks ? bits : this._untimedBits);
    }
    if (this._isInChunks) this._waitForEncoder(atSeconds);
    return sinceSeconds !== undefined;
  }

  /**
   * Call `received` with the last bits before. If all bits came at once, the time of the first byte is unknown.
   * `mayBeCached`: nothing of it shows the link.
   */
  ended(atSeconds: number, outcome: Outcome, mayBeCached = false): void {
    const cameAtOnce = outcome !== 'abandoned' && this._timedBits === 0;
    if (this._meter) {
      // The request was abandoned after its first bits.
      if (outcome === 'abandoned' && this._untimedBits > 0) this._meter.received(this, atSeconds, this._untimedBits);
      this._meter.requestEnded(this, atSeconds, { isUnknown: cameAtOnce || mayBeCached });
    }
    if (this._waits) this._waits.ended(atSeconds, outcome === 'whole');
    if (outcome === 'whole') this.sizeBits = this.receivedBits;
    if (cameAtOnce) this.firstByteAtSeconds = undefined;
  }

  keepUntil(seconds: number): void {
    this._keptUntilSeconds = seconds;
  }

  /** Whether it may be reconsidered: what does not exist yet cannot be late, nor what the origin delays. */
  mayBeReconsidered(nowSeconds: number): boolean {
    const isDue = this.firstByteAtSeconds !== undefined || nowSeconds >= this.dueSeconds;
    return nowSeconds >= this._keptUntilSeconds && isDue && !this._isWaiting(nowSeconds);
  }

  /** The controller's view: a copy, without the waits for the encoder. */
  state(nowSeconds: number): Omit<InFlight, 'abandonments'> {
    const { segmentIndex, sizeBits, requestedAtSeconds, receivedBits, firstByteAtSeconds, lastBitsAtSeconds } = this;
    const times = { requestedAtSeconds, firstByteAtSeconds };
    return {
      segmentIndex,
      bitrateBps: this.segment!.representation.bitrateBps,
      sizeBits,
      receivedBits,
      ...(lastBitsAtSeconds !== undefined && { lastBitsAtSeconds }),
      ...(this._waits ? this._waits.withoutWaits(times, nowSeconds) : times),
    };
  }

  /** Duration of the ended request without waits for the encoder; undefined if it does not show the link's throughput. */
  linkSeconds(seconds: number): number | undefined {
    return this._waits ? this._waits.linkSeconds(seconds, this._knownBps()) : seconds;
  }

  private get _untimedBits(): number {
    return this.receivedBits - this._timedBits;
  }

  /** Whether nothing more can arrive before the encoder has made the next chunk. */
  private _isWaiting(nowSeconds: number): boolean {
    return this._waits !== undefined && this._waits.nextChunkAtSeconds > nowSeconds;
  }

  private _waitForEncoder(atSeconds: number): void {
    if (this._isWaiting(atSeconds)) this._meterWaits(atSeconds, this._waits!.nextChunkAtSeconds);
  }

  private _meterWaits(atSeconds: number, untilSeconds: number): void {
    if (this._meter) this._meter.waits(this, atSeconds, untilSeconds);
  }
}
