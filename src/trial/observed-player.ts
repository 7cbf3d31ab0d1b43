/** What a session's report needs of a player, by its events and getters alone: nothing in a player is set or replaced. */

import type { SessionReport } from '../../abr/session-report.ts';
import type { Outcome } from '../../predictor/link/segment-download.ts';
import type { Guard } from '../core/events.ts';
import type { BufferedSegment } from './playback.ts';
import type { Transfer } from './transfers.ts';

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
  /** A video segment is in the buffer. */
  buffered(segment: BufferedSegment): void;
}

/** The getters may throw before the player is ready. */
export interface ObservedPlayer {
  readonly name: SessionReport['player'];
  readonly version: string;
  /** Returns a function that ends it. */
  listen(listener: PlayerListener, guard: Guard): () => void;
  element(): HTMLMediaElement | null | undefined;
  isLive(): boolean | undefined;
  latencySeconds(): number | undefined;
  /** Of the manifest. */
  topBitrateBps(): number | undefined;
}

export function highest(bitrates: readonly number[]): number | undefined {
  return bitrates.length > 0 ? Math.max(...bitrates) : undefined;
}

/** The version of a player whose class has it. */
export function versionOf(player: object): string {
  return (player.constructor as { version?: string }).version ?? 'unknown';
}
