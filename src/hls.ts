/** The entry `leo-abr/hls`: `createLeoAbrController()` for hls.js and its types. */

import type { LeoAbrOptions } from '../session/page/option-types.ts';
import { createController, type LeoAbrController } from './hls/abr.ts';

export * from '../session/page/exports.ts';
export { CONTROLLER_NAMES, type ControllerName, type LeoAbrOptions } from '../session/page/option-types.ts';
export type { LeoAbrController } from './hls/abr.ts';

/**
 * Makes an ABR controller for hls.js 1.6 and later of version 1:
 *
 *     const leoAbr = createLeoAbrController(options);
 *     const hls = new Hls({ abrController: leoAbr });
 *
 * A controller (default: MPC-L) chooses the video bitrate. `leoAbr.handle` has events, state, `set` and `detach`; it can
 * be used before there is a player. One player has the controller at a time; after its `destroy()`, the next one has.
 *
 * Throws an `InputError` for an invalid option. An unsupported player, and a second one at the same time, play with
 * hls.js's own ABR; that is reported as one `fault` event.
 */
export function createLeoAbrController(options?: LeoAbrOptions): LeoAbrController {
  return createController(options);
}
