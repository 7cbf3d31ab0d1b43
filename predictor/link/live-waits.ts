/** What limited the download of a live segment: the link, or the encoder, which makes chunks at its own pace. */

import type { InFlight } from '../../abr/controller.ts';

/** A wrong announcement or a wrong clock can make chunks seem late by up to this. */
const MOST_LAG_SECONDS = 0.5;
/** The lag is that of the earliest arrival so far, plus this for every later chunk, so that it is forgotten. */
const LAG_GROWTH_SECONDS = 0.001;
/** Bits that came without a wait for this long show the link's rate. */
const MEASURED_SECONDS = 0.05;
/** The first bits after a wait count as this long on their way at least, because nobody saw them leave. */
const SHORTEST_TRANSFER_SECONDS = 0.01;

/** Chunks of a stream, as learnt from its downloads. One per session. */
export class LiveEdge {
  #chunkSeconds: number | undefined;
  #lagSeconds: number | undefined;

  /** Media per chunk, counted in the latest whole segment; undefined before, and if it came in one piece. */
  get chunkSeconds(): number | undefined {
    return this.#chunkSeconds;
  }

  /** How long after the announced time chunks can be received. Negative: before. */
  get lagSeconds(): number {
    return this.#lagSeconds ?? 0;
  }

  /** A segment has arrived whole, in this many chunks. */
  segmentEnded(segmentSeconds: number, chunks: number): void {
    this.#chunkSeconds = chunks > 0 ? segmentSeconds / chunks : undefined;
  }

