/** The live stream of a session: its chunks, waits for its encoder, place of playback, and part of a controller's state. */

import type { InFlight, LiveState } from '../../abr/controller.ts';
import { countRate, type OffRate } from '../../abr/qoe/off-rate.ts';
import type { LiveMedia, LivePosition, Situation } from '../player-port.ts';

/** A wrong announcement or clock can make chunks seem late by up to this. */
const MOST_LAG_SECONDS = 0.5;
/** The lag is the least lag of an arrival, plus this for every later chunk, so that old minima expire. */
const LAG_GROWTH_SECONDS = 0.001;
/** Bits that arrived without a wait for this long show the link's rate. */
const MEASURED_SECONDS = 0.05;
/** The recent rate of a download is over at most the longer time, and known after the shorter one. */
const RECENT_SECONDS = 1;
const LEAST_RECENT_SECONDS = 0.25;
/** Least transfer time of the first bits after a wait, whose departure is unknown. */
const SHORTEST_TRANSFER_SECONDS = 0.01;
/** A chunk has a picture at least. With far shorter ones, no plan would end. */
const LEAST_CHUNK_SECONDS = 0.01;
/** Beyond the target. A viewer who goes back further wants to watch from there. */
const BACK_SECONDS = 12;

export class LiveStream {
  /** Audio and video have encoders of their own. */
  private readonly _videoEdge = new LiveEdge();
  private readonly _audioEdge = new LiveEdge();
  /** Undefined before the first pace. */
  private _offRate: OffRate | undefined;
  /** Position at the last tick of the pacing; `Infinity` before the first. */
  private _positionSeconds = Number.POSITIVE_INFINITY;
  private _isBack = false;
  /** Media of the stream were requested, so it is the stream that plays, until it becomes one on demand. */
  isPlaying = false;

  /** Media per chunk of video. */
  chunkSeconds({ playback, live }: Situation): number {
    return this._videoEdge.chunkSeconds ?? announcedSeconds(playback.segmentSeconds, live!.firstChunkSeconds);
  }

  /** Media are requested at this time of the session's clock; returns how they wait for the encoder. */
  requested(media: LiveMedia, isVideo: boolean, atSeconds: number): LiveWaits {
    const { startSeconds, segmentSeconds, nowSeconds, firstChunkSeconds } = media;
    const chunkSeconds = announcedSeconds(segmentSeconds, firstChunkSeconds);
    const firstChunkAtSeconds = atSeconds + startSeconds + Math.min(segmentSeconds, firstChunkSeconds) - nowSeconds;
    this.isPlaying = true;
    const edge = isVideo ? this._videoEdge : this._audioEdge;
    return new LiveWaits(edge, { segmentSeconds, chunkSeconds, firstChunkAtSeconds }, atSeconds);
  }

  /** The stream plays at this rate now. */
  played(nowSeconds: number, playbackRate: number): void {
    this._offRate = countRate(nowSeconds, playbackRate, this._offRate);
  }

  /** The viewer has gone back, by a seek, at the start, or by a pause that ends in no jump: the player sets the rate. */
  goesBack(live: LivePosition, isPaused: boolean): boolean {
    const { nowSeconds, latencySeconds, targetLatencySeconds, maxLatencySeconds } = live;
    const positionSeconds = nowSeconds - latencySeconds;
    const isStep = positionSeconds < this._positionSeconds - 1 || (isPaused && maxLatencySeconds === Infinity);
    const isLate = latencySeconds > Math.min(maxLatencySeconds, targetLatencySeconds + BACK_SECONDS);
    this._positionSeconds = positionSeconds;
    this._isBack = isLate && (this._isBack || isStep);
    return this._isBack;
  }

  /** At the live edge, the buffer ends before the segment that does not exist yet. */
  atEdge(situation: Situation): Situation {
    const { playback, playableUntilSeconds } = situation;
    const live = situation.live!;
    const untilEdge = live.latencySeconds - live.firstChunkSeconds + playback.segmentSeconds;
    return {
      ...situation,
      playback: { ...playback, bufferCapSeconds: Math.min(playback.bufferCapSeconds, untilEdge) },
      // Before the first picture, the playhead is not yet at the join position.
      playableUntilSeconds: Math.max(playableUntilSeconds, live.nowSeconds - live.latencySeconds),
    };
  }

