/**
 * A live stream in every future: the arrivals of its chunks, and their effect on playback. A chunk leaves when it
 * exists and the chunk before it has arrived, so a download at the live edge is a queue, whose delay the live latency
 * must cover. If a chunk is late by a second, playback stalls and its latency grows by a second.
 */

import type { InFlight, PlayerState } from '../../controller.ts';
import { beginShare, changeCost, SAME_FREEZE_SECONDS, type StallPrices } from '../../qoe/qoe.ts';
import { previousQuality, qualitiesAt, recentLatencySeconds, sizesAt, worthsAt } from '../../state/facts.ts';
import type { ResolvedMpcLOptions } from '../options.ts';
import type { Evaluation, Outcomes, PlannedRequest } from '../segment-outcomes.ts';
import type { LinkPaths } from './link-paths.ts';

/** Segments of a plan. */
const SEGMENTS = 4;
/** The later segments share a representation, at most this many below the first segment's. Each future takes the best. */
const MOST_STEPS = 2;
/** Chunks of a segment in the plan; longer segments have longer ones. */
const MOST_CHUNKS = 1000;
/** What playback is further than this behind live is buffer that covers a queue at the plan's end. */
const NEAR_SECONDS = 2.5;
/** Playback this near to its target counts as at the target. */
const NEAR_TARGET_SECONDS = 0.15;
/** A segment that begins late still has this share of its duration for its download. */
const LEAST_TIME_SHARE = 0.15;
/** Objectives in bitrates price no begin. Without one, playback would freeze at each chunk. In seconds of stall at risk 1. */
const BEGIN_SECONDS = 12;
/** A chunk is in a page's buffer this long after its last byte (replay/simulator/README.md). */
const APPEND_SECONDS = 0.012;

/**
 * What a plan counts for a second of stall, and for a freeze's begin: the objective's prices, because an aversion to
 * risk costs more quality than the prevented stalls are worth.
 */
export function liveStallCosts(
  { weights: { mu, stall } }: PlayerState,
  { risk }: ResolvedMpcLOptions,
): Required<StallPrices> {
  return { mu, stall: stall || BEGIN_SECONDS * risk * mu };
}

/** `bits` are what remains of `chunk`, the first chunk that has not arrived. */
export interface LiveRequest extends PlannedRequest {
  chunk: number;
  /** Chunks of the segment in the buffer, for which playback does not wait. */
  buffered: number;
}

export class LiveOutcomes implements Outcomes<LiveRequest> {
  private readonly _latencySeconds: number;
  /** Seconds from now until the segment's first chunk exists. */
  private readonly _firstExistsSeconds: number;
  private readonly _chunkCount: number;
  private readonly _chunkSeconds: number;
  private readonly _qualities: readonly number[];
  private readonly _worths: readonly number[];
  private readonly _stallCosts: Required<StallPrices>;
  private readonly _sizesBits: (readonly number[])[] = [];
  /** The played future: when its link is free, when playback needs the next chunk, its stalled time, chunks to come. */
  private _at = 0;
  private _due = 0;
  private _stalled = 0;
  private _left = 0;
  /** Begins of earlier freezes, the length of the latest freeze, and the second at which it ended. */
  private _begins = 0;
  private _frozen = 0;
  private _frozenUntil = 0;

  constructor(
    private readonly _state: PlayerState,
    private readonly _options: ResolvedMpcLOptions,
    private readonly _link: LinkPaths,
  ) {
    this._latencySeconds = recentLatencySeconds(_state);
    this._firstExistsSeconds = _state.live!.firstChunkAtSeconds - _state.nowSeconds;
    const chunkCount = Math.round(_state.segmentSeconds / _state.live!.chunkSeconds);
    this._chunkCount = Math.max(1, Math.min(MOST_CHUNKS, chunkCount));
    this._chunkSeconds = _state.segmentSeconds / this._chunkCount;
    this._qualities = qualitiesAt(_state, 0);
    this._worths = worthsAt(_state, 0);
    this._stallCosts = liveStallCosts(_state, _options);
  }

