/** The entry `leo-abr/live`: the main one with MPC-L's plan for the live edge, and the pace of live streams. */

import type { LeoAbrHandle } from '../session/page/handle.ts';
import { resolveLiveOptions } from '../session/page/mpc-l-options.ts';
import { attach } from './dash/installation.ts';
import { LiveSupport } from './dash/live-support.ts';
import type { DashPlayer } from './dash/player.ts';
import type { LeoAbrOptions } from './index.ts';

export * from './index.ts';

/**
 * `attachLeoAbr` of the main entry, for live streams: `mpc-l` plans the chunks at the live edge, and a controller that
 * has `pace` (`mpc-l`, or your own object) sets the playback rate in the place of dash.js's catch-up. On demand it
 * decides as the main entry does.
 */
export function attachLeoAbr(player: DashPlayer, options?: LeoAbrOptions): LeoAbrHandle {
  return attach(player, options, resolveLiveOptions, LiveSupport);
}
