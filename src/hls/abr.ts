/** The plugin as hls.js's ABR controller: hls.js's own controller, whose choices the plugin replaces. */

import type Hls from 'hls.js';
import type { AbrController, FragLoadingData } from 'hls.js';
import type { Tools } from '../../session/assemble.ts';
import { createHandle, type LeoAbrHandle } from '../../session/page/handle.ts';
import type { LeoAbrOptions } from '../../session/page/option-types.ts';
import { PAGE } from '../page-host.ts';
import { HlsInstallation } from './installation.ts';
import { abrControllerOf, checkNoPlayer } from './player.ts';

/** For the option `abrController` of hls.js. */
export interface LeoAbrController {
  // biome-ignore lint/suspicious/noExplicitAny: a page may have several copies of hls.js's types, which fit only themselves.
  new (hls: any): any;
  readonly handle: LeoAbrHandle;
}

/** Implements `createLeoAbrController`. */
export function createController(options: LeoAbrOptions | undefined, tools?: Tools): LeoAbrController {
  checkNoPlayer(options);
  let installation!: HlsInstallation;
  const handle = createHandle({ options, tools }, PAGE, (resolved, events) => {
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
    /** The latest answer. */
    private _answer = -1;

    constructor(hls: Hls) {
      super(hls);
      plugin.connect(hls, () => super.firstAutoLevel);
    }

    private get _isConnected(): boolean {
      return plugin.isFor(this.hls);
    }

    private get _isDestroyed(): boolean {
      return this.hls === null;
    }

    /** hls.js 1.6 throws after `destroy()`, which the page may call while the plugin chooses; 1.7 answers `destroyed`. */
    private _choose(hlsLevel: () => number, destroyed: number): number {
      const chosen = this._isConnected ? plugin.choose() : undefined;
      this._answer = chosen ?? (this._isDestroyed ? destroyed : hlsLevel());
      return this._answer;
    }

    override get firstAutoLevel(): number {
      return this._choose(() => super.firstAutoLevel, 0);
    }

    override get nextAutoLevel(): number {
      // Set by hls.js's error recovery, or by the page for the next segment.
      const forced = this._isConnected ? super.forcedAutoLevel : -1;
      if (forced < 0) return this._choose(() => super.nextAutoLevel, -1);
      this._answer = forced;
      return forced;
    }

    override set nextAutoLevel(level: number) {
      // hls.js sets what it got.
      if (level !== this._answer && !this._isDestroyed) super.nextAutoLevel = level;
    }

    protected override onFragLoading(
      event: Parameters<AbrController['onFragLoading']>[0],
      data: FragLoadingData,
    ): void {
      super.onFragLoading(event, data);
      // hls.js's own timer would abandon downloads, too.
      if (this._isConnected && plugin.isInCharge) this.clearTimer();
    }

    override destroy(): void {
      if (!this._isDestroyed) plugin.playerEnded(this.hls);
      super.destroy();
    }
  };
}
