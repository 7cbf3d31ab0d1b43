/** The input and the output of a controller: the same shapes in the browser, the simulator and the benchmark. */

import type { ValidForecast } from './forecast.ts';
import type { QoeWeights } from './qoe/qoe.ts';

/** A finished or abandoned media download, as measured. */
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

/** A state holds at least this many of the last downloads. Some rules look back further. */
export const RECENT_DOWNLOADS = 16;

/** Everything that a decision depends on. A controller keeps none of the arrays. */
export interface PlayerState {
  /** The session's clock: seconds since the first media request. */
  nowSeconds: number;
  /** UTC in ms from the time source, and its uncertainty; undefined if unknown. */
  utcMs?: number | undefined;
  utcUncertaintySeconds?: number | undefined;
  /** False until media is buffered or playback begins. */
  started: boolean;
  /** Seconds of media that play per second of the clock, > 0. */
  playbackRate: number;
  /** The viewer has paused, so the buffer does not drain and nothing stalls. */
  isPaused: boolean;
  /** Buffer levels and segment durations are seconds of media, not of the clock. */
  bufferLevelSeconds: number;
  /** A request is sent when buffer level + `segmentSeconds` < this, however long the next segment is. */
  bufferCapSeconds: number;
  segmentSeconds: number;
  /** Durations of the segment to decide on and of known segments after it. Default: `segmentSeconds` each. */
  upcomingSeconds?: readonly number[];
  /**
   * Per representation: seconds of media that its next segment adds to the buffer, where boundaries differ between
   * representations. Default: the same as the segment to decide on.
   */
  nextSeconds?: readonly number[];
  /** Index of the segment to decide on, from 0. */
  segmentIndex: number;
  /** Segments left, including this segment; `Infinity` if unknown. */
  segmentsRemaining: number;
  /** Bitrates of the available representations in bit/s, ascending, at least one. */
  ladderBps: readonly number[];
  /**
   * `upcomingSizesBits[k][representation]`: known sizes of the segment to decide on (k = 0) and of the segments after
   * it; at least one row unless the stream has ended.
   */
  upcomingSizesBits: readonly (readonly number[])[];
  /** Qualities of the same segments, in the same form and the unit of `weights.quality`. Default: `weights.quality`. */
  upcomingQualities?: readonly (readonly number[])[];
  /**
   * Per representation: seconds from the decision until the player has loaded what a request needs (a playlist in HLS).
   * The player may load it while the encoder works. Default: 0.
   */
  setupSeconds?: readonly number[];
  /** Bitrate of the previous segment, which the ladder may have lost; undefined at the start and after a seek. */
  previousBitrateBps: number | undefined;
  /** This session's downloads, oldest first; at least the last `RECENT_DOWNLOADS`. */
  downloads: readonly Download[];
  /** The link as player and browser assume it, until something is measured. Default: nothing, so the first choice is the lowest. */
  assumed?: AssumedLink;
  weights: QoeWeights;
  /** The position in a live stream; absent on demand. */
  live?: LiveState;
}

/** Rates in bit/s; undefined if unknown. */
export interface AssumedLink {
  /** By the player's default or the page's setting for it. */
  playerBps: number | undefined;
  /** By the browser (`navigator.connection`). */
  browserBps: number | undefined;
}

/** The position of playback in a live stream, and when media comes into being. */
export interface LiveState {
  /** Seconds from the capture of the picture on screen to now; the target before the first picture. */
  latencySeconds: number;
  targetLatencySeconds: number;
  /** Media per chunk; `segmentSeconds` for whole segments. */
  chunkSeconds: number;
  /** Bounds of the playback rate, around 1. */
  playbackRates: { min: number; max: number };
  /** Latency in seconds above which playback jumps to the target. */
  maxLatencySeconds: number;
  /** Share of the last minute, 0 to 1, that a controller paced at a noticeable rate (off-rate.ts). Default 0. */
  offRateShare?: number;
  /**
   * Time on the session's clock from which the first chunk of the segment to decide on can be requested. Each later
   * chunk follows after `chunkSeconds`, each later segment after `segmentSeconds`.
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
  /** Arrival of the first byte on the session's clock; undefined before the first byte. */
  firstByteAtSeconds?: number | undefined;
  /** Arrival of the newest of `receivedBits`; undefined if unknown. */
  lastBitsAtSeconds?: number | undefined;
  /** Rate of the newest part, at most 1 s without waits for the encoder; only live, undefined until something is measured. */
  recent?: { bps: number; seconds: number } | undefined;
  /**
   * Chunks of a live segment that have arrived as a whole, and the bits after them. Undefined before the first chunk, and
   * if the player does not count them: all chunks then count as equally large.
   */
  chunks?: { whole: number; nextBits: number } | undefined;
  /** Earlier abandonments of this segment. */
  abandonments: number;
  /** Bits of media requested and wasted in this session, for the limit on waste. */
  sessionRequestedBits?: number;
  sessionWastedBits?: number;
}

