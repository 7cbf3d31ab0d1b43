/** What `attachLeoAbr` does and returns in all entries of the package, once its options are resolved. */

import type { Decision } from '../abr/controller.ts';
import type { Forecast } from '../abr/forecast.ts';
import { attach, isInstalled } from './dash/attachment.ts';
import { type DashPlayer, whyUnsupported } from './dash/player.ts';
import { createEvents, type FaultEvent, type LeoAbrEvents, type Listener } from './events.ts';
import type { ResolvedOptions } from './options.ts';

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
  /** The forecast that the controller was shown last, whether or not it decided anything. */
  forecast: Forecast | undefined;
  /** Bits of video asked for in this session, and those of them that came for downloads that were given up. */
  requestedBits: number;
  wastedBits: number;
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

/** `attachLeoAbr` (index.ts) with options that are resolved. */
export function attachWith(player: DashPlayer, resolved: ResolvedOptions): LeoAbrHandle {
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
      const session = attachment?.session();
      return {
        status: isDetached ? 'detached' : attachment === undefined ? 'inactive' : 'attached',
        controller: resolved.controllerName,
        session: session?.number ?? 0,
        nowSeconds: attachment?.nowSeconds() ?? 0,
        decision: attachment?.lastDecision(),
        forecast: attachment?.lastForecast(),
        requestedBits: session?.requestedBits ?? 0,
        wastedBits: session?.wastedBits ?? 0,
        faults: [...events.faults],
      };
    },
  };
}
