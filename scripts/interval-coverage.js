/**
 * How often the summary's 95 % intervals cover the truth, over simulated benchmarks of known distribution:
 *   node scripts/interval-coverage.js [benchmarks=1000]
 * The table is quoted in replay/evaluation/README.md.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const source = fileURLToPath(new URL('../replay/evaluation/simulated-benchmarks.ts', import.meta.url));
const { module } = await runnerImport(source, { configFile: false, logLevel: 'error' });
const benchmarks = Number(process.argv[2] ?? 1000);

/** Recordings per group. */
const groups = {
  '10 groups x 3 recordings': Array(10).fill(3),
  '9 groups of 16 7 4 4 3 3 2 2 1': [16, 7, 4, 4, 3, 3, 2, 2, 1],
  '8 groups x 1 recording': Array(8).fill(1),
};
/** Too few groups: resampled by recordings. */
const fewGroups = { '1 group, 13 recordings': [13], '3 groups x 3 recordings': [3, 3, 3] };
const spreads = {
  'sessions only': { groupSpread: 0, recordingSpread: 0, sessionSpread: 8 },
  'recordings, sessions': { groupSpread: 0, recordingSpread: 3, sessionSpread: 8 },
  'all three': { groupSpread: 2, recordingSpread: 3, sessionSpread: 8 },
  'groups mostly': { groupSpread: 4, recordingSpread: 2, sessionSpread: 4 },
};
const cases = [
  ...Object.entries(groups).flatMap(([name, recordings]) =>
    ['sessions only', 'all three', 'groups mostly'].map((spread) => ({ name, recordings, spread })),
  ),
  ...Object.entries(fewGroups).flatMap(([name, recordings]) =>
    ['recordings, sessions', 'groups mostly'].map((spread) => ({ name, recordings, spread })),
  ),
];

console.log('| benchmark | the difference varies by | qoeDiff | qoeMeanRatio | oracleGapClosed |');
console.log('|---|---|---|---|---|');
for (const { name, recordings, spread } of cases) {
  const coverage = module.intervalCoverage({
    shape: { recordings, sessionsPerRecording: 6, ...spreads[spread], skewed: true },
    benchmarks,
    resamples: 1000,
    seed: 1,
  });
  const cells = [coverage.qoeDiff, coverage.qoeMeanRatio, coverage.oracleGapClosed];
  console.log(`| ${name} | ${spread} | ${cells.map((share) => `${(100 * share).toFixed(1)} %`).join(' | ')} |`);
}
