/** Mutation tests (`npm run mutate`) of a sample: a SHARE (0 to 1) of the blocks of eight lines, drawn by a SEED. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const { SHARE = '0.05', SEED = '1' } = process.env;
const LINES = 8;

/** Stryker mutates code within a block. A mutant over more lines is not in the sample. */
const blocks = ['abr', 'session', 'predictor/forecast', 'predictor/link'].flatMap((folder) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => /(?<!\.test|\.fixture)\.ts$/.test(name))
    .flatMap((name) => {
      const file = `${folder}/${name}`;
      const { length } = readFileSync(file, 'utf8').split('\n');
      return Array.from({ length: Math.ceil(length / LINES) }, (_, i) => `${file}:${i * LINES + 1}-${(i + 1) * LINES}`);
    }),
);
const hashOf = (text) => createHash('sha256').update(text).digest();
const draw = (text) => hashOf(SEED + text).readUInt32BE() / 2 ** 32;

export default {
  mutate: blocks.filter((block) => draw(block) < Number(SHARE)),
  ignorePatterns: ['/*', '!/abr', '!/predictor', '!/session', '!/scripts', '!/*.js*'],
  plugins: ['@stryker-mutator/jest-runner', './scripts/mutation.js'],
  testRunner: 'jest-by-file',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: {
    config: {
      roots: ['<rootDir>/abr', '<rootDir>/predictor', '<rootDir>/session'],
      setupFiles: ['<rootDir>/scripts/mutation-setup.js'],
      // Stryker's own environment extends this one; it cannot load ours, which is an ES module.
      testEnvironment: 'node',
    },
  },
  coverageAnalysis: 'perTest',
  dryRunTimeoutMinutes: 30,
  ignoreStatic: true,
  concurrency: 1,
  // Stryker would need TypeScript's old interface to read it.
  tsconfigFile: 'none',
  tempDirName: 'build/mutate/sandbox',
  reporters: ['clear-text', 'progress-append-only', 'json'],
  jsonReporter: { fileName: 'build/mutate/mutants.json' },
};
