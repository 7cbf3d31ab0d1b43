export type { Forecaster } from '../abr/forecast.ts';
export {
  type ClockedHandover,
  HandoverClock,
  type HandoverClockOptions,
  type HandoverEstimate,
} from './handover-clock/handover-clock.ts';
export { type HttpTimeSource, type HttpTimeSourceOptions, httpTimeSource, type UtcReading } from './time-source.ts';
