/**
 * A live stream in every future: when its chunks arrive, and what playback makes of them. A chunk leaves when it exists
 * and the one before it has arrived, so a download at the live edge is a queue: its delay is what a live latency must
 * cover. Latency and buffer are one number there: a chunk that comes late by a second makes playback a second later.
 */

import type { InFlight, PlayerState } from '../../controller.ts';
import { changeCost } from '../../qoe/qoe.ts';
import { sizesAt } from '../../state/ladder.ts';
import { qualitiesAt } from '../../state/qualities.ts';
import { recentLatencySeconds } from '../../state/request-latency.ts';
import { stallCostsOf } from '../later-segments.ts';
import type { ResolvedMpcLOptions } from '../options.ts';
import type { Evaluation, Outcomes, PlannedRequest } from '../segment-outcomes.ts';
import type { LinkPaths } from './link-paths.ts';

/** Segments of a plan. */
const SEGMENTS = 3;
/** Representations of the plan's later segments below this one's, the same for all of them; each future takes the best. */
const LATER_STEPS = [0, 1, 2];
/** The queue at the plan's end may be as long as playback is later than this above its target: it has the buffer. */
const NEAR_SECONDS = 1.5;
/** Playback that is this near to its target is there. */
const NEAR_TARGET_SECONDS = 0.15;
/** A segment that begins late still has at least this share of its duration for its download. */
const LEAST_TIME_SHARE = 0.15;
/** Share of the aversion to risk in the price of a stall: more of it costs more quality than the stalls that it prevents. */
const RISK_SHARE = 0.5;
/** A page has a chunk in its buffer this long after its last byte (replay/simulator/README.md). */
const APPEND_SECONDS = 0.012;

/** Cost of a stall besides its duration, in seconds of stall. */
export function liveStallSeconds({ risk, tuning }: ResolvedMpcLOptions): number {
  return risk * tuning.liveStallSeconds;
}

/** `bits` are the bits of the first chunk that has not arrived. */
export interface LiveRequest extends PlannedRequest {
  chunk: number;
  /** Chunks of the segment in the buffer; playback does not wait for them. */
  buffered: number;
}

/** What became of playback in one future. */
interface PlayedFuture {
  score: number;
  /** Cost of all stalls, and of the delay of the plan's last chunk. */
  cost: number;
  /** Stall of the request's own segment. */
  stallSeconds: number;
}

export class LiveOutcomes implements Outcomes<LiveRequest> {
  private readonly _state: PlayerState;
  private readonly _options: ResolvedMpcLOptions;
  private readonly _link: LinkPaths;
  private readonly _latencySeconds: number;
  /** Seconds from now until the segment's first chunk exists. */
  private readonly _firstExistsSeconds: number;
  private readonly _chunkCount: number;
  private readonly _chunkSeconds: number;
  private readonly _qualities: readonly number[];
  private readonly _stallCosts: ReturnType<typeof stallCostsOf>;
  private readonly _sizesBits: (readonly number[])[] = [];

  constructor(state: PlayerState, options: ResolvedMpcLOptions, link: LinkPaths) {
    this._state = state;
    this._options = options;
    this._link = link;
    this._latencySeconds = recentLatencySeconds(state);
    this._firstExistsSeconds = state.live!.firstChunkAtSeconds - state.nowSeconds;
    this._chunkCount = Math.max(1, Math.round(state.segmentSeconds / state.live!.chunkSeconds));
    this._chunkSeconds = state.segmentSeconds / this._chunkCount;
    this._qualities = qualitiesAt(state, 0);
    this._stallCosts = stallCostsOf(state, { risk: RISK_SHARE * options.risk });
  }

  /** A request for the whole segment, sent once its first chunk exists and the player has loaded what it needs before. */
  newRequest(representation: number, instead?: LiveRequest): LiveRequest {
    const buffered = instead?.buffered || 0;
    const bits = this._chunkBits(0, representation);
    const { setupSeconds = [] } = this._state;
    const latencySeconds =
      this._latencySeconds + Math.max(0, (setupSeconds[representation] || 0) - Math.max(0, this._firstExistsSeconds));
    return { representation, chunk: 0, bits, latencySeconds, buffered };
  }

  running({ sizeBits, receivedBits, firstByteAtSeconds }: InFlight, representation: number): LiveRequest {
    const chunkBits = sizeBits / this._chunkCount;
    const chunk = Math.min(this._chunkCount - 1, Math.floor(receivedBits / chunkBits));
    return {
      representation,
      chunk,
      bits: Math.max(0, (chunk + 1) * chunkBits - receivedBits),
      latencySeconds: firstByteAtSeconds === undefined ? this._latencySeconds : 0,
      buffered: chunk,
    };
  }

  /** Whether it is expected to stall playback for a time that is worth a switch. */
  isLate(running: LiveRequest): boolean {
    // Later segments do not change the stall.
    return this.evaluate(running, 1).stallSeconds >= this._options.tuning.liveLateSeconds;
  }

