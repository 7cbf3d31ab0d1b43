/** The plugin as hls.js's ABR controller: hls.js's own one, whose choices the plugin replaces. */

import type Hls from 'hls.js';
import type { AbrController, FragLoadingData } from 'hls.js';
import { createHandle, type LeoAbrHandle } from '../core/handle.ts';
import type { ResolvedOptions } from '../core/resolved-options.ts';
import { HlsInstallation } from './installation.ts';
import { abrControllerOf } from './player.ts';

/** For the option `abrController` of hls.js. */
export type LeoAbrController = typeof AbrController & { readonly handle: LeoAbrHandle };

/** Implements `createLeoAbrController`: `resolve` checks the options, now and at every change. */
export function createController<O extends object>(
  options: O | undefined,
  resolve: (options: O | undefined) => ResolvedOptions,
): LeoAbrController {
  let installation!: HlsInstallation;
  const handle = createHandle(options, resolve, (resolved, events) => {
    installation = new HlsInstallation(resolved, events);
    return installation;
  });
  /** hls.js calls it with `new`. The class that it extends is known with the player. */
  function LeoAbr(hls: Hls) {
    const HlsController = abrControllerOf(hls);
    if (HlsController === controller)
      throw new Error('leo-abr: give abrController to a player, not to Hls.DefaultConfig');
    return new (replacing(HlsController, installation))(hls);
  }
  const controller = Object.assign(LeoAbr as unknown as typeof AbrController, { handle });
  return controller;
}

/** hls.js's own controller goes on measuring, and decides where the plugin has no choice. */
function replacing(HlsController: typeof AbrController, plugin: HlsInstallation): typeof AbrController {
  return class extends HlsController {
    readonly #isConnected = plugin.connect(this.hls, () => super.firstAutoLevel);
    /** The latest answer. */
    #answer = -1;

    get #isDestroyed(): boolean {
      return this.hls === null;
    }

    #choose(hlsLevel: () => number): number {
      return (this.#isConnected ? plugin.choose() : undefined) ?? hlsLevel();
    }

    // hls.js 1.6 throws in all three after `destroy()`; these are the answers of 1.7.
    override get firstAutoLevel(): number {
      if (this.#isDestroyed) return 0;
      this.#answer = this.#choose(() => super.firstAutoLevel);
      return this.#answer;
    }

    override get nextAutoLevel(): number {
      if (this.#isDestroyed) return -1;
      // Set by hls.js's error recovery, or by the page for the next segment.
      const forced = this.#isConnected ? super.forcedAutoLevel : -1;
      this.#answer = forced >= 0 ? forced : this.#choose(() => super.nextAutoLevel);
      return this.#answer;
    }

    override set nextAutoLevel(level: number) {
      // hls.js sets what it got.
      if (level !== this.#answer && !this.#isDestroyed) super.nextAutoLevel = level;
    }

    protected override onFragLoading(
      event: Parameters<AbrController['onFragLoading']>[0],
      data: FragLoadingData,
    ): void {
      super.onFragLoading(event, data);
      if (this.#isConnected && plugin.isInCharge) this.clearTimer();
    }

    override destroy(): void {
      if (!this.#isDestroyed) plugin.playerEnded(this.hls);
      super.destroy();
    }
  };
}
