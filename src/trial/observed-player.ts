/** What a session's report needs of a player, by its events and getters alone: nothing in a player is set or replaced. */

import type { SessionReport } from '../../abr/session-report.ts';
import type { Outcome } from '../../predictor/link/segment-download.ts';
import type { Guard } from '../core/events.ts';

/** A segment of video; seconds of the presentation. */
export interface VideoSegment {
  startSeconds: number;
  durationSeconds: number;
  bitrateBps: number;
}

/** A request for audio or video that the player has sent. */
export interface Transfer {
  /** As the player knows it at the moment; absent for audio. */
  video?: (() => VideoSegment) | undefined;
  /** So far; `isAborted`: without an event; `firstByteSeconds`: on the page's clock. What the player does not tell is absent. */
  progress(): { bits?: number; isAborted?: boolean; firstByteSeconds?: number | undefined };
}

/** What a player does. Each request is known by an object of the player's. */
export interface PlayerListener {
  sourceBegan(): void;
  sourceEnded(): void;
  /** `sentSeconds`: on the page's clock. Default: now. */
  sent(request: object, transfer: Transfer, sentSeconds?: number): void;
  progressed(): void;
  /** `bits`: of the body. Default: those of its progress. */
  ended(request: object, outcome: Outcome, bits?: number): void;
}

/** The getters may throw before the player is ready. */
export interface ObservedPlayer {
  name: SessionReport['player'];
  version: string | undefined;
  listen(listener: PlayerListener, guard: Guard): () => void;
  element(): HTMLMediaElement | null | undefined;
  isLive(): boolean | undefined;
  latencySeconds(): number | undefined;
  bitratesBps(): readonly number[];
}

export function versionOf(player: object): string | undefined {
  return (player.constructor as { version?: string }).version;
}

/** The page's even clock. */
export function pageSeconds(): number {
  return performance.now() / 1000;
}
