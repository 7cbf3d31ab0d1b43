/** The prediction service. It runs in Node only. */

export { isLoopback } from '../predictor/service-client/needs-tls.ts';
export { REAL_CLOCK } from './clock.ts';
export { type DishScript, type SimulatedCapacity, syntheticDish } from './fake-dish/simulated-dish.ts';
export { openApiDocument, type RunningService, type ServiceOptions, startService } from './start-service.ts';
export { parseConfig } from './triggers/config.ts';
