/** The plugin: `attachLeoAbr(player)` and what goes with it. */

import type { LeoAbrHandle } from './core/handle.ts';
import { type LeoAbrOptions, resolveOptions } from './core/mpc-l-options.ts';
import { attach } from './dash/installation.ts';
import type { DashPlayer } from './dash/player.ts';

export type {
  CandidateOutlook,
  Controller,
  Decision,
  Download,
  InFlight,
  PlayerState,
} from '../abr/controller.ts';
export { InputError } from '../abr/errors.ts';
export type {
  ExpectedHandover,
  Forecast,
  Forecaster,
  Observation,
  PathForecast,
  QuantileForecast,
  SessionContext,
} from '../abr/forecast.ts';
export type { DecisionEvent, FaultCode, FaultEvent, LeoAbrEvents, Listener, Logger } from './core/events.ts';
export type { ChangeableOptions, LeoAbrHandle, LeoAbrState } from './core/handle.ts';
export { CONTROLLER_NAMES, type ControllerName, type LeoAbrOptions } from './core/mpc-l-options.ts';
export type { TimeSource } from './core/options.ts';
export { parseSizes, type SizesFile } from './core/segment-sizes.ts';
export type { DashPlayer } from './dash/player.ts';

/**
 * Puts a controller (MPC-L unless told otherwise) in charge of the player's video; audio stays with dash.js. Best called
 * before `player.initialize()`; later it takes over from the next segment on. Works through `attachSource()`,
 * `reset()`, seeks, periods and track switches until `detach()`.
 *
 * Throws an `InputError` for an option that cannot be worked with. A player that cannot be served (not dash.js 5.1 or
 * later of version 5, or one that has the plugin already) is left alone and reported as one `fault` event.
 */
export function attachLeoAbr(player: DashPlayer, options?: LeoAbrOptions): LeoAbrHandle {
  return attach(player, options, resolveOptions);
}
