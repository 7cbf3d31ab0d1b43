/** Implements the core's port for dash.js. Only rules get dash.js's objects, so the port keeps the latest context. */

import type { Representation, RulesContext } from 'dashjs';
import type { LiveOptions } from '../core/options.ts';
import type { Choice, PlayerPort, Situation } from '../core/player-port.ts';
import { BufferGauge } from './buffer-gauge.ts';
import type { CatchUp } from './catch-up.ts';
import { LiveClock } from './live.ts';
import { type DashPlayer, setting } from './player.ts';
import { allowedRepresentations, readSituation } from './situation.ts';

/** The class `CatchUp`, in entries that have it. */
export type NewCatchUp = new (...parameters: ConstructorParameters<typeof CatchUp>) => CatchUp;

export class DashPort implements PlayerPort {
  readonly name = 'dash.js';
  readonly gauge: BufferGauge;
  readonly clock: LiveClock;
  readonly rate: CatchUp | undefined;
  /** Of the rule's latest call for video. */
  context: RulesContext | undefined;

  /** Without `Rate`, dash.js alone sets the playback rate. */
  constructor(
    private readonly player: DashPlayer,
    options: { readonly live: LiveOptions },
    Rate: NewCatchUp | undefined,
  ) {
    this.gauge = new BufferGauge(player);
    this.clock = new LiveClock(player, this.gauge);
    this.rate = Rate && new Rate(options, player, this);
  }

  manifestUrl(): string | undefined {
    // Optional, so that compatible players need not have it. A source may be a parsed manifest.
    return (this.player as { getSource?(): string }).getSource?.();
  }

  situation(isFirst: boolean): Situation | undefined {
    const { player, context } = this;
    if (!context || setting(player, 'abr.autoSwitchBitrate.video') !== true) return undefined;
    const situation = readSituation(player, context, this);
    if (!isFirst || !(Number(setting(player, 'abr.initialBitrate.video')) > 0)) return situation;
    const current = context.getRepresentation();
    return { ...situation, ladder: situation.ladder.filter(({ id }) => id === current.id) };
  }

  abandon(choice: Choice): void {
    const context = this.context!;
    const reason = { forceAbandon: true, message: choice.message };
    const representation = this.representation(choice)!;
    // It aborts the segment in flight and requests it again.
    context.getAbrController().setPlaybackQuality('video', context.getStreamInfo(), representation, reason);
  }

  representation({ representationId }: Choice): Representation | undefined {
    return this.context && allowedRepresentations(this.context).find(({ id }) => id === representationId);
  }

  sourceEnded(): void {
    this.gauge.forget();
    this.gauge.isQuotaExceeded = false;
    this.clock.forget();
    this.context = undefined;
  }
}
