/** The prediction service. Node only. */

export { isLoopback } from './api/security.ts';
export { REAL_CLOCK } from './clock.ts';
export { type FakeDish, startFakeDish } from './fake-dish/fake-dish.ts';
export { type DishScript, recordedDish, type SimulatedCapacity, syntheticDish } from './fake-dish/simulated-dish.ts';
export { PassiveCapacity } from './link/passive-capacity.ts';
export type { Log } from './log.ts';
export { readTelemetry } from './recording/read-telemetry.ts';
export { openApiDocument, type RunningService, type ServiceOptions, startService } from './start-service.ts';
export type { TelemetrySecond } from './telemetry.ts';
export { parseConfig, type ServiceConfig } from './triggers/config.ts';
