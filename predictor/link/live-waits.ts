/** What limited the download of a live segment: the link, or the encoder, which makes chunks at its own pace. */

import type { InFlight } from '../../abr/controller.ts';

/** A wrong announcement or a wrong clock can make chunks seem late by up to this. */
const MOST_LAG_SECONDS = 0.5;
/** The lag is the earliest arrival's, plus this for every later chunk, so that old minima expire. */
const LAG_GROWTH_SECONDS = 0.001;
/** Bits that came without a wait for this long show the link's rate. */
const MEASURED_SECONDS = 0.05;
/** The first bits after a wait count as this long on their way at least, because nobody saw them leave. */
const SHORTEST_TRANSFER_SECONDS = 0.01;

/** Chunks of a stream, as learnt from its downloads. One per session. */
export class LiveEdge {
  /** Media per chunk, counted in the latest whole segment; undefined before, and if it came in one piece. */
  chunkSeconds: number | undefined;
  private _lagSeconds: number | undefined;

  /** How long after the announced time chunks can be received. Negative: before. */
  get lagSeconds(): number {
    return this._lagSeconds || 0;
  }

  /** A segment has arrived whole, in this many chunks. */
  segmentEnded(segmentSeconds: number, chunks: number): void {
    this.chunkSeconds = chunks > 0 ? segmentSeconds / chunks : undefined;
  }

  /** A chunk has arrived, this long after its announced time. */
  arrived(lagSeconds: number): void {
    this._lagSeconds = Math.min(MOST_LAG_SECONDS, lagSeconds, (this._lagSeconds ?? lagSeconds) + LAG_GROWTH_SECONDS);
  }
}

export interface LiveSegment {
  /** Announced time of the first chunk on the session's clock. */
  firstChunkAtSeconds: number;
  segmentSeconds: number;
  /** Media per chunk, where the stream announces it; at most `segmentSeconds`. */
  chunkSeconds: number;
}

/** The waits of one download for the encoder. Times are of the session's clock. */
export class LiveWaits {
  private readonly _isWhole: boolean;
  /** Whole chunks. */
  private _chunks = 0;
  /** Bits of the chunk after them have arrived. */
  private _isInChunk = false;
  private _bits = 0;
  private _arrivedSeconds: number;
  private _isLimited: boolean;
  private _isAbandoned = false;
  private _waitedSeconds = 0;
  private _waitedBeforeFirstByteSeconds = 0;
  /** Transfer of all parts, as far as it is known. */
  private _transferSeconds = 0;
  /** Parts that followed the part before without a wait for the encoder. */
  private _measured = { bits: 0, seconds: 0 };

  constructor(
    private readonly _edge: LiveEdge,
    private readonly _segment: LiveSegment,
    requestedAtSeconds: number,
  ) {
    this._arrivedSeconds = requestedAtSeconds;
    this._isLimited = this.nextChunkAtSeconds > requestedAtSeconds;
    const { firstChunkAtSeconds, segmentSeconds } = _segment;
    this._isWhole = firstChunkAtSeconds + segmentSeconds - this._chunkSeconds + MOST_LAG_SECONDS < requestedAtSeconds;
  }

  /** When the next chunk comes into being; in the past for one that the link has yet to deliver. */
  get nextChunkAtSeconds(): number {
    return this._announcedSeconds(this._chunks) + this._edge.lagSeconds;
  }

  /** The times of the request as if its media had existed when it was sent. */
  withoutWaits<T extends Pick<InFlight, 'requestedAtSeconds' | 'firstByteAtSeconds'>>(request: T, now: number): T {
    const waitedSeconds = this._waitedUntil(now);
    const moved = { ...request, requestedAtSeconds: request.requestedAtSeconds + waitedSeconds };
    if (request.firstByteAtSeconds === undefined) return moved;
    const afterFirstByteSeconds = waitedSeconds - this._waitedBeforeFirstByteSeconds;
    return { ...moved, firstByteAtSeconds: request.firstByteAtSeconds + afterFirstByteSeconds };
  }

  /** The server answered that the segment does not exist yet. */
  refused(atSeconds: number): void {
    this._waitedSeconds += atSeconds - this._arrivedSeconds;
    this._arrivedSeconds = atSeconds;
    this._isLimited = true;
  }

