/** The input and the output of a controller: the same shapes in the browser, the simulator and the benchmark. */

import type { ValidForecast } from './forecast.ts';
import type { QoeWeights } from './qoe/qoe.ts';

/** One finished or abandoned media download, as measured. */
export interface Download {
  segmentIndex: number;
  bitrateBps: number;
  /** Bits that arrived: the whole segment, or the part that arrived before it was abandoned. */
  receivedBits: number;
  /** Size of the whole segment. */
  sizeBits: number;
  /** Time of the request on the session's clock. */
  requestedAtSeconds: number;
  /** Seconds from the request to the last bit, or to the abandonment. */
  downloadSeconds: number;
  /** Seconds from the request to the first byte; absent if unknown. */
  latencySeconds?: number;
  abandoned: boolean;
}

/** A state holds at least this many of the last downloads, and no controller looks back further. */
export const RECENT_DOWNLOADS = 16;

/** Everything that a decision depends on. Arrays are read-only views; a controller keeps none of them. */
export interface PlayerState {
  /** The session's clock: seconds since the first media request. */
  nowSeconds: number;
  /** UTC in ms from the time source, and its uncertainty; undefined where unknown. */
  utcMs?: number | undefined;
  utcUncertaintySeconds?: number | undefined;
  /** False until media is buffered or playback begins. */
  started: boolean;
  /** Seconds of media that play per second of the clock, > 0. The buffer drains at this rate. */
  playbackRate: number;
  /** The viewer has paused. Until playback resumes the buffer does not drain, so nothing stalls. */
  isPaused: boolean;
  /** Buffered media in seconds. Buffer levels and segment durations are seconds of media, not of the clock. */
  bufferLevelSeconds: number;
  /** A request is sent when buffer level + segment duration < this. */
  bufferCapSeconds: number;
  segmentSeconds: number;
  /** Duration of the segment to decide on (index 0) and of each known segment after it. Default: all last `segmentSeconds`. */
  upcomingSeconds?: readonly number[];
  /** Index of the segment to decide on, from 0. */
  segmentIndex: number;
  /** Segments left, including that one; `Infinity` where unknown. */
  segmentsRemaining: number;
  /** Bitrates of the available representations in bit/s, ascending, at least one. */
  ladderBps: readonly number[];
  /**
   * `upcomingSizesBits[k][representation]`: sizes of the segment to decide on (k = 0) and of the segments after it, as
   * far as they are known; at least one row unless the stream has ended.
   */
  upcomingSizesBits: readonly (readonly number[])[];
  /**
   * `upcomingQualities[k][representation]`: qualities of the same segments, in the unit of `weights.quality`. Where this is
   * absent, `weights.quality` gives them.
   */
  upcomingQualities?: readonly (readonly number[])[];
  /**
   * Per representation: seconds from the decision until the segment can be requested, for what the player has to load
   * first (a playlist in HLS); it may do so while the encoder works. Default: none.
   */
  setupSeconds?: readonly number[];
  /** Bitrate of the previous segment; undefined at the start and after a seek. The ladder may have lost it. */
  previousBitrateBps: number | undefined;
  /** Finished and abandoned downloads of this session, oldest first; at least the last `RECENT_DOWNLOADS`. */
  downloads: readonly Download[];
  weights: QoeWeights;
  /** The position in a live stream; absent on demand. */
  live?: LiveState;
}

/** Where playback is in a live stream, and when media comes into being. */
export interface LiveState {
  /** From the capture of the picture on screen to now; before the first picture the target. */
  latencySeconds: number;
  targetLatencySeconds: number;
  /** Media per chunk; equal to `segmentSeconds` for whole segments. */
  chunkSeconds: number;
  /** Bounds of the playback rate that the viewer or the stream allows, around 1. */
  playbackRates: { min: number; max: number };
  /** Latency in seconds above which playback jumps to the target. */
  maxLatencySeconds: number;
  /** The controller may choose the target (`targetLatencySeconds: 'auto'`); the given target is the stream's. */
  isTargetFree?: boolean;
  /**
   * Share of about the last minute (time constant 60 s) at a rate that can be noticed, 0.01 or more off 1; 0 to 1. It
   * counts the time in which a controller paces, up to the last `pace` (off-rate.ts). Default 0.
   */
  offRateShare?: number;
  /**
   * When the first chunk of the segment to decide on can be requested, on the session's clock. Each later chunk follows
   * after `chunkSeconds`, each later segment after `segmentSeconds`.
   */
  firstChunkAtSeconds: number;
}