  /** `startSeconds`: of the segment to decide on, in the presentation. */
  state(situation: Situation, startSeconds: number, nowSeconds: number): LiveState {
    const { nowSeconds: captured, firstChunkSeconds, isPaceable: _, ...rest } = situation.live!;
    return {
      ...rest,
      offRateShare: this._offRate?.share || 0,
      chunkSeconds: this.chunkSeconds(situation),
      firstChunkAtSeconds: nowSeconds + startSeconds + firstChunkSeconds - captured,
    };
  }
}

/** Media per chunk, as announced: a segment that exists before it is captured is whole. */
function announcedSeconds(segmentSeconds: number, firstChunkSeconds: number): number {
  return firstChunkSeconds < LEAST_CHUNK_SECONDS ? segmentSeconds : Math.min(segmentSeconds, firstChunkSeconds);
}

/** A session's knowledge of the stream's chunks, learnt from its downloads. */
export class LiveEdge {
  /** Media per chunk of the latest whole segment; undefined before it, and if it came in one piece. */
  chunkSeconds: number | undefined;
  /** Seconds from the announced time of chunks to their first possible reception; may be negative. Undefined before. */
  lagSeconds: number | undefined;

  segmentEnded(segmentSeconds: number, chunks: number): void {
    this.chunkSeconds = chunks > 0 ? Math.max(LEAST_CHUNK_SECONDS, segmentSeconds / chunks) : undefined;
  }

  /** A chunk has arrived this long after its announced time. */
  arrived(lagSeconds: number): void {
    this.lagSeconds = Math.min(MOST_LAG_SECONDS, lagSeconds, (this.lagSeconds ?? lagSeconds) + LAG_GROWTH_SECONDS);
  }
}

export interface LiveSegment {
  /** Announced time of the first chunk on the session's clock. */
  firstChunkAtSeconds: number;
  segmentSeconds: number;
  /** Announced media per chunk; `segmentSeconds` without an announcement. */
  chunkSeconds: number;
}

/**
 * Finds what limited the download of a live segment: the link, or the encoder, which makes chunks at its own pace. Times
 * are of the session's clock.
 */
export class LiveWaits {
  /** The whole segment existed at the request. */
  private readonly _isWhole: boolean;
  private readonly _lagSeconds: number | undefined;
  private _chunks = 0;
  /** Bits of the next chunk that have arrived. */
  private _nextBits = 0;
  private _bits = 0;
  private _arrivedSeconds: number;
  private _isLimited: boolean;
  private _isAbandoned = false;
  private _waitedSeconds = 0;
  private _waitedBeforeFirstByteSeconds = 0;
  private _transferSeconds = 0;
  /** Parts that arrived without a wait for the encoder. */
  private _measured = { bits: 0, seconds: 0 };
  /** The bits until some moments of the last second, whose times are without waits. */
  private _marks: { atSeconds: number; bits: number }[] = [];

  constructor(
    private readonly _edge: LiveEdge,
    private readonly _segment: LiveSegment,
    requestedAtSeconds: number,
  ) {
    this._lagSeconds = _edge.lagSeconds;
    this._arrivedSeconds = requestedAtSeconds;
    this._isLimited = this.nextChunkAtSeconds > requestedAtSeconds;
    const { firstChunkAtSeconds, segmentSeconds } = _segment;
    this._isWhole = firstChunkAtSeconds + segmentSeconds - this._chunkSeconds + MOST_LAG_SECONDS < requestedAtSeconds;
  }

  /** Time at which the next chunk comes into being; in the past if the link has yet to deliver it. */
  get nextChunkAtSeconds(): number {
    return this._announcedSeconds(this._chunks) + (this._edge.lagSeconds || 0);
  }