  /** A chunk has arrived, this long after its announced time. */
  arrived(lagSeconds: number): void {
    this.#lagSeconds = Math.min(MOST_LAG_SECONDS, lagSeconds, (this.#lagSeconds ?? lagSeconds) + LAG_GROWTH_SECONDS);
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
  readonly #edge: LiveEdge;
  readonly #segment: LiveSegment;
  readonly #isWhole: boolean;
  /** Whole chunks. */
  #chunks = 0;
  /** Bits of the chunk after them have arrived. */
  #isInChunk = false;
  #bits = 0;
  #arrivedSeconds: number;
  #isLimited: boolean;
  #isAbandoned = false;
  #waitedSeconds = 0;
  #waitedBeforeFirstByteSeconds = 0;
  /** Transfer of all parts, as far as it is known. */
  #transferSeconds = 0;
  /** Parts that followed the one before without a wait for the encoder. */
  #measured = { bits: 0, seconds: 0 };

  constructor(edge: LiveEdge, segment: LiveSegment, requestedAtSeconds: number) {
    this.#edge = edge;
    this.#segment = segment;
    this.#arrivedSeconds = requestedAtSeconds;
    this.#isLimited = this.nextChunkAtSeconds > requestedAtSeconds;
    const { firstChunkAtSeconds, segmentSeconds } = segment;
    this.#isWhole = firstChunkAtSeconds + segmentSeconds - this.#chunkSeconds + MOST_LAG_SECONDS < requestedAtSeconds;
  }

  /** When the next chunk comes into being; in the past for one that the link has yet to deliver. */
  get nextChunkAtSeconds(): number {
    return this.#announcedSeconds(this.#chunks) + this.#edge.lagSeconds;
  }

  /** The times of the request as if its media had existed when it was sent. */
  withoutWaits<T extends Pick<InFlight, 'requestedAtSeconds' | 'firstByteAtSeconds'>>(request: T, now: number): T {
    const waitedSeconds = this.#waitedUntil(now);
    const moved = { ...request, requestedAtSeconds: request.requestedAtSeconds + waitedSeconds };
    if (request.firstByteAtSeconds === undefined) return moved;
    const afterFirstByteSeconds = waitedSeconds - this.#waitedBeforeFirstByteSeconds;
    return { ...moved, firstByteAtSeconds: request.firstByteAtSeconds + afterFirstByteSeconds };
  }

  /** The server answered that the segment does not exist yet. */
  refused(atSeconds: number): void {
    this.#waitedSeconds += atSeconds - this.#arrivedSeconds;
    this.#arrivedSeconds = atSeconds;
    this.#isLimited = true;
  }

  /** The body comes again from its first byte. What came of it before, and the time that it took, show nothing. */
  restarted(atSeconds: number): void {
    this.#waitedSeconds += atSeconds - this.#arrivedSeconds;
    this.#arrivedSeconds = atSeconds;
    this.#isLimited = true;
    this.#chunks = 0;
    this.#isInChunk = false;
    this.#bits = 0;
    this.#transferSeconds = 0;
    this.#measured = { bits: 0, seconds: 0 };
  }

  /**
   * `bits` arrived, and `chunks` chunks are whole since the last call; undefined if the body is not read in chunks. If the
   * encoder may have been the limit, the bits show a lower bound of the link's rate only; returns since when they were on
   * their way then, else undefined.
   */
  received(atSeconds: number, bits: number, chunks: number | undefined): number | undefined {
    const announced = this.#announcedSeconds(this.#chunks);
    const isFirst = this.#bits === 0;
    const isBound = !this.#isWhole && this.nextChunkAtSeconds > this.#arrivedSeconds && bits > 0;
    if (isBound) this.#isLimited = true;
    this.#waitedSeconds = this.#waitedUntil(atSeconds);
    if (isFirst) this.#waitedBeforeFirstByteSeconds = this.#waitedSeconds;
    const exists = Math.min(this.#existsSeconds, atSeconds - SHORTEST_TRANSFER_SECONDS);
    const sinceSeconds = Math.max(this.#arrivedSeconds, isBound ? exists : 0);
    this.#transferSeconds += atSeconds - sinceSeconds;
    if (!isBound && !isFirst && bits > 0) {
      this.#measured.bits += bits;
      this.#measured.seconds += atSeconds - sinceSeconds;
    }
    // The times of later chunks are known with their duration.
    const isTimed = this.#chunks === 0 || this.#edge.chunkSeconds !== undefined;
    if (bits > 0 && !this.#isInChunk && isTimed && !this.#isWhole) this.#edge.arrived(atSeconds - announced);
    this.#chunks += chunks ?? 0;
    this.#isInChunk = chunks === undefined || chunks === 0;
    this.#bits += bits;
    this.#arrivedSeconds = atSeconds;
    return isBound ? sinceSeconds : undefined;
  }

  /** The download ended, whole or not. */
  ended(atSeconds: number, isWhole: boolean): void {
    const { segmentSeconds } = this.#segment;
    if (isWhole) this.#edge.segmentEnded(segmentSeconds, this.#chunks);
    this.#isAbandoned = !isWhole;
    // What exists did not come.
    if (!isWhole) this.#transferSeconds += Math.max(0, atSeconds - Math.max(this.#arrivedSeconds, this.#existsSeconds));
  }

  /**
   * Duration of this download over the link alone, without waits for the encoder: at the rate of the bits that came
   * without a wait, if they show one. Otherwise the rate is a lower bound: undefined if it is below `knownBps`, because
   * then it says nothing.
   */
  linkSeconds(downloadSeconds: number, knownBps: number): number | undefined {
    if (!this.#isLimited) return downloadSeconds;
    if (this.#isAbandoned) return this.#transferSeconds;
    const { bits, seconds } = this.#measured;
    if (seconds >= MEASURED_SECONDS) return (this.#bits * seconds) / bits;
    return this.#bits / this.#transferSeconds >= knownBps ? this.#transferSeconds : undefined;
  }

  /** Time in which nothing more existed, until now. */
  #waitedUntil(nowSeconds: number): number {
    const untilSeconds = Math.min(nowSeconds, this.#existsSeconds);
    return this.#waitedSeconds + Math.max(0, this.#isWhole ? 0 : untilSeconds - this.#arrivedSeconds);
  }

  get #chunkSeconds(): number {
    return this.#edge.chunkSeconds ?? this.#segment.chunkSeconds;
  }

  /** When the next chunk exists at the earliest: a lag may be the link's, but not one below 0. */
  get #existsSeconds(): number {
    return this.#announcedSeconds(this.#chunks) + Math.min(0, this.#edge.lagSeconds);
  }

  /** Announced time of a chunk; none comes after the last. */
  #announcedSeconds(chunk: number): number {
    const { firstChunkAtSeconds, segmentSeconds } = this.#segment;
    const last = Math.round(segmentSeconds / this.#chunkSeconds) - 1;
    return firstChunkAtSeconds + Math.min(chunk, last) * this.#chunkSeconds;
  }
}
