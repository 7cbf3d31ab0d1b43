/** The main entry: `attachLeoAbr(player)` and its types. */

import type { LeoAbrHandle } from './core/handle.ts';
import { type LeoAbrOptions, resolveOptions } from './core/mpc-l-options.ts';
import { attach } from './dash/installation.ts';
import type { DashPlayer } from './dash/player.ts';

export * from './core/exports.ts';
export { CONTROLLER_NAMES, type ControllerName, type LeoAbrOptions } from './core/mpc-l-options.ts';
export type { DashPlayer } from './dash/player.ts';

/**
 * Lets a controller (default: MPC-L) choose the player's video bitrate; dash.js still decides on audio. Call it before
 * `player.initialize()`; if called later, it takes over from the next segment. It stays attached through
 * `attachSource()`, `reset()`, seeks, periods and track switches until `detach()`.
 *
 * Throws an `InputError` for an invalid option, and for a `player` that is none. An unsupported player (not dash.js 5.1 or
 * later of version 5, or one that has the plugin already) is left unchanged and reported as one `fault` event.
 */
export function attachLeoAbr(player: DashPlayer, options?: LeoAbrOptions): LeoAbrHandle {
  return attach(player, options, resolveOptions);
}
