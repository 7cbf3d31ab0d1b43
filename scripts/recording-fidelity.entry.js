/** What `recording-fidelity.js` needs of the sources. */
export { createController } from '../abr/index.ts';
export { runsOf } from '../cli/record/runs.ts';
export { createBuiltInForecaster } from '../predictor/built-in/built-in-forecaster.ts';
export { parseTraceCsv } from '../replay/formats/trace-csv.ts';
export { readTraces } from '../replay/formats/trace-files.ts';
export { SCENARIOS } from '../replay/scenarios.ts';
export { linkOf } from '../replay/simulator/session-setup.ts';
export { simulateSession } from '../replay/simulator/simulate-session.ts';
export { TraceRows } from '../service/recording/trace-rows.ts';