  /**
   * As `SegmentOutcomes.evaluate`; the score is QoE of live streams (LoL+'s), summed over the plan. A second by which its
   * last chunk is late counts as one of stall. `segments`: of the plan.
   */
  evaluate(request: LiveRequest, segments = SEGMENTS): Evaluation {
    const { weights, segmentSeconds } = this._state;
    let score = 0;
    let stallSeconds = 0;
    const count = segments * this._chunkCount - request.buffered;
    for (let f = 0; f < this._link.count; f++) {
      let best: PlayedFuture | undefined;
      for (const steps of LATER_STEPS) {
        if (steps > (segments > 1 ? request.representation : 0)) break;
        const played = this._play(f, request, { count, later: request.representation - steps });
        if (best === undefined || played.score > best.score) best = played;
        // Nothing stalls, so lower bitrates would only lower the quality.
        if (played.cost === 0) break;
      }
      score += best!.score / this._link.count;
      stallSeconds += best!.stallSeconds / this._link.count;
    }
    const quality = this._qualities[request.representation]!;
    const qoe = quality - (weights.mu * stallSeconds) / segmentSeconds;
    return { score, qoe, stallSeconds, laterQoe: score / segmentSeconds - qoe };
  }

  /** The latency at which each of the next `count` chunks plays in time: `[future * count + chunk]`. */
  neededLatencySeconds(request: LiveRequest, count: number): Float64Array {
    const needed = new Float64Array(this._link.count * count);
    for (let f = 0; f < this._link.count; f++) {
      this._play(f, request, { count, needed: needed.subarray(f * count, (f + 1) * count) });
    }
    return needed;
  }

  /** `later`: representation of the later segments. Without it they follow the link. */
  private _play(
    future: number,
    request: LiveRequest,
    { count, later, needed }: { count: number; later?: number; needed?: Float64Array },
  ): PlayedFuture {
    const { segmentSeconds, weights, playbackRate, started, isPaused, bufferLevelSeconds, live } = this._state;
    const link = this._link;
    const chunkCount = this._chunkCount;
    const chunkSeconds = this._chunkSeconds;
    const qualities = this._qualities;
    const firstExists = this._firstExistsSeconds;
    const { previousBitrateBps: before } = this._state;
    let previous = before === undefined ? Number.NaN : weights.quality(before);
    let quality = 0;
    let stalls = 0;
    let stalled = 0;
    let ownStall = 0;
    let isWaiting = !started;
    // When playback needs the next chunk.
    let due = started ? (bufferLevelSeconds - this._options.tuning.stallLevelSeconds) / playbackRate : 0;
    // Below the target, slow playback and the first stall lead to it: a bitrate is chosen as if playback were there.
    if (started && !needed) due += Math.max(0, live!.targetLatencySeconds - live!.latencySeconds - NEAR_TARGET_SECONDS);
    let representation = request.representation;
    let at = 0;
    let left = count;
    link.begin();
    for (let k = 0; left > 0; k++) {
      const exists = firstExists + k * segmentSeconds;
      if (k > 0) representation = later ?? this._laterRepresentation(future, k, at, exists);
      if (!needed) {
        const q = qualities[representation]!;
        quality += q * segmentSeconds - changeCost(weights, previous, q);
        previous = q;
      }
      const chunkBits = this._chunkBits(k, representation);
      const first = k === 0 ? request.chunk : 0;
      if (first === 0) at = Math.max(at, exists);
      at += k === 0 ? request.latencySeconds : this._latencySeconds;
      for (let chunk = first; chunk < chunkCount && left > 0; chunk++) {
        const isPartial = k === 0 && chunk === request.chunk;
        at = link.arrivalSeconds(
          future,
          Math.max(at, exists + chunk * chunkSeconds),
          isPartial ? request.bits : chunkBits,
        );
        if (k === 0 && chunk < request.buffered) continue;
        const arrival = at + APPEND_SECONDS;
        if (isWaiting) due = arrival;
        isWaiting = false;
        if (needed) needed[count - left] = live!.latencySeconds + arrival - due + stalled;
        left--;
        if (arrival > due) {
          stalls++;
          stalled += arrival - due;
          due = arrival;
        }
        due += chunkSeconds;
      }
      at += APPEND_SECONDS;
      if (k === 0 && !isPaused) ownStall = stalled;
    }
    const end = firstExists + Math.ceil((count + request.buffered) / chunkCount) * segmentSeconds - chunkSeconds;
    const cost = this._stallCost(stalls, stalled, at - end);
    return { score: quality - cost, cost, stallSeconds: ownStall };
  }

  /** `queueSeconds`: from the time at which the plan's last chunk exists to its arrival. */
  private _stallCost(stalls: number, stallSeconds: number, queueSeconds: number): number {
    const { weights, live } = this._state;
    const excessSeconds = live!.latencySeconds + stallSeconds - live!.targetLatencySeconds - NEAR_SECONDS;
    const lateSeconds = Math.max(0, queueSeconds - Math.max(0, excessSeconds));
    const { mu, stall } = this._stallCosts;
    return mu * (stallSeconds + lateSeconds) + (stall + weights.mu * liveStallSeconds(this._options)) * stalls;
  }

  /** The highest bitrate that the link recently carried in this future, less what is late. */
  private _laterRepresentation(future: number, k: number, freeSeconds: number, existsSeconds: number): number {
    const { segmentSeconds } = this._state;
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

  private _chunkBits(k: number, representation: number): number {
    return this._sizes(k)[representation]! / this._chunkCount;
  }
}
