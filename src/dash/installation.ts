/** Installs the core in a dash.js player, with its rule, settings and listeners; and removes it. */

import { Adaptation } from '../core/adaptation.ts';
import type { Events } from '../core/events.ts';
import { createHandle, type Installation, type LeoAbrHandle } from '../core/handle.ts';
import { EMITTER_METHODS, listen } from '../core/listen.ts';
import type { ResolvedOptions } from '../core/resolved-options.ts';
import { UndoList } from '../core/undo-list.ts';
import type { BufferLevelEvent } from './buffer-gauge.ts';
import type { createCatchUp } from './catch-up.ts';
import { dashPort } from './dash-port.ts';
import type { TimeOffsetEvent } from './live-clock.ts';
import { type DashPlayer, whyUnsupported } from './player.ts';
import { requestHandlers } from './requests.ts';
import { SWITCH_RULE, switchRule } from './rules.ts';
import { applySettings, override } from './settings-guard.ts';

/**
 * Implements `attachLeoAbr` of all entries: `resolve` checks the options, now and at every change. Without `newCatchUp`,
 * the player alone sets the playback rate.
 */
export function attach<O extends object>(
  player: DashPlayer,
  options: O | undefined,
  resolve: (options: O | undefined) => ResolvedOptions,
  newCatchUp?: typeof createCatchUp,
): LeoAbrHandle {
  return createHandle(options, resolve, (resolved, events) => {
    const problem = whyUnsupported(player);
    if (problem !== undefined) events.fault('unsupported-player', problem);
    else if (isInstalled(player)) events.fault('already-attached', 'the player has the plugin already');
    else return install(player, resolved, events, newCatchUp);
    return undefined;
  });
}

function isInstalled(player: DashPlayer): boolean {
  return player.getABRCustomRules().some((rule: { rulename?: unknown }) => rule.rulename === SWITCH_RULE);
}

function install(
  player: DashPlayer,
  options: ResolvedOptions,
  events: Events,
  newCatchUp?: typeof createCatchUp,
): Installation {
  const port = dashPort(player, options, newCatchUp);
  const adaptation = new Adaptation(port, options, events);
  const { guard, session, planner } = adaptation;
  const decide = switchRule(port, adaptation);
  const { handlers, intercept } = requestHandlers(adaptation, port.clock);
  let restoreSettings = () => {};
  let restoreTarget = () => {};
  let target: unknown;

  function setTarget(): void {
    restoreTarget();
    target = options.live.targetLatencySeconds;
    restoreTarget = override(player, typeof target === 'number' ? [['delay.liveDelay', target]] : []);
  }

  /** Adds the rule before the settings: dash.js instantiates it when a setting switches one of its own rules. */
  function addRule(): void {
    if (isInstalled(player)) return;
    player.addABRCustomRule('qualitySwitchRules', SWITCH_RULE, decide);
    player.removeRequestInterceptor?.(intercept);
    player.addRequestInterceptor?.(intercept);
    restoreSettings = applySettings(player, options.cmcd);
    setTarget();
  }

  const undo = new UndoList();
  const stopListening = listen(
    player,
    EMITTER_METHODS,
    {
      ...handlers,
      streamTeardownComplete() {
        adaptation.sourceEnded();
        port.sourceEnded();
        // player.reset(), whose last event this is, removes the rule and the settings after it.
        queueMicrotask(() => guard(addRule));
      },
      manifestLoadingStarted: addRule,
      playbackSeeking() {
        if (session.seeked()) port.gauge.forget();
      },
      playbackPlaying: () => session.playing(),
      bufferLevelUpdated: (event: BufferLevelEvent) => port.gauge.update(event),
      updateTimeSyncOffset: (event: TimeOffsetEvent) => port.clock.synchronised(event),
      quotaExceeded() {
        port.gauge.isQuotaExceeded = true;
      },
    },
    guard,
  );
  addRule();
  undo.add(
    stopListening,
    () => player.removeABRCustomRule(SWITCH_RULE),
    () => player.removeRequestInterceptor?.(intercept),
    () => restoreSettings(),
    () => restoreTarget(),
  );

  return {
    adaptation,
    changed() {
      // At each change of its setting, dash.js forgets a latency that the viewer chose.
      if (options.live.targetLatencySeconds !== target) guard(setTarget);
      planner.renew();
    },
    detach() {
      adaptation.stop();
      undo.run();
    },
  };
}
