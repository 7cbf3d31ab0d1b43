/**
 * The port between the core and a player: what an adapter reports and what it can be asked to do. Times are seconds and
 * sizes are bits; adapters convert. `adaptation.ts` has the calls in the other direction.
 */

import type { PlayerState } from '../../abr/controller.ts';

/** A stretch of the presentation that has segments of its own: a period in DASH, otherwise the whole presentation. */
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
}

/** The facts that a decision needs from the player, read at one moment. */
export interface Situation {
  /** The period that the player requests segments of. */
  period: Period;
  /** The representations that the page allows, ascending in bitrate, at least one. */
  ladder: readonly Representation[];
  /** The part of a controller's state that the player knows by itself. `isPaused` counts from the first picture on. */
  playback: Pick<
    PlayerState,
    'segmentSeconds' | 'bufferLevelSeconds' | 'bufferCapSeconds' | 'playbackRate' | 'isPaused'
  >;
  /** End of this period's buffer in the presentation; undefined while an earlier period plays. */
  bufferedUntilSeconds: number | undefined;
  /** Where playback would run dry if nothing more arrived, in the presentation. */
  playableUntilSeconds: number;
  /** Size by the stream's own index; undefined where it has none. `index` counts from the start of the period. */
  indexedBits(representationId: string, index: number): number | undefined;
}

/** A video segment that the player has requested. */
export interface SegmentRequest {
  period: Period;
  representation: Representation;
  /** Index from the start of the period. */
  index: number;
  segmentSeconds: number;
  /** End of the segment in the presentation. */
  endSeconds: number;
  /** Size by the stream's own index; undefined where it has none. */
  indexedBits: number | undefined;
}

/** What a controller has chosen. */
export interface Choice {
  representationId: string;
  /** `controller: reason`, for the player's log. */
  message: string;
}

/** What an adapter implements. */
export interface PlayerPort {
  /** Name of the player in fault messages. */
  readonly name: string;
  /** `https://host:port` of the manifest; undefined where it has no URL. */
  origin(): string | undefined;
  /**
   * Undefined while the player does not adapt video, because nothing is loaded or the page has turned it off. The page may
   * allow less for the first segment of a session: an initial bitrate.
   */
  situation(isFirst: boolean): Situation | undefined;
  /** Aborts the video download in flight and requests the same segment again as chosen. */
  abandon(choice: Choice): void;
}
