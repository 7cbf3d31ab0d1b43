/** Installs the core in a dash.js player, with its rule, settings and listeners; and removes it. */

import { Adaptation } from '../core/adaptation.ts';
import type { Events } from '../core/events.ts';
import { createHandle, type Installation, type LeoAbrHandle } from '../core/handle.ts';
import { EMITTER_METHODS, listen, UndoList } from '../core/hooks.ts';
import type { ResolvedOptions } from '../core/resolved-options.ts';
import { SWITCH_RULE, switchRule } from './abr.ts';
import type { BufferLevelEvent } from './buffer-gauge.ts';
import type { TimeOffsetEvent } from './live.ts';
import { type DashPlayer, whyUnsupported } from './player.ts';
import { DashPort, type NewCatchUp } from './port.ts';
import { Requests } from './requests.ts';
import { applySettings, overrideSettings } from './settings.ts';

/**
 * Implements `attachLeoAbr` of all entries: `resolve` checks the options, now and at every change. Without `newCatchUp`,
 * the player alone sets the playback rate.
 */
export function attach<O extends object>(
  player: DashPlayer,
  options: O | undefined,
  resolve: (options: O | undefined) => ResolvedOptions,
  newCatchUp?: NewCatchUp,
): LeoAbrHandle {
  return createHandle(options, resolve, (resolved, events) => {
    const problem = whyUnsupported(player);
    if (problem !== undefined) events.fault('unsupported-player', problem);
    else if (isInstalled(player)) events.fault('already-attached', 'the player has the plugin already');
    else return new DashInstallation(player, resolved, events, newCatchUp);
    return undefined;
  });
}

function isInstalled(player: DashPlayer): boolean {
  return player.getABRCustomRules().some((rule: { rulename?: unknown }) => rule.rulename === SWITCH_RULE);
}

class DashInstallation implements Installation {
  readonly adaptation: Adaptation;
  readonly #port: DashPort;
  readonly #requests: Requests;
  readonly #rule: ReturnType<typeof switchRule>;
  readonly #undo = new UndoList();
  #restoreSettings = () => {};
  #restoreTarget = () => {};
  #target: unknown;

  constructor(
    private readonly player: DashPlayer,
    private readonly options: ResolvedOptions,
    events: Events,
    newCatchUp: NewCatchUp | undefined,
  ) {
    this.#port = new DashPort(player, options, newCatchUp);
    this.adaptation = new Adaptation(this.#port, options, events);
    this.#rule = switchRule(this.#port, this.adaptation);
    this.#requests = new Requests(this.adaptation, this.#port.clock);
    const handlers = { ...this.#requests.handlers, ...this.#handlers };
    this.#undo.add(
      listen(player, EMITTER_METHODS, handlers, this.adaptation.guard),
      () => player.removeABRCustomRule(SWITCH_RULE),
      () => player.removeRequestInterceptor(this.#requests.intercept),
      () => this.#restoreSettings(),
      () => this.#restoreTarget(),
    );
    this.#addRule();
  }

  changed(): void {
    const { guard, planner } = this.adaptation;
    // At each change of its setting, dash.js forgets a latency that the viewer chose.
    if (this.options.live.targetLatencySeconds !== this.#target) guard(() => this.#setTarget());
    planner.renew();
  }

  detach(): void {
    this.adaptation.stop();
    this.#undo.run();
  }

  readonly #handlers = {
    streamTeardownComplete: () => {
      this.adaptation.sourceEnded();
      this.#port.sourceEnded();
      // player.reset(), whose last event this is, removes the rule and the settings after it.
      queueMicrotask(() => this.adaptation.guard(() => this.#addRule()));
    },
    manifestLoadingStarted: () => this.#addRule(),
    playbackSeeking: () => {
      if (this.adaptation.session.seeked()) this.#port.gauge.forget();
    },
    playbackPlaying: () => this.adaptation.session.playing(),
    bufferLevelUpdated: (event: BufferLevelEvent) => this.#port.gauge.update(event),
    updateTimeSyncOffset: (event: TimeOffsetEvent) => this.#port.clock.synchronised(event),
    quotaExceeded: () => {
      this.#port.gauge.isQuotaExceeded = true;
    },
  };

  /** Adds the rule before the settings: dash.js instantiates it when a setting switches one of its own rules. */
  #addRule(): void {
    const { player, options } = this;
    if (isInstalled(player)) return;
    player.addABRCustomRule('qualitySwitchRules', SWITCH_RULE, this.#rule);
    player.removeRequestInterceptor(this.#requests.intercept);
    player.addRequestInterceptor(this.#requests.intercept);
    this.#restoreSettings = applySettings(player, options.cmcd);
    this.#setTarget();
  }

  #setTarget(): void {
    this.#restoreTarget();
    this.#target = this.options.live.targetLatencySeconds;
    const wanted = typeof this.#target === 'number' ? ([['delay.liveDelay', this.#target]] as const) : [];
    this.#restoreTarget = overrideSettings(this.player, wanted);
  }
}
