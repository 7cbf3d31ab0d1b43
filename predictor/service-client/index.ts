/** `leo-abr/service`: the client of the prediction service, and UTC from any server. */

export { InputError } from '../../abr/errors.ts';
export type { Verdict } from './forecast-gate.ts';
export { type HttpTimeSource, httpTimeSource, type UtcReading } from './http-time-source.ts';
export type { ConnectionState } from './service-connection.ts';
export {
  createServiceForecaster,
  type ServiceForecaster,
  type ServiceForecasterOptions,
  type ServiceForecasterState,
} from './service-forecaster.ts';
