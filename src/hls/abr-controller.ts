/** The plugin as hls.js's ABR controller: hls.js's own one, whose choices the plugin replaces. */

import type Hls from 'hls.js';
import type { AbrController, FragLoadingData } from 'hls.js';
import { createHandle, type LeoAbrHandle } from '../core/handle.ts';
import type { ResolvedOptions } from '../core/resolved-options.ts';
import { createPlugin, type Plugin } from './installation.ts';
import { ownAbrOf } from './player.ts';

/** For the option `abrController` of hls.js. */
export type LeoAbrController = typeof AbrController & { readonly handle: LeoAbrHandle };

/** Implements `createLeoAbrController`: `resolve` checks the options, now and at every change. */
export function createController<O extends object>(
  given: O | undefined,
  resolve: (options: O | undefined) => ResolvedOptions,
): LeoAbrController {
  let plugin!: Plugin;
  const handle = createHandle(given, resolve, (options, events) => (plugin = createPlugin(options, events)));
  /** hls.js calls it with `new`. What it extends is known with the player. */
  function LeoAbr(hls: Hls) {
    const Own = ownAbrOf(hls);
    if (Own === controller) throw new Error('leo-abr: give abrController to a player, not to Hls.DefaultConfig');
    return new (replacing(Own, plugin))(hls);
  }
  const controller = Object.assign(LeoAbr as unknown as typeof AbrController, { handle });
  return controller;
}

/** hls.js's own controller goes on measuring, and decides where the plugin has no choice. */
function replacing(Own: typeof AbrController, plugin: Plugin): typeof AbrController {
  return class extends Own {
    readonly #connection = plugin.connect(this.hls, () => super.firstAutoLevel);
    /** The latest answer. */
    #given = -1;

    #choose(own: () => number): number {
      return this.#connection?.choose() ?? own();
    }

    override get firstAutoLevel(): number {
      this.#given = this.#choose(() => super.firstAutoLevel);
      return this.#given;
    }

    override get nextAutoLevel(): number {
      // Set by hls.js's error recovery, or by the page for the next segment.
      const forced = this.#connection ? super.forcedAutoLevel : -1;
      this.#given = forced >= 0 ? forced : this.#choose(() => super.nextAutoLevel);
      return this.#given;
    }

    override set nextAutoLevel(level: number) {
      // hls.js sets what it got.
      if (level !== this.#given) super.nextAutoLevel = level;
    }

    protected override onFragLoading(
      event: Parameters<AbrController['onFragLoading']>[0],
      data: FragLoadingData,
    ): void {
      super.onFragLoading(event, data);
      if (this.#connection?.isInCharge()) this.clearTimer();
    }

    override destroy(): void {
      if (this.#connection) plugin.playerEnded();
      super.destroy();
    }
  };
}
