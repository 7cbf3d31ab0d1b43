/** What `evaluate-service.js` needs of the sources. */
export { createController } from '../abr/index.ts';
export { createBuiltInForecaster } from '../predictor/built-in/built-in-forecaster.ts';
export { ForecastChain } from '../predictor/chain.ts';
export { ForecastGate } from '../predictor/service-client/forecast-gate.ts';
export { meansWithInterval } from '../replay/evaluation/mean-interval.ts';
export { readTraces } from '../replay/formats/trace-files.ts';
export { SHIPPED_TRACES } from '../replay/link-model/shipped-traces.ts';
export { synthesizeTrace } from '../replay/link-model/synthesize-trace.ts';
export { SCENARIOS } from '../replay/scenarios.ts';
export { simulateSession } from '../replay/simulator/simulate-session.ts';
export { traceStartUtcMs } from '../replay/trace.ts';
export { PredictionService } from '../service/prediction-service.ts';