  /** Moves the times of the request as if its media had existed when it was sent. Adds its recent rate and its chunks. */
  withoutWaits<T extends Pick<InFlight, 'requestedAtSeconds' | 'firstByteAtSeconds' | 'recent' | 'chunks'>>(
    request: T,
    now: number,
  ): T {
    const waitedSeconds = this._waitedUntil(now);
    const moved = { ...request, requestedAtSeconds: request.requestedAtSeconds + waitedSeconds };
    // Announced chunks may be longer.
    if (this._chunks > 0 && this._edge.chunkSeconds) {
      moved.chunks = { whole: this._chunks, nextBits: this._nextBits };
    }
    const first = this._recentMarks(now - waitedSeconds)[0];
    const seconds = first ? now - waitedSeconds - first.atSeconds : 0;
    if (seconds >= LEAST_RECENT_SECONDS) moved.recent = { bps: (this._bits - first!.bits) / seconds, seconds };
    if (request.firstByteAtSeconds === undefined) return moved;
    const afterFirstByteSeconds = waitedSeconds - this._waitedBeforeFirstByteSeconds;
    return { ...moved, firstByteAtSeconds: request.firstByteAtSeconds + afterFirstByteSeconds };
  }

  /** The waits of the request if it is sent again. What has arrived may be the text of a refusal. */
  again(atSeconds: number): LiveWaits {
    this._edge.lagSeconds = this._lagSeconds;
    return new LiveWaits(this._edge, this._segment, atSeconds);
  }

  /**
   * `bits` arrived, and `chunks` became whole since the last call; undefined if the body is not read in chunks. If the
   * encoder may have been the limit, so that the bits show only a lower bound of the link's rate, returns the time
   * since which they were on their way, else undefined.
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
    // The times of later chunks follow from the duration of chunks.
    const isTimed = this._chunks === 0 || this._edge.chunkSeconds !== undefined;
    if (bits > 0 && this._nextBits === 0 && isTimed && !this._isWhole) this._edge.arrived(atSeconds - announced);
    this._chunks += chunks || 0;
    this._nextBits = chunks ? 0 : this._nextBits + bits;
    this._bits += bits;
    this._arrivedSeconds = atSeconds;
    const mark = { atSeconds: atSeconds - this._waitedSeconds, bits: this._bits };
    this._recentMarks(mark.atSeconds).push(mark);
    return isBound ? sinceSeconds : undefined;
  }

  /** The download ended, whole or not. */
  ended(atSeconds: number, isWhole: boolean): void {
    const { segmentSeconds } = this._segment;
    if (isWhole) this._edge.segmentEnded(segmentSeconds, this._chunks);
    this._isAbandoned = !isWhole;
    // Existing media did not arrive.
    if (!isWhole) this._transferSeconds += Math.max(0, atSeconds - Math.max(this._arrivedSeconds, this._existsSeconds));
  }

  /**
   * Duration of this download without waits for the encoder, at the rate of the bits that arrived without a wait. If no
   * bits did, the rate is a lower bound; undefined if this bound is below `knownBps`, because it then says nothing.
   */
  linkSeconds(downloadSeconds: number, knownBps: number): number | undefined {
    if (!this._isLimited) return downloadSeconds;
    if (this._isAbandoned) return this._transferSeconds;
    const { bits, seconds } = this._measured;
    if (seconds >= MEASURED_SECONDS) return (this._bits * seconds) / bits;
    return this._bits / this._transferSeconds >= knownBps ? this._transferSeconds : undefined;
  }

  /** The marks without those that are too old, except the newest of these. */
  private _recentMarks(nowSeconds: number): { atSeconds: number; bits: number }[] {
    const marks = this._marks;
    while (marks.length > 1 && marks[1]!.atSeconds <= nowSeconds - RECENT_SECONDS) marks.shift();
    return marks;
  }

  /** Waited time until `nowSeconds`. */
  private _waitedUntil(nowSeconds: number): number {
    const untilSeconds = Math.min(nowSeconds, this._existsSeconds);
    return this._waitedSeconds + Math.max(0, this._isWhole ? 0 : untilSeconds - this._arrivedSeconds);
  }

  private get _chunkSeconds(): number {
    return this._edge.chunkSeconds || this._segment.chunkSeconds;
  }

  /** Earliest time at which the next chunk exists: a lag above 0 may be the link's. */
  private get _existsSeconds(): number {
    return this._announcedSeconds(this._chunks) + Math.min(0, this._edge.lagSeconds || 0);
  }

  /** Announced time of a chunk; later chunks than the last count as the last. */
  private _announcedSeconds(chunk: number): number {
    const { firstChunkAtSeconds, segmentSeconds } = this._segment;
    const last = Math.round(segmentSeconds / this._chunkSeconds) - 1;
    return firstChunkAtSeconds + Math.min(chunk, last) * this._chunkSeconds;
  }
}
