/** The prediction service. Node only. */

export { isLoopback } from '../predictor/service-client/needs-tls.ts';
export type { StateReply } from './api/wire.ts';
export { type Clock, REAL_CLOCK } from './clock.ts';
export { type RunningCollector, startCollector } from './collector/collector.ts';
export { type DishScript, type SimulatedCapacity, syntheticDish } from './fake-dish/simulated-dish.ts';
export { openApiDocument, type RunningService, type ServiceOptions, startService } from './start-service.ts';
export { parseConfig, type ServiceConfig } from './triggers/config.ts';
