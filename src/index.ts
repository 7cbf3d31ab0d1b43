/** The plugin: `attachLeoAbr(player)` and the types that go with it. */

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
  Forecast,
  Forecaster,
  Observation,
  PathForecast,
  QuantileForecast,
  SessionContext,
} from '../abr/forecast.ts';
export { attachLeoAbr, type LeoAbrHandle, type LeoAbrState } from './attach.ts';
export { CONTROLLER_NAMES, type ControllerName } from './controllers.ts';
export type { DashPlayer } from './dash/player.ts';
export type { DecisionEvent, FaultCode, FaultEvent, LeoAbrEvents, Listener, Logger } from './events.ts';
export type { LeoAbrOptions, TimeSource } from './options.ts';
export { parseSizes, type SizesFile } from './segment-sizes.ts';
