/** Between a player and the core: no error of a handler reaches the player, and none runs after `stop`. */

import type { Events } from './events.ts';

export class Guard {
  readonly #player: string;
  readonly #events: Events;
  #isStopped = false;

  /** `player`: its name in fault messages. */
  constructor(player: string, events: Events) {
    this.#player = player;
    this.#events = events;
  }

  /** Returns the action's result; undefined after an error, which is reported, and after `stop`. */
  readonly run = <T>(action: () => T): T | undefined =>
    this.#isStopped ? undefined : this.#events.attempt('player-failed', `${this.#player} is not as expected`, action);

  /** The plugin is detached. */
  stop(): void {
    this.#isStopped = true;
  }
}
