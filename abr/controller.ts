/** What a controller is asked and what it answers. The same shapes in the browser, the simulator and the benchmark. */

import type { Forecast } from './forecast.ts';
import type { QoeWeights } from './qoe.ts';

/** One finished (or abandoned) media download, as it was measured. */
export interface Download {
  segmentIndex: number;
  bitrateBps: number;
  /** Bits that arrived: the whole segment, or the part that came before it was abandoned. */
  receivedBits: number;
  /** Size of the whole segment. */
  sizeBits: number;
  /** On the session's clock. */
  requestedAtSeconds: number;
  /** From the request to the last bit (or to the abandonment). */
  downloadSeconds: number;
  /** From the request to the first byte, where known. */
  latencySeconds?: number;
  abandoned: boolean;
}

/** Everything that a decision depends on. Arrays are read-only views: a controller keeps none of them. */
export interface PlayerState {
  /** The session's clock: seconds since the first media request. */
  nowSeconds: number;
  /** UTC in ms by the time source, and how far it may be off. Unknown: undefined. */
  utcMs?: number | undefined;
  utcUncertaintySeconds?: number | undefined;
  /** False until the first picture. */
  started: boolean;
  bufferLevelSeconds: number;
  /** A request is sent when buffer level + segment duration < this. */
  bufferCapSeconds: number;
  segmentSeconds: number;
  /** The segment to decide on, counted from 0. */
  segmentIndex: number;
  /** Segments left, that one included. `Infinity` when unknown. */
  segmentsRemaining: number;
  /** Bitrates of the representations that may be chosen, in bit/s, ascending, at least one. */
  ladderBps: readonly number[];
  /**
   * `upcomingSizesBits[k][representation]`: sizes of the segment to decide on (k = 0) and of those after it, as many as
   * are known and left (at least one row unless the stream has ended).
   */
  upcomingSizesBits: readonly (readonly number[])[];
  /** Bitrate of the segment before; undefined at the start and after a seek. It need not be in the ladder any more. */
  previousBitrateBps: number | undefined;
  /** Finished and abandoned downloads of this session, oldest first; at least the last 16 where there are as many. */
  downloads: readonly Download[];
  weights: QoeWeights;
}

/** A media download under way. */
export interface InFlight {
  segmentIndex: number;
  bitrateBps: number;
  sizeBits: number;
  requestedAtSeconds: number;
  receivedBits: number;
  /** When the first byte came, on the session's clock; undefined while none has. */
  firstByteAtSeconds?: number | undefined;
  /** When bits last arrived, on the session's clock; undefined while none has. */
  lastProgressAtSeconds?: number | undefined;
  /** How many times this segment was abandoned before. */
  abandonments: number;
  /** Bits of media asked for and of those thrown away in this session so far, for the limit on waste. */
  sessionRequestedBits?: number;
  sessionWastedBits?: number;
}

/** What a controller expected of one representation. */
export interface CandidateOutlook {
  bitrateBps: number;
  /** Over the controller's horizon, in units of QoE (undivided sum). */
  expectedQoe: number;
  /** Stall seconds over the horizon. */
  expectedStallSeconds: number;
}

/** A decision and its reason in numbers; what the demo and the logs show comes from here. */
export interface Decision {
  /** Index into the state's ladder. */
  representation: number;
  /** The controller that decided, in one word or two: `mpc-d`, `mpc-l`, `throughput` ... */
  controller: string;
  /** Compact and human-readable: what tipped the scale. */
  reason: string;
  /** The forecast that was used, and its age. */
  forecastSource?: string;
  forecastAgeSeconds?: number;
  /** Capacity that was planned on in bit/s, where it was one number. */
  plannedThroughputBps?: number;
  /** Per representation of the ladder, where the controller weighed them. */
  candidates?: readonly CandidateOutlook[];
  /** A handover was expected inside the horizon. */
  handoverInHorizon?: boolean;
}

/** A controller: deterministic, seeded, free of I/O and clocks. What it remembers it can recompute from the state. */
export interface Controller {
  readonly name: string;
  /** Chooses the representation of the next segment. */
  decide(state: PlayerState, forecast?: Forecast): Decision;
  /**
   * Asked on a timer while a segment downloads: keep it, or abandon it for the representation decided on. Absent where
   * the controller never abandons. The state is that of this moment, its `segmentIndex` the one in flight.
   */
  reconsider?(state: PlayerState, inFlight: InFlight, forecast?: Forecast): Decision | 'keep';
}