  /** The request leaves when its first chunk exists and the player has loaded what it needs. */
  newRequest(representation: number, instead?: LiveRequest): LiveRequest {
    const buffered = instead?.buffered || 0;
    const bits = this._sizes(0)[representation]! / this._chunkCount;
    const { setupSeconds = [] } = this._state;
    const latencySeconds =
      this._latencySeconds + Math.max(0, (setupSeconds[representation] || 0) - Math.max(0, this._firstExistsSeconds));
    return { representation, chunk: 0, bits, latencySeconds, buffered };
  }

  running({ sizeBits, receivedBits, firstByteAtSeconds, chunks }: InFlight, representation: number): LiveRequest {
    const chunkBits = sizeBits / this._chunkCount;
    const whole = chunks ? chunks.whole : Math.floor(receivedBits / chunkBits);
    const nextBits = chunks ? chunks.nextBits : receivedBits % chunkBits;
    const chunk = Math.min(this._chunkCount - 1, whole);
    return {
      representation,
      chunk,
      bits: Math.max(0, (chunk + 1 - whole) * chunkBits - nextBits),
      latencySeconds: firstByteAtSeconds === undefined ? this._latencySeconds : 0,
      buffered: chunk,
    };
  }

  /** Seconds of stalls for the request's segment in the first future. */
  stallSeconds(request: LiveRequest): number {
    return this._begin(0, request, this._chunkCount - request.buffered);
  }

  /** Whether the download is expected to stall playback for `liveLateSeconds`. */
  isLate(running: LiveRequest): boolean {
    let stallSeconds = 0;
    for (let f = 0; f < this._link.count; f++) stallSeconds += this._begin(f, running, this._chunkCount);
    return stallSeconds >= this._options.tuning.liveLateSeconds * this._link.count;
  }

  /** The score is LoL+'s QoE, summed over the plan. A second of delay of the last chunk counts as a second of stall. */
  evaluate(request: LiveRequest): Evaluation {
    const { weights, segmentSeconds } = this._state;
    const { representation, buffered } = request;
    const { count } = this._link;
    const { _qualities: qualities, _worths: worths } = this;
    const quality = qualities[representation]!;
    const worth = worths[representation]!;
    const own = worth * segmentSeconds - changeCost(weights, previousQuality(this._state, qualities), quality);
    const end = this._firstExistsSeconds + SEGMENTS * segmentSeconds - this._chunkSeconds;
    let score = 0;
    let stallSeconds = 0;
    for (let f = 0; f < count; f++) {
      stallSeconds += this._begin(f, request, SEGMENTS * this._chunkCount - buffered) / count;
      const { _at: at, _due: due, _stalled: stalled, _left: left } = this;
      const { _begins: begins, _frozen: frozen, _frozenUntil: frozenUntil } = this;
      const least = this._stallCost(0);
      let best = Number.NEGATIVE_INFINITY;
      for (let later = representation; later >= 0 && later >= representation - MOST_STEPS; later--) {
        const gain =
          own + (SEGMENTS - 1) * worths[later]! * segmentSeconds - changeCost(weights, quality, qualities[later]!);
        // Even without stalls of the later segments this is no better.
        if (gain - least <= best) continue;
        this._at = at;
        this._due = due;
        this._stalled = stalled;
        this._left = left;
        this._begins = begins;
        this._frozen = frozen;
        this._frozenUntil = frozenUntil;
        for (let k = 1; k < SEGMENTS; k++) this._load(f, k, later);
        best = Math.max(best, gain - this._stallCost(this._at - end));
      }
      score += best / count;
    }
    const qoe = worth - (weights.mu * stallSeconds) / segmentSeconds;
    return { score, qoe, stallSeconds, laterQoe: score / segmentSeconds - qoe };
  }

  /** The latency at which each of the next `count` chunks plays in time: `[future * count + chunk]`. */
  neededLatencySeconds(request: LiveRequest, count: number): Float64Array {
    const needed = new Float64Array(this._link.count * count);
    for (let f = 0; f < this._link.count; f++) {
      this._begin(f, request, count, needed);
      for (let k = 1; this._left > 0; k++) this._load(f, k, this._laterRepresentation(f, k), undefined, needed);
    }
    return needed;
  }

