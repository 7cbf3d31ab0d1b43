/** What `evaluate-service.js` needs of the sources. */
export { createController } from '../abr/index.ts';
export { createBuiltInForecaster } from '../predictor/built-in/built-in-forecaster.ts';
export { ForecastChain } from '../predictor/chain.ts';
export { ForecastJudge } from '../predictor/service-client/forecast-judge.ts';
export { readTraces } from '../replay/formats/trace-files.ts';
export { SCENARIOS } from '../replay/scenarios.ts';
export { simulateSession } from '../replay/simulator/simulate-session.ts';
export { traceStartUtcMs } from '../replay/trace.ts';
export { PredictionService } from '../service/prediction-service.ts';
