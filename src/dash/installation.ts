/** Installs the core in a dash.js player, with its rule, settings and listeners; and removes it. */

import { check } from '../../abr/errors.ts';
import { Adaptation } from '../core/adaptation.ts';
import type { Events } from '../core/events.ts';
import { createHandle, type Installation, type LeoAbrHandle } from '../core/handle.ts';
import { EMITTER_METHODS, listen, UndoList } from '../core/hooks.ts';
import { has } from '../core/options.ts';
import type { ResolvedOptions } from '../core/resolved-options.ts';
import { SWITCH_RULE, switchRule } from './abr.ts';
import type { BufferLevelEvent } from './buffer-gauge.ts';
import { type DashPlayer, whyUnsupported } from './player.ts';
import { DashPort, type NewLiveSupport } from './port.ts';
import { Requests } from './requests.ts';
import { applySettings } from './settings.ts';

/**
 * Implements `attachLeoAbr` of all entries: `resolve` checks the options, now and at every change. Without `Live`, live
 * streams are left to dash.js.
 */
export function attach<O extends object>(
  player: DashPlayer,
  options: O | undefined,
  resolve: (options: O | undefined) => ResolvedOptions,
  Live?: NewLiveSupport,
): LeoAbrHandle {
  // All versions of dash.js have these; an unsupported version is a fault.
  check(has(player, 'getVersion', 'on', 'off'), 'player', 'a dash.js MediaPlayer', player);
  return createHandle(options, resolve, (resolved, events) => {
    const problem = whyUnsupported(player);
    if (problem !== undefined) events.fault('unsupported-player', problem);
    else if (isInstalled(player)) events.fault('already-attached', 'the player has the plugin already');
    else return new DashInstallation(player, resolved, events, Live);
    return undefined;
  });
}

function isInstalled(player: DashPlayer): boolean {
  return player.getABRCustomRules().some((rule: { rulename?: unknown }) => rule.rulename === SWITCH_RULE);
}

class DashInstallation implements Installation {
  readonly adaptation: Adaptation & { readonly port: DashPort };
  readonly #port: DashPort;
  readonly #requests: Requests;
  readonly #rule: ReturnType<typeof switchRule>;
  readonly #undo = new UndoList();
  #restoreSettings = () => {};

  constructor(
    private readonly player: DashPlayer,
    private readonly options: ResolvedOptions,
    events: Events,
    Live: NewLiveSupport | undefined,
  ) {
    this.#port = new DashPort(player, options, events, Live);
    this.adaptation = new Adaptation(this.#port, options, events) as typeof this.adaptation;
    this.#rule = switchRule(this.adaptation);
    const { live, bitrates } = this.#port;
    this.#requests = new Requests(this.adaptation, live, bitrates);
    const handlers = {
      ...this.#requests.handlers,
      ...this.#handlers,
      ...live?.handlers(this.adaptation.downloads),
    };
    this.#undo.add(
      listen(player, EMITTER_METHODS, handlers, this.adaptation.guard),
      () => player.removeABRCustomRule(SWITCH_RULE),
      this.#rule.release,
      () => player.removeRequestInterceptor(this.#requests.intercept),
      () => this.#restoreSettings(),
      () => live?.restoreTarget(),
    );
    this.#addRule();
  }

  changed(): void {
    const { guard, planner } = this.adaptation;
    guard(() => this.#port.live?.targetChanged());
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
    quotaExceeded: () => {
      this.#port.gauge.isQuotaExceeded = true;
    },
  };

  /** Adds the rule before the settings: dash.js instantiates it when a setting switches one of its own rules. */
  #addRule(): void {
    const { player, options } = this;
    if (isInstalled(player)) return;
    player.addABRCustomRule('qualitySwitchRules', SWITCH_RULE, this.#rule.rule);
    player.removeRequestInterceptor(this.#requests.intercept);
    player.addRequestInterceptor(this.#requests.intercept);
    this.#restoreSettings = applySettings(player, options.cmcd);
    this.#port.live?.setTarget();
  }
}
