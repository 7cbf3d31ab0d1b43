/** The client of the prediction service, `leo-abr/service`. */

export { InputError } from '../../abr/errors.ts';
export type { ConnectionState } from './service-connection.ts';
export {
  createServiceForecaster,
  type ServiceForecaster,
  type ServiceForecasterOptions,
  type ServiceForecasterState,
} from './service-forecaster.ts';
