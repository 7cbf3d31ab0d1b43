/** What a session's report needs of a player, by its events and getters alone: nothing in a player is set or replaced. */

import type { SessionReport } from '../../abr/session-report.ts';
import type { Guard } from '../core/events.ts';
import type { Transfers } from './transfers.ts';

/** What a player does. */
export interface PlayerListener {
  /** In place of the source before, if there is one. */
  sourceBegan(): void;
  sourceEnded(): void;
  /** Of the present source. */
  transfers(): Transfers | undefined;
}

/** The getters may throw before the player is ready. */
export interface ObservedPlayer {
  name: SessionReport['player'];
  version: string;
  listen(listener: PlayerListener, guard: Guard): () => void;
  element(): HTMLMediaElement | null | undefined;
  isLive(): boolean | undefined;
  latencySeconds(): number | undefined;
  bitratesBps(): readonly number[];
}

export function versionOf(player: object): string {
  return (player.constructor as { version?: string }).version ?? 'unknown';
}
