/** Installs the core in a dash.js player, with its rule, settings and listeners; and removes it. */

import { check } from '../../abr/errors.ts';
import { Adaptation } from '../../session/adaptation.ts';
import { has } from '../../session/page/checks.ts';
import type { Events } from '../../session/page/events.ts';
import { createHandle, type Installation, type LeoAbrHandle } from '../../session/page/handle.ts';
import type { LeoAbrOptions } from '../../session/page/option-types.ts';
import type { ResolvedOptions } from '../../session/page/options.ts';
import { EMITTER_METHODS, listen, UndoList } from '../hooks.ts';
import { PAGE } from '../page-host.ts';
import { SWITCH_RULE, switchRule } from './abr.ts';
import type { BufferLevelEvent } from './buffer-gauge.ts';
import { type DashPlayer, whyUnsupported } from './player.ts';
import { DashPort } from './port.ts';
import { Requests } from './requests.ts';
import { applySettings } from './settings.ts';

/** Implements `attachLeoAbr`. */
export function attach(player: DashPlayer, options: LeoAbrOptions | undefined): LeoAbrHandle {
  // All versions of dash.js have these; an unsupported version is a fault.
  check(has(player, 'getVersion', 'on', 'off'), 'player', 'a dash.js MediaPlayer', player);
  return createHandle(options, PAGE, (resolved, events) => {
    const problem = whyUnsupported(player);
    if (problem !== undefined) events.fault('unsupported-player', problem);
    else if (isInstalled(player)) events.fault('already-attached', 'the player has the plugin already');
    else return new DashInstallation(player, resolved, events);
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
  ) {
    this.#port = new DashPort(player, options, events);
    this.adaptation = new Adaptation(this.#port, options, events) as typeof this.adaptation;
    this.#rule = switchRule(this.adaptation);
    const { live, bitrates } = this.#port;
    this.#requests = new Requests(this.adaptation, live, bitrates);
    const handlers = {
      ...this.#requests.handlers,
      ...this.#handlers,
      ...live.handlers(this.adaptation.downloads),
    };
    this.#undo.add(
      listen(player, EMITTER_METHODS, handlers, this.adaptation.guard),
      () => player.removeABRCustomRule(SWITCH_RULE),
      this.#rule.release,
      () => player.removeRequestInterceptor(this.#requests.intercept),
      () => this.#restoreSettings(),
      () => live.restoreTarget(),
    );
    this.#addRule();
  }

  changed(): void {
    this.adaptation.guard(() => this.#port.live.targetChanged());
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
    this.#port.live.setTarget();
  }
}
