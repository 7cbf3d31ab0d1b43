/** What all entries export besides their own functions. */

export type {
  CandidateOutlook,
  Controller,
  Decision,
  Download,
  InFlight,
  LiveState,
  Pace,
  PlayerState,
} from '../../abr/controller.ts';
export { InputError } from '../../abr/errors.ts';
export type {
  ExpectedHandover,
  Forecast,
  Forecaster,
  Observation,
  PathForecast,
  QuantileForecast,
  SessionContext,
  ValidForecast,
} from '../../abr/forecast.ts';
export { parseSizes, type QualityFile, type QualityOf, type SizesFile } from '../segment-lists.ts';
export type { DecisionEvent, FaultCode, FaultEvent, LeoAbrEvents, Listener, Logger, PaceEvent } from './event-types.ts';
export type { ChangeableOptions, LeoAbrHandle, LeoAbrState } from './handle.ts';
export type { LiveOptions, TimeSource } from './option-types.ts';