/** A running media download. */
export interface InFlight {
  segmentIndex: number;
  bitrateBps: number;
  sizeBits: number;
  requestedAtSeconds: number;
  receivedBits: number;
  /** Arrival of the first byte on the session's clock; undefined before. */
  firstByteAtSeconds?: number | undefined;
  /** Arrival of the newest of `receivedBits`; undefined where unknown. */
  lastBitsAtSeconds?: number | undefined;
  /** Earlier abandonments of this segment. */
  abandonments: number;
  /** Bits of media requested and wasted in this session so far, for the limit on waste. */
  sessionRequestedBits?: number;
  sessionWastedBits?: number;
}

/**
 * What a controller expects of requesting the next segment at one representation. It covers this segment alone,
 * whereas the choice also depends on the segments after it. So the choice need not have the highest expected QoE.
 */
export interface CandidateOutlook {
  bitrateBps: number;
  /**
   * QoE of this segment per 4 s of media, in the unit of `weights.quality` (Mbit/s for QoE-linear): its quality, less
   * the cost of the switch to it and of the expected stall (qoe.ts). `-Infinity` for a download that never ends.
   */
  expectedQoe: number;
  /** Seconds of the clock that playback waits for this segment, startup included; 0 while paused. */
  expectedStallSeconds: number;
}

/** A decision and its reason in numbers. The demo and the logs show nothing else. */
export interface Decision {
  /** Index into the state's ladder. */
  representation: number;
  /** Name of the controller that decided: `mpc-d`, `mpc-l`, `throughput` ... */
  controller: string;
  /** Seconds after the request in which `reconsider` is not called. Default 0. */
  keepsForSeconds?: number;
  /** The request leaves this many seconds later; the simulator alone waits. Default 0. */
  waitSeconds?: number;
  /** Reason for the choice in one line with units. QoE is per 4 s of media, in the unit of `weights.quality`. */
  reason: string;
  /** Source and age of the forecast that was used. */
  forecastSource?: string;
  forecastAgeSeconds?: number;
  /** Capacity of the plan in bit/s; absent if the plan used a distribution. */
  plannedThroughputBps?: number;
  /** An outlook per representation of the ladder; absent if the controller did not evaluate them. */
  candidates?: readonly CandidateOutlook[];
  /** Whether a handover is expected within the horizon. */
  handoverInHorizon?: boolean;
}

/** Seconds between two calls of `reconsider`, and of `pace`. */
export const PACE_PERIOD_SECONDS = 0.1;
/** Seconds for which a playback rate other than 1 is kept, because quick changes are audible. */
export const RATE_HELD_SECONDS = 1;

/** How a live stream plays from now on. */
export interface Pace {
  /** Seconds of media per second of the clock, within `LiveState.playbackRates`. */
  playbackRate: number;
  /** Whether playback jumps to `targetLatencySeconds`. */
  jump: boolean;
  /** Live latency in seconds to which the rate leads. */
  targetLatencySeconds: number;
  /** Reason for the rate in one line with units. */
  reason: string;
  /** Seconds for which `pace` need not be called, at most 1 and until its rate can be set. Default 0. */
  keepsForSeconds?: number;
}

/** Deterministic, seeded, free of I/O and clocks: equal arguments give equal answers. */
export interface Controller {
  readonly name: string;
  /** Chooses the representation of the next segment. */
  decide(state: PlayerState, forecast?: ValidForecast): Decision;
  /**
   * Called on a timer while a segment downloads: `keep` it, or abandon it for the representation decided on. Absent
   * where the controller never abandons. The state is the current one; its `segmentIndex` is the segment in flight.
   */
  reconsider?(state: PlayerState, inFlight: InFlight, forecast?: ValidForecast): Decision | 'keep';
  /** Seconds for which `reconsider` is not called after it answered `keep`. Default 0. */
  keepsForSeconds?(state: PlayerState, inFlight: InFlight): number;
  /**
   * Called ten times a second while a live stream plays, between segments too, but for `Pace.keepsForSeconds`. The state's `segmentIndex` is the segment
   * in flight, if one is, else the next one. Absent where the player's own catch-up sets the rate.
   */
  pace?(state: PlayerState, inFlight: InFlight | undefined, forecast?: ValidForecast): Pace;
}
