/** What `evaluate-service-ping.js` needs of the sources. */

export { pageLinkOf } from '../replay/simulator/session-setup.ts';
export { ChangeDetector } from '../service/handovers/change-detector.ts';
export { LatencyForecaster } from '../service/link/latency-forecaster.ts';
export { BUILT_IN_TRIGGERS } from '../service/triggers/config.ts';
export { TriggerEngine } from '../service/triggers/trigger-engine.ts';
export * from './evaluate-service.entry.js';
