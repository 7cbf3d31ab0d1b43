/** What a session's report needs of a player, by its events and getters alone: nothing in a player is set or replaced. */

import type { SessionReport } from '../../abr/session-report.ts';
import type { Outcome } from '../../predictor/link/segment-download.ts';
import type { Guard } from '../core/events.ts';

/** A segment of video; seconds of the presentation. */
export interface VideoSegment {
  readonly startSeconds: number;
  readonly durationSeconds: number;
  readonly bitrateBps: number;
}

/** A request for audio or video that the player has sent, as it is at the moment. */
export interface Transfer {
  /** Undefined for audio. */
  readonly video: VideoSegment | undefined;
  /** Bits of the body so far; absent where the player tells them with the end only. */
  readonly receivedBits?: number;
  /** Of the whole body, once it is known. */
  readonly sizeBits?: number | undefined;
  /** The player has given it up without an event. */
  readonly isAborted?: boolean;
  /** Arrival of the first byte on the page's clock, once the player tells it. */
  readonly firstByteSeconds?: number | undefined;
}

/** What a player does. Each request is known by an object of the player's. */
export interface PlayerListener {
  /** Another source is being loaded. */
  sourceBegan(): void;
  sourceEnded(): void;
  /** `sentSeconds`: on the page's clock. Default: now. */
  sent(request: object, transfer: Transfer, sentSeconds?: number): void;
  /** More bits have arrived. */
  progressed(): void;
  /** `receivedBits`: where the transfer does not tell them. */
  ended(request: object, outcome: Outcome, receivedBits?: number): void;
}

/** The getters may throw before the player is ready. */
export interface ObservedPlayer {
  readonly name: SessionReport['player'];
  readonly version: string | undefined;
  /** Returns a function that ends it. */
  listen(listener: PlayerListener, guard: Guard): () => void;
  element(): HTMLMediaElement | null | undefined;
  isLive(): boolean | undefined;
  latencySeconds(): number | undefined;
  /** Bitrates of the manifest. */
  bitratesBps(): readonly number[];
}

/** The version of a player whose class has it. */
export function versionOf(player: object): string | undefined {
  return (player.constructor as { version?: string }).version;
}

/** The page's even clock. */
export function pageSeconds(): number {
  return performance.now() / 1000;
}
