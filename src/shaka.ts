/** The entry `leo-abr/shaka`: the plugin for Shaka Player. */

import type { LeoAbrOptions } from '../session/page/option-types.ts';
import { createFactory, type LeoAbrFactory } from './shaka/installation.ts';
import type { ShakaPlayer } from './shaka/player.ts';

export * from '../session/page/exports.ts';
export { CONTROLLER_NAMES, type ControllerName, type LeoAbrOptions } from '../session/page/option-types.ts';
export type { LeoAbrFactory } from './shaka/installation.ts';
export type { ShakaPlayer } from './shaka/player.ts';

/**
 * Makes a manager factory with which a controller (default: MPC-L) chooses the player's video bitrate, and the playback
 * rate of live streams. Configure it before `player.load()`:
 *
 *     const leoAbr = createLeoAbrFactory(player, options);
 *     player.configure({ abrFactory: leoAbr });
 *     leoAbr.handle.on('decision', ({ decision }) => console.log(decision.reason));
 *
 * It needs the player because Shaka passes none to its managers, nor what only the player knows: when a request begins,
 * ends or fails, the buffering goal, and the clock of a live stream. The manager that the player had before, Shaka's own
 * by default, limits the choice (`abr.restrictToElementSize` and the like), and decides where the controller does not.
 *
 * Throws an `InputError` for an invalid option, and for a `player` that is none. With an unsupported player (not version
 * 4.16 or 5, or one that has the plugin already) the factory makes the player's own managers, and the handle reports one
 * `fault` event.
 */
export function createLeoAbrFactory(player: ShakaPlayer, options?: LeoAbrOptions): LeoAbrFactory {
  return createFactory(player, options);
}
