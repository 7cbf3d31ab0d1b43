/** What `households.js` needs of the project, in one bundle. */

export { meansWithInterval } from '../replay/evaluation/mean-interval.ts';
export { planBenchmark } from '../replay/evaluation/plan.ts';
export { resamplingUnits } from '../replay/evaluation/resampling-units.ts';
export { readTraces } from '../replay/formats/trace-files.ts';
export { HOUSEHOLDS } from '../replay/households.ts';
export { seedOf } from '../replay/random.ts';
export { resolveScenario } from '../replay/scenario-file.ts';
export { SCENARIOS } from '../replay/scenarios.ts';
export { simulatedAlgorithm } from '../replay/simulator/algorithms.ts';
export { playHousehold } from '../replay/simulator/play-household.ts';