  /** Plays the request's chunks, the first of `count`, in one future. Returns the seconds of stalls for them. */
  private _begin(future: number, request: LiveRequest, count: number, needed?: Float64Array): number {
    const { playbackRate, started, isPaused, bufferLevelSeconds, live } = this._state;
    this._at = 0;
    this._left = count;
    this._stalled = 0;
    this._begins = 0;
    this._frozen = 0;
    this._frozenUntil = Number.NEGATIVE_INFINITY;
    this._due = Number.NaN;
    if (started) {
      this._due = (bufferLevelSeconds - this._options.tuning.stallLevelSeconds) / playbackRate;
      // Below the target, slow playback and the first stall lead to it, so a bitrate is chosen as if at the target.
      if (!needed) this._due += Math.max(0, live!.targetLatencySeconds - live!.latencySeconds - NEAR_TARGET_SECONDS);
    }
    this._load(future, 0, request.representation, request, needed);
    return isPaused ? 0 : this._stalled;
  }

  /** Plays the chunks of the k-th segment. `request`: its request, if it is the first segment. */
  private _load(future: number, k: number, representation: number, request?: LiveRequest, needed?: Float64Array): void {
    const link = this._link;
    const chunkSeconds = this._chunkSeconds;
    const bits = this._sizes(k)[representation]! / this._chunkCount;
    const first = request ? request.chunk : 0;
    const place = (future + 1) * (needed ? needed.length / link.count : 0);
    let exists = this._firstExistsSeconds + k * this._state.segmentSeconds;
    let { _due: due, _stalled: stalled, _left: left } = this;
    let at = first > 0 ? this._at : Math.max(this._at, exists);
    at += request ? request.latencySeconds : this._latencySeconds;
    exists += first * chunkSeconds;
    for (let chunk = first; chunk < this._chunkCount && left > 0; chunk++, exists += chunkSeconds) {
      at = link.arrivalSeconds(future, Math.max(at, exists), request && chunk === first ? request.bits : bits);
      if (request && chunk < request.buffered) continue;
      const arrival = at + APPEND_SECONDS;
      // Playback begins with the first chunk.
      if (Number.isNaN(due)) due = arrival;
      if (needed) needed[place - left] = this._state.live!.latencySeconds + arrival - due + stalled;
      left--;
      if (arrival > due) {
        if (due - this._frozenUntil > SAME_FREEZE_SECONDS) {
          this._begins += beginShare(this._frozen);
          this._frozen = 0;
        }
        this._frozen += arrival - due;
        this._frozenUntil = arrival;
        stalled += arrival - due;
        due = arrival;
      }
      due += chunkSeconds;
    }
    this._at = at + APPEND_SECONDS;
    this._due = due;
    this._stalled = stalled;
    this._left = left;
  }

  /** Cost of the stalls so far, and of the delay of the plan's last chunk, `queueSeconds` after it exists. */
  private _stallCost(queueSeconds: number): number {
    const live = this._state.live!;
    const excessSeconds = live.latencySeconds + this._stalled - NEAR_SECONDS;
    const lateSeconds = Math.max(0, queueSeconds - Math.max(0, excessSeconds));
    const { mu, stall } = this._stallCosts;
    return mu * (this._stalled + lateSeconds) + stall * (this._begins + beginShare(this._frozen));
  }

  /** The highest bitrate that the link recently carried in this future, less the time by which the segment is late. */
  private _laterRepresentation(future: number, k: number): number {
    const { segmentSeconds } = this._state;
    const freeSeconds = this._at;
    const existsSeconds = this._firstExistsSeconds + k * segmentSeconds;
    const from = Math.max(0, freeSeconds - segmentSeconds);
    const bits = this._link.bitsUntil(future, freeSeconds) - this._link.bitsUntil(future, from);
    const capacityBps = bits / Math.max(this._chunkSeconds / 2, freeSeconds - from);
    const lateSeconds = Math.max(0, freeSeconds - existsSeconds);
    const most = capacityBps * Math.max(LEAST_TIME_SHARE * segmentSeconds, segmentSeconds - lateSeconds);
    const sizes = this._sizes(k);
    let representation = sizes.length - 1;
    while (representation > 0 && sizes[representation]! > most) representation--;
    return representation;
  }

  private _sizes(k: number): readonly number[] {
    this._sizesBits[k] ||= sizesAt(this._state, k);
    return this._sizesBits[k];
  }
}
