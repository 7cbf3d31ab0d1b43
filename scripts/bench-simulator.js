/**
 * `node scripts/bench-simulator.js [algorithm ...]`: sessions per second and core of the simulator, in this one thread,
 * on seeded made-up links of Starlink's kind (a level per 15 s, a dip at the boundary). Default: mpc-d. The aim for mpc-d
 * in uhd-8 is 500. Prints one line per algorithm and scenario: the median of five rounds, and their range.
 */
import { bundledSources } from './bundled-sources.js';

const ROUNDS = 5;
const SESSIONS = 400;

const { simulatedAlgorithm, roundedSession, resolveScenario, scenarioNamed, seededRandom } =
  await bundledSources('scripts/simulator.entry.js');
const traces = Array.from({ length: 20 }, (_, i) => madeUpTrace(`made-up-${i}`, seededRandom(i + 1)));
const names = process.argv.length > 2 ? process.argv.slice(2) : ['mpc-d'];
for (const name of names) {
  for (const scenarioName of ['uhd-8', 'uhd-30', 'pensieve-60']) {
    const scenario = resolveScenario(scenarioNamed(scenarioName));
    const algorithm = simulatedAlgorithm(name);
    const round = (sessions) => {
      const began = performance.now();
      for (let i = 0; i < sessions; i++) {
        const startSeconds = (i * 61) % 600;
        const trace = traces[i % traces.length];
        roundedSession(
          algorithm.simulate({ trace, scenario, startSeconds, segmentCount: 48, seed: i, timings: false }),
        );
      }
      return (sessions * 1000) / (performance.now() - began);
    };
    round(40);
    const rates = Array.from({ length: ROUNDS }, () => round(SESSIONS)).sort((a, b) => a - b);
    const [low, high] = [rates[0], rates[ROUNDS - 1]].map((rate) => rate.toFixed(0));
    console.log(`${name} ${scenarioName}: ${rates[ROUNDS >> 1].toFixed(0)} sessions/s/core (${low} to ${high})`);
  }
}

/** 15 minutes of one sample a second: a level for 15 s (10 to 250 Mbit/s), noise within, a dip in its first second. */
function madeUpTrace(name, random) {
  const seconds = 900;
  let level = 0;
  const ratesBps = Float64Array.from({ length: seconds }, (_, second) => {
    if (second % 15 === 0) level = 10e6 * 25 ** random();
    return level * (0.8 + 0.4 * random()) * (second % 15 === 0 ? 0.5 : 1);
  });
  return {
    name,
    stepEndsSeconds: Float64Array.from({ length: seconds }, (_, second) => second + 1),
    ratesBps,
    durationSeconds: seconds,
    metadata: { dataset: 'made-up', recordingGroup: name, epochPhaseSeconds: 12 },
  };
}
