/** Implements the core's port for dash.js. Only rules get dash.js's objects, so the port keeps the latest context. */

import type { Representation, RulesContext } from 'dashjs';
import type { Events } from '../core/events.ts';
import type { LiveOptions } from '../core/options.ts';
import type { Choice, PlayerPort, RatePort, Situation } from '../core/player-port.ts';
import { BufferGauge } from './buffer-gauge.ts';
import type { LiveSupport } from './live-support.ts';
import { type DashPlayer, setting } from './player.ts';
import { allowedRepresentations, Bitrates, type Limits, readSituation } from './situation.ts';

/** The class `LiveSupport`, in the entry that has it. */
export type NewLiveSupport = new (...parameters: ConstructorParameters<typeof LiveSupport>) => LiveSupport;

export class DashPort implements PlayerPort {
  readonly name = 'dash.js';
  readonly gauge: BufferGauge;
  readonly live: LiveSupport | undefined;
  readonly rate: RatePort | undefined;
  readonly bitrates = new Bitrates();
  #context: RulesContext | undefined;
  /** As of the latest decision: a download in flight is reconsidered within them. */
  #limits: Limits | undefined;

  /** Without `Live`, live streams are left to dash.js. */
  constructor(
    private readonly player: DashPlayer,
    options: { readonly live: LiveOptions },
    private readonly events: Events,
    Live: NewLiveSupport | undefined,
  ) {
    this.gauge = new BufferGauge(player);
    this.live = Live && new Live(options, player, this.gauge);
    this.rate = this.live?.rate;
  }

  /** Of the rule's latest call for video. */
  set context(context: RulesContext | undefined) {
    this.#context = context;
    this.#limits = undefined;
  }

  manifestUrl(): string | undefined {
    // Optional, so that compatible players need not have it. A source may be a parsed manifest.
    return (this.player as { getSource?(): string }).getSource?.();
  }

  situation(isFirst: boolean): Situation | undefined {
    const { player, gauge, live } = this;
    const context = this.#context;
    if (!context || setting(player, 'abr.autoSwitchBitrate.video') !== true) return undefined;
    if (!this.live && context.getStreamInfo().manifestInfo.isDynamic) {
      this.events.fault('unsupported-stream', 'live streams need leo-abr/live');
      return undefined;
    }
    this.#limits ??= this.#limitsOf(context);
    if (!this.#limits) {
      this.events.fault('unsupported-stream', 'representations have no bandwidth: dash.js decides');
      return undefined;
    }
    const limits = { ...this.#limits };
    if (isFirst && Number(setting(player, 'abr.initialBitrate.video')) > 0) {
      const current = context.getRepresentation();
      limits.allowed = limits.allowed.filter(({ id }) => id === current.id);
    }
    return readSituation(player, context, { gauge, live, limits });
  }

  #limitsOf(context: RulesContext): Limits | undefined {
    const allowed = this.bitrates.describe(context, allowedRepresentations(context));
    return allowed && { allowed, bufferTargetSeconds: context.getScheduleController().getBufferTarget() };
  }

  abandon(choice: Choice): void {
    const context = this.#context!;
    const reason = { forceAbandon: true, message: choice.message };
    const representation = this.representation(choice);
    // The page has forbidden it since the decision.
    if (!representation) return;
    // It aborts the segment in flight and requests it again.
    context.getAbrController().setPlaybackQuality('video', context.getStreamInfo(), representation, reason);
  }

  representation({ representationId }: Choice): Representation | undefined {
    return this.#context && allowedRepresentations(this.#context).find(({ id }) => id === representationId);
  }

  sourceEnded(): void {
    this.gauge.forget();
    this.gauge.isQuotaExceeded = false;
    this.live?.forget();
    this.context = undefined;
  }
}