  /** The body comes again from its first byte. What came of it before, and the time that it took, show nothing. */
  restarted(atSeconds: number): void {
    this.refused(atSeconds);
    this._chunks = 0;
    this._isInChunk = false;
    this._bits = 0;
    this._transferSeconds = 0;
    this._measured = { bits: 0, seconds: 0 };
  }

  /**
   * `bits` arrived, and `chunks` chunks are whole since the last call; undefined if the body is not read in chunks. If the
   * encoder may have been the limit, the bits show a lower bound of the link's rate only; returns since when they were on
   * their way then, else undefined.
   */
  received(atSeconds: number, bits: number, chunks: number | undefined): number | undefined {
    const announced = this._announcedSeconds(this._chunks);
    const isFirst = this._bits === 0;
    const isBound = !this._isWhole && this.nextChunkAtSeconds > this._arrivedSeconds && bits > 0;
    if (isBound) this._isLimited = true;
    this._waitedSeconds = this._waitedUntil(atSeconds);
    if (isFirst) this._waitedBeforeFirstByteSeconds = this._waitedSeconds;
    const exists = Math.min(this._existsSeconds, atSeconds - SHORTEST_TRANSFER_SECONDS);
    const sinceSeconds = Math.max(this._arrivedSeconds, isBound ? exists : 0);
    this._transferSeconds += atSeconds - sinceSeconds;
    if (!isBound && !isFirst && bits > 0) {
      this._measured.bits += bits;
      this._measured.seconds += atSeconds - sinceSeconds;
    }
    // The times of later chunks are known with their duration.
    const isTimed = this._chunks === 0 || this._edge.chunkSeconds !== undefined;
    if (bits > 0 && !this._isInChunk && isTimed && !this._isWhole) this._edge.arrived(atSeconds - announced);
    this._chunks += chunks || 0;
    this._isInChunk = chunks === undefined || chunks === 0;
    this._bits += bits;
    this._arrivedSeconds = atSeconds;
    return isBound ? sinceSeconds : undefined;
  }

  /** The download ended, whole or not. */
  ended(atSeconds: number, isWhole: boolean): void {
    const { segmentSeconds } = this._segment;
    if (isWhole) this._edge.segmentEnded(segmentSeconds, this._chunks);
    this._isAbandoned = !isWhole;
    // What exists did not come.
    if (!isWhole) this._transferSeconds += Math.max(0, atSeconds - Math.max(this._arrivedSeconds, this._existsSeconds));
  }

  /**
   * Duration of this download over the link alone, without waits for the encoder: at the rate of the bits that came
   * without a wait, if they show one. Otherwise the rate is a lower bound: undefined if it is below `knownBps`, because
   * then it says nothing.
   */
  linkSeconds(downloadSeconds: number, knownBps: number): number | undefined {
    if (!this._isLimited) return downloadSeconds;
    if (this._isAbandoned) return this._transferSeconds;
    const { bits, seconds } = this._measured;
    if (seconds >= MEASURED_SECONDS) return (this._bits * seconds) / bits;
    return this._bits / this._transferSeconds >= knownBps ? this._transferSeconds : undefined;
  }

  /** Time in which nothing more existed, until now. */
  private _waitedUntil(nowSeconds: number): number {
    const untilSeconds = Math.min(nowSeconds, this._existsSeconds);
    return this._waitedSeconds + Math.max(0, this._isWhole ? 0 : untilSeconds - this._arrivedSeconds);
  }

  private get _chunkSeconds(): number {
    return this._edge.chunkSeconds || this._segment.chunkSeconds;
  }

  /** When the next chunk exists at the earliest: a lag may be the link's, but not one below 0. */
  private get _existsSeconds(): number {
    return this._announcedSeconds(this._chunks) + Math.min(0, this._edge.lagSeconds);
  }

  /** Announced time of a chunk; none comes after the last. */
  private _announcedSeconds(chunk: number): number {
    const { firstChunkAtSeconds, segmentSeconds } = this._segment;
    const last = Math.round(segmentSeconds / this._chunkSeconds) - 1;
    return firstChunkAtSeconds + Math.min(chunk, last) * this._chunkSeconds;
  }
}