/**
 * What a controller expects of the next segment at one representation. The choice also depends on later segments, so it
 * need not have the highest expected QoE.
 */
export interface CandidateOutlook {
  bitrateBps: number;
  /**
   * QoE of this segment per 4 s of media, in the unit of `weights.quality`: its quality less the costs of
   * bits, expected stall and, on demand, switch (qoe.ts). `-Infinity` for a download that never ends.
   */
  expectedQoe: number;
  /** Seconds of the clock that playback waits for this segment, including startup; 0 while paused. */
  expectedStallSeconds: number;
}

/** A decision and its reason in numbers, for the demo and the logs. */
export interface Decision {
  /** Index into the state's ladder. */
  representation: number;
  /** Name of the controller, such as `mpc-d`. */
  controller: string;
  /** Seconds after the request in which `reconsider` is not called. Default 0. */
  keepsForSeconds?: number;
  /** Seconds until the request leaves. Only the simulator waits. Default 0. */
  waitSeconds?: number;
  /** Reason in one line with units. QoE is per 4 s of media, in the unit of `weights.quality`. */
  reason: string;
  /** Source and age of the forecast that was used. */
  forecastSource?: string;
  forecastAgeSeconds?: number;
  /** Capacity of the plan in bit/s; absent if the plan used a distribution. */
  plannedThroughputBps?: number;
  /** Outlook of each representation; absent if the controller did not evaluate them. */
  candidates?: readonly CandidateOutlook[];
  /** Whether a handover is expected within the horizon. */
  handoverInHorizon?: boolean;
}

/** Period of the calls of `reconsider` and of `pace`. */
export const PACE_PERIOD_SECONDS = 0.1;
/** A playback rate other than 1 is kept for this long, because quick changes are audible. */
export const RATE_HELD_SECONDS = 1;

/** How a live stream plays from now on. */
export interface Pace {
  /** Seconds of media per second of the clock, within `LiveState.playbackRates`. */
  playbackRate: number;
  /** Whether playback jumps to `targetLatencySeconds`. */
  jump: boolean;
  /** Live latency in seconds to which the rate leads. */
  targetLatencySeconds: number;
  /** Reason in one line with units. */
  reason: string;
  /** Seconds for which `pace` need not be called, at most 1. Default 0. */
  keepsForSeconds?: number;
}

/** A controller is deterministic, without I/O and clocks: equal arguments give equal answers. */
export interface Controller {
  readonly name: string;
  /** Chooses the representation of the next segment. */
  decide(state: PlayerState, forecast?: ValidForecast): Decision;
  /**
   * Called on a timer while a segment downloads: `keep` keeps the download, a decision replaces it. The state's
   * `segmentIndex` is the segment in flight. Absent if the controller never abandons.
   */
  reconsider?(state: PlayerState, inFlight: InFlight, forecast?: ValidForecast): Decision | 'keep';
  /** Seconds for which `reconsider` is not called after it answered `keep`. Default 0. */
  keepsForSeconds?(state: PlayerState, inFlight: InFlight): number;
  /**
   * Called ten times a second while a live stream plays, except during `Pace.keepsForSeconds`. The state's
   * `segmentIndex` is the segment in flight or else the next segment. Absent if the player's own catch-up sets the
   * rate.
   */
  pace?(state: PlayerState, inFlight: InFlight | undefined, forecast?: ValidForecast): Pace;
}
