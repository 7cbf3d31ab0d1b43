/** The small entry `leo-abr/mpc-d`: the plugin with MPC-D only and without forecasts. */

import type { LeoAbrHandle } from '../session/page/handle.ts';
import {
  MPC_D_NAMES,
  type MpcDEntryOptions,
  type MpcDName,
  resolveMpcDOptions,
} from '../session/page/resolved-options.ts';
import { attach } from './dash/installation.ts';
import type { DashPlayer } from './dash/player.ts';

export * from '../session/page/exports.ts';
export type { DashPlayer } from './dash/player.ts';
export type ControllerName = MpcDName;
export type LeoAbrOptions = MpcDEntryOptions;
/** Names for the option `controller`. */
export const CONTROLLER_NAMES = MPC_D_NAMES;

/** `attachLeoAbr` of the main entry, with MPC-D and its options only. */
export function attachLeoAbr(player: DashPlayer, options?: LeoAbrOptions): LeoAbrHandle {
  return attach(player, options, resolveMpcDOptions);
}
