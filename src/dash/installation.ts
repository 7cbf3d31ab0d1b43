/** Installs the flow in a dash.js player, with its rule, settings and listeners; and removes it. */

import { check } from '../../abr/errors.ts';
import type { ResolvedOptions, Tools } from '../../session/assemble.ts';
import { Flow } from '../../session/flow.ts';
import { has } from '../../session/page/checks.ts';
import type { Events } from '../../session/page/events.ts';
import { createHandle, type Installation, type LeoAbrHandle } from '../../session/page/handle.ts';
import type { LeoAbrOptions } from '../../session/page/option-types.ts';
import { EMITTER_METHODS, listen, UndoList } from '../adapter-kit.ts';
import { PAGE } from '../page-host.ts';
import { wrongPlayer } from '../which-player.ts';
import { type DashPlayer, isDestroyed, setting, whyUnsupported } from './player.ts';
import { DashPort, SWITCH_RULE, switchRule } from './port.ts';
import { Requests } from './requests.ts';
import { applySettings } from './settings.ts';

/** Implements `attachLeoAbr`. */
export function attach(player: DashPlayer, options: LeoAbrOptions | undefined, tools?: Tools): LeoAbrHandle {
  // All versions of dash.js have these; an unsupported version is a fault.
  const isPlayer = has(player, 'getVersion', 'on', 'off');
  const expected = 'a dash.js MediaPlayer';
  if (!isPlayer) throw wrongPlayer('dash.js', 'player', expected, player);
  check(!isDestroyed(player), 'player', `${expected} that is not destroyed`, player);
  return createHandle({ options, tools }, PAGE, (resolved, events) => {
    const problem = whyUnsupported(player);
    if (problem === undefined) return new DashInstallation(player, resolved, events);
    events.fault('unsupported-player', problem);
    return undefined;
  });
}

function isInstalled(player: DashPlayer): boolean {
  return player.getABRCustomRules().some((rule: { rulename?: unknown }) => rule.rulename === SWITCH_RULE);
}

interface TrackEvent {
  /** Null at the start of a period. */
  oldMediaInfo: { type: string } | null;
}

class DashInstallation implements Installation {
  readonly flow: Flow & { readonly port: DashPort };
  private readonly _port: DashPort;
  private readonly _requests: Requests;
  private readonly _rule: ReturnType<typeof switchRule>;
  private readonly _undo = new UndoList();
  private _restoreSettings = () => {};
  private _isActive = false;

  constructor(
    private readonly _player: DashPlayer,
    private readonly _options: ResolvedOptions,
    private readonly _events: Events,
  ) {
    this._port = new DashPort(_player, _options, _events);
    this.flow = new Flow(this._port, _options, _events) as typeof this.flow;
    this._rule = switchRule(this.flow);
    const { live, bitrates } = this._port;
    this._requests = new Requests(this.flow, live, bitrates);
    if (isInstalled(_player)) this._wait();
    else this._install();
  }

  isActive(): boolean {
    return this._isActive;
  }

  /** Until another attachment to the player is detached. */
  private _wait(): void {
    this._events.fault('already-attached', 'the player has the plugin already, until that is detached');
    const fragmentLoadingStarted = () => {
      if (isInstalled(this._player)) return;
      this._undo.run();
      this._install();
    };
    this._undo.add(listen(this._player, EMITTER_METHODS, { fragmentLoadingStarted }, this.flow.guard));
  }

  private _install(): void {
    this._isActive = true;
    const { _player } = this;
    const { live } = this._port;
    const handlers = {
      ...this._requests.handlers,
      ...this._port.gauge.handlers,
      ...this._handlers,
      ...live.handlers(this.flow),
    };
    this._undo.add(
      listen(_player, EMITTER_METHODS, handlers, this.flow.guard),
      () => _player.removeABRCustomRule(SWITCH_RULE),
      this._rule.release,
      () => _player.removeRequestInterceptor(this._requests.intercept),
      () => this._restoreSettings(),
      () => live.restoreTarget(),
    );
    this._addRule();
  }

  changed(): void {
    if (this._isActive) this.flow.guard(() => this._port.live.targetChanged());
  }

  detach(): void {
    this.flow.stop();
    this._undo.run();
  }

  private readonly _handlers = {
    streamTeardownComplete: () => {
      this.flow.sourceEnded();
      this._port.sourceEnded();
      // player.reset(), whose last event this is, removes the rule and the settings after it.
      Promise.resolve().then(() => this.flow.guard(() => this._addRule()));
    },
    manifestLoadingStarted: () => this._addRule(),
    playbackSeeking: () => {
      if (this.flow.sought()) this._port.sought();
    },
    initFragmentNeeded: ({ mediaType }: { mediaType?: string }) => {
      if (mediaType === 'video') this._port.askAfterSeek();
    },
    playbackPlaying: () => this.flow.played(),
    // Until dash.js asks again, the rule's context has the old track: an abandonment would switch back to it.
    currentTrackChanged: ({ oldMediaInfo: old }: TrackEvent) => {
      if (old && old.type === 'video') this._port.asked();
    },
  };

  /** Adds the rule before the settings: dash.js instantiates it when a setting switches one of its own rules. */
  private _addRule(): void {
    const { _player: player, _options: options } = this;
    if (isInstalled(player)) return;
    player.addABRCustomRule('qualitySwitchRules', SWITCH_RULE, this._rule.rule);
    player.removeRequestInterceptor(this._requests.intercept);
    player.addRequestInterceptor(this._requests.intercept);
    // The page may have removed the rule without the settings.
    this._restoreSettings();
    this._port.mayReplace = setting(player, 'buffer.fastSwitchEnabled') === null;
    this._restoreSettings = applySettings(player, options.cmcd);
    this._port.live.setTarget();
  }
}
