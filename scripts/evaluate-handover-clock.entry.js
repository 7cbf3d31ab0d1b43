/** What `evaluate-handover-clock.js` needs of the sources. */
export { createController } from '../abr/index.ts';
export { HandoverClock } from '../predictor/handover-clock/handover-clock.ts';
export { RATE_PARAMETERS } from '../predictor/handover-clock/level-parameters.ts';
export { readTraces } from '../replay/formats/trace-files.ts';
export { synthesizeTrace } from '../replay/link-model/synthesize-trace.ts';
export { normal, seededRandom } from '../replay/random.ts';
export { SCENARIOS } from '../replay/scenarios.ts';
export { simulateSession } from '../replay/simulator/simulate-session.ts';
export { traceStartUtcMs } from '../replay/trace.ts';
