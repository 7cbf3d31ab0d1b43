/** The entry `leo-abr`: `attachLeoAbr(player)` for dash.js and its types. */

import type { LeoAbrHandle } from '../session/page/handle.ts';
import type { LeoAbrOptions } from '../session/page/option-types.ts';
import { attach } from './dash/installation.ts';
import type { DashPlayer } from './dash/player.ts';

export * from '../session/page/exports.ts';
export { CONTROLLER_NAMES, type ControllerName, type LeoAbrOptions } from '../session/page/option-types.ts';
export type { DashPlayer } from './dash/player.ts';

/**
 * Lets a controller (default: MPC-L) choose the player's video bitrate; dash.js still decides on audio. Call it before
 * `player.initialize()`; if called later, it takes over from the next segment. It stays attached through
 * `attachSource()`, `reset()`, seeks, periods and track switches until `detach()`.
 *
 * Throws an `InputError` for an invalid option, and for a `player` that is none. An unsupported player (not dash.js 5.1 or
 * later of version 5) is left unchanged and reported as one `fault` event. If the player has the plugin already, that is a
 * fault, too, and this one waits until the other one is detached.
 */
export function attachLeoAbr(player: DashPlayer, options?: LeoAbrOptions): LeoAbrHandle {
  return attach(player, options);
}
