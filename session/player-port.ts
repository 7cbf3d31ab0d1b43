/**
 * The port between the flow and a player: what an adapter reports, and what the flow asks of it. Times are seconds and
 * sizes are bits; adapters convert. `flow.ts` has the calls in the other direction.
 */

import type { AssumedLink, LiveState, PlayerState } from '../abr/controller.ts';

/** A part of the presentation with its own segments: a period in DASH, otherwise the whole presentation. */
export interface Period {
  id: string;
  /** Start in the presentation. */
  startSeconds: number;
  /** Index of the first segment, counted from the start of the presentation; 0 in a live stream. */
  firstIndex: number;
  /** Segments in this period; `Infinity` in a live stream. */
  segmentCount: number;
  /** Segments in all later periods. */
  segmentsAfter: number;
}

export interface Representation {
  id: string;
  bitrateBps: number;
  /** The stream declares no bitrate. */
  isEstimated?: true;
  /** The picture as the stream declares it, where it does: pixels, pictures per second, RFC 6381. */
  width?: number | undefined;
  height?: number | undefined;
  frameRate?: number | undefined;
  codec?: string | undefined;
  /** The larger, the better: HLS `SCORE`, or the rank alone (below 0: DASH `@qualityRanking`). */
  score?: number | undefined;
}

/** A segment of one representation, by the stream's own index. */
export interface ListedSegment {
  /** Counted from the start of the period. */
  index: number;
  /** Position in the presentation. */
  startSeconds: number;
  seconds: number;
}

/** The facts that a decision needs from the player, read at one moment. */
export interface Situation {
  /** The period that the player requests segments of. */
  period: Period;
  /** The representations that the page allows, ascending in bitrate, at least one. */
  ladder: readonly Representation[];
  /** Lines at which the picture is shown (`Encoding.displayedLines`). Default: `usualDisplayedLines`. */
  displayedLines?: number | undefined;
  /**
   * The part of `PlayerState` that the player knows. `isPaused` counts only once media is buffered. The session limits
   * `bufferCapSeconds` at the live edge, and to 600.
   */
  playback: Pick<
    PlayerState,
    'segmentSeconds' | 'bufferLevelSeconds' | 'bufferCapSeconds' | 'playbackRate' | 'isPaused' | 'setupSeconds'
  >;
  /** End of this period's buffer in the presentation; undefined while an earlier period plays. */
  bufferedUntilSeconds: number | undefined;
  /** Position in the presentation at which playback would stall without further data. */
  playableUntilSeconds: number;
  /** Undefined on demand, and until the player knows the stream's time. */
  live: LivePosition | undefined;
  /** Size by the stream's own index; undefined without one. `index` counts the representation's segments in the period. */
  indexedBits(representationId: string, index: number): number | undefined;
  /**
   * On demand, the segment at a position in the presentation; undefined where the stream does not list it. Default
   * representation: the one that loads. Absent: all segments last `segmentSeconds`.
   */
  segmentAt?(seconds: number, representationId?: string): ListedSegment | undefined;
}

/** The time of a live stream. */
export interface LiveTime {
  /** Position in the presentation of what is captured now. */
  nowSeconds: number;
  /** From the capture of a segment's start to the existence of its first chunk. */
  firstChunkSeconds: number;
}

/** Media of a live stream that are requested. */
export interface LiveMedia extends LiveTime {
  /** Position in the presentation. */
  startSeconds: number;
  segmentSeconds: number;
}

/** Where a player is in a live stream. */
export interface LivePosition
  extends LiveTime,
    Omit<LiveState, 'chunkSeconds' | 'firstChunkAtSeconds' | 'offRateShare'> {
  /** The rate may be set: player, stream or an option allows a catch-up. */
  isPaceable: boolean;
}

/** A video segment in a representation. */
export interface Segment {
  period: Period;
  representation: Representation;
  /** Index from the start of the period. */
  index: number;
  segmentSeconds: number;
  /** End of the segment in the presentation. */
  endSeconds: number;
  /** Size by the stream's own index; undefined without one. */
  indexedBits: number | undefined;
}

/** What an adapter says of a request for audio or video when it is sent. */
export interface Beginning {
  /** Whether it is for a media segment and not an init segment. */
  isMedia: boolean;
  /** The video segment; undefined for audio and init segments. */
  segment?: Segment | undefined;
  /** The player reports no bits before the end: no silence of this request shows an outage. Default false. */
  isOpaque?: boolean;
  /** In a live stream, the media that are requested. */
  live?: LiveMedia | undefined;
  /** The request's URL. Default: all requests go to one server. */
  url?: string | null | undefined;
}

/** What an adapter says of a request under way: more of the body, its headers, or another attempt. */
export interface Progress {
  /** Bits since the last report. Alternative: `totalBits`. */
  addedBits?: number;
  totalBits?: number;
  /** Size of the whole body, if known. */
  sizeBits?: number | undefined;
  /** Chunks of a live segment that have become whole; undefined if the body is not read in chunks. */
  chunks?: number | undefined;
  /** The next report has its bits, too: it may be skipped. */
  isInterim?: boolean;
  /** The headers are here, and no bits are reported. */
  isAnswered?: boolean;
  /**
   * The player sends the request again, from its first byte: and gives up playback after some attempts (`limited`), or
   * not. `later`: the server has refused it, and the player pauses before it sends it again.
   */
  attempt?: 'limited' | 'unlimited' | 'later';
}

/** `abandoned`: the player has aborted it, for another representation of the segment or after a seek. */
export type Outcome = 'whole' | 'abandoned' | 'failed';

/** A controller's choice. */
export interface Choice {
  representationId: string;
  /** `controller: reason`, for the player's log. */
  message: string;
}

/** What an adapter implements so that controllers can pace live streams. */
export interface RatePort {
  /** Smallest change of the rate that plays without glitches; undefined for any. */
  readonly rateStep: number | undefined;
  /** Plays at this rate, in place of the player's own catch-up; 0 waits, undefined gives the rate back to the player. */
  setPlaybackRate(rate: number | undefined): void;
  /** Goes on at this live latency. The player's target stays. */
  jumpToLive(latencySeconds: number): void;
}

/** The rate of a whole number of steps from 1 that is nearest towards 1. */
export const onStep = (rate: number, step: number | undefined) =>
  step === undefined ? rate : 1 + Math.trunc((rate - 1) / step) * step;

/** What an adapter implements. */
export interface PlayerPort {
  /** Name of the player in fault messages. */
  readonly name: string;
  /** The player asks again and again before each request, on demand too. Default false. */
  readonly isPolled?: boolean;
  /** The manifest's URL, which may be relative to the page; null or undefined if it has none. May throw without a source. */
  manifestUrl(): string | null | undefined;
  /**
   * Undefined while the player does not adapt video: nothing is loaded, or the page has turned adaptation off. For the
   * first segment of a session, the page may restrict the ladder to an initial bitrate.
   */
  situation(isFirst: boolean): Situation | undefined;
  /** The link before it is measured; `browserBps`: as the browser knows it. Default: nothing, so a session begins at the lowest. */
  assumed?(browserBps: number | undefined): AssumedLink;
  /** Aborts the video download in flight and requests the segment again in the chosen representation. */
  abandon(choice: Choice): void;
  /** On demand, what has arrived of a request in flight. A port that has it may report `isInterim`. */
  arrived?(request: object): Progress;
  /** Absent where the player alone sets the playback rate. */
  readonly rate?: RatePort | undefined;
}
