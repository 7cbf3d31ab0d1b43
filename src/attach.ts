/** `attachLeoAbr`: puts a controller in charge of a dash.js player's video. */

import type { Decision } from '../abr/controller.ts';
import { attach, isInstalled } from './dash/attachment.ts';
import { type DashPlayer, whyUnsupported } from './dash/player.ts';
import { createEvents, type FaultEvent, type LeoAbrEvents, type Listener } from './events.ts';
import { type LeoAbrOptions, resolveOptions } from './options.ts';

/** What a handle knows at this moment. */
export interface LeoAbrState {
  /** `inactive` where the player cannot be served (see `faults`), `detached` after `detach()`. */
  status: 'attached' | 'inactive' | 'detached';
  /** Name of the controller. */
  controller: string;
  /** Sources that the player was given since, the present one included. */
  session: number;
  /** Seconds since the session's first media request; 0 before it. */
  nowSeconds: number;
  /** The latest decision. */
  decision: Decision | undefined;
  /** What went wrong so far, one per code. */
  faults: readonly FaultEvent[];
}

/** What `attachLeoAbr` returns. */
export interface LeoAbrHandle {
  /** Gives the player back to dash.js's own rules, with the settings that it had. Safe to call twice. */
  detach(): void;
  /** Calls `listener` for each event from now on; returns what ends that. */
  on<K extends keyof LeoAbrEvents>(type: K, listener: Listener<K>): () => void;
  readonly state: LeoAbrState;
}

/**
 * Puts a controller (MPC-D unless told otherwise) in charge of the player's video; audio stays with dash.js. Best called
 * before `player.initialize()`; later it takes over from the next segment on. Works through `attachSource()`,
 * `reset()`, seeks, periods and track switches until `detach()`.
 *
 * Throws an `InputError` for an option that cannot be worked with. A player that cannot be served (not dash.js 5.1 or
 * later of version 5, or one that has the plugin already) is left alone and reported as one `fault` event.
 */
export function attachLeoAbr(player: DashPlayer, options?: LeoAbrOptions): LeoAbrHandle {
  const resolved = resolveOptions(options);
  const events = createEvents(resolved.logger);
  const attachment = events.attempt('unsupported-player', 'the player refused the plugin', () => {
    const problem = whyUnsupported(player);
    if (problem !== undefined) events.fault('unsupported-player', problem);
    else if (isInstalled(player)) events.fault('already-attached', 'the player has the plugin already');
    else return attach(player, resolved, events);
    return undefined;
  });
  let isDetached = false;
  return {
    detach() {
      isDetached = true;
      attachment?.detach();
    },
    on: events.on,
    get state(): LeoAbrState {
      return {
        status: isDetached ? 'detached' : attachment === undefined ? 'inactive' : 'attached',
        controller: resolved.controllerName,
        session: attachment?.session().number ?? 0,
        nowSeconds: attachment?.nowSeconds() ?? 0,
        decision: attachment?.lastDecision(),
        faults: [...events.faults],
      };
    },
  };
}
