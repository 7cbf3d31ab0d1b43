/** The entry `leo-abr/live`: the main one with MPC-L's plan for the live edge, and the pace of live streams. */

import { createLiveMpcL } from '../abr/mpc-l/live/live-mpc-l.ts';
import { SubSecond } from '../predictor/sub-second.ts';
import type { LeoAbrHandle } from './core/handle.ts';
import { type LeoAbrOptions, resolveOptions } from './core/mpc-l-options.ts';
import { createPacing } from './core/pacing.ts';
import { createCatchUp } from './dash/catch-up.ts';
import { attach } from './dash/installation.ts';
import type { DashPlayer } from './dash/player.ts';

export * from './index.ts';

/**
 * `attachLeoAbr` of the main entry, for live streams: `mpc-l` plans the chunks at the live edge, and a controller that
 * has `pace` (`mpc-l`, or your own object) sets the playback rate in the place of dash.js's catch-up. On demand it
 * decides as the main entry does.
 */
export function attachLeoAbr(player: DashPlayer, options?: LeoAbrOptions): LeoAbrHandle {
  return attach(player, options, resolveLiveOptions, createCatchUp);
}

function resolveLiveOptions(options?: LeoAbrOptions) {
  return resolveOptions(options, {
    createController: createLiveMpcL,
    newSubSecond: () => new SubSecond(),
    newPacing: createPacing,
  });
}
