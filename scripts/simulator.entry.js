/** What `bench-simulator.js` and `simulator-sensitivity.js` need of the sources. */
export { parseStarts, planBenchmark } from '../replay/evaluation/index.ts';
export { readTraces } from '../replay/formats/trace-files.ts';
export { seededRandom } from '../replay/random.ts';
export { resolveScenario, scenarioNamed } from '../replay/scenario-file.ts';
export { simulatedAlgorithm } from '../replay/simulator/algorithms.ts';
export { roundedSession } from '../replay/simulator/session-result.ts';
