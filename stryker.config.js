/** Mutation tests: `npm run mutate`. The environment's SHARE (0 to 1) and SEED choose a sample of the mutants. */
export default {
  mutate: ['{abr,session}/**/*.ts', 'predictor/{forecast,link}/**/*.ts', '!**/*.{test,fixture}.ts'],
  ignorePatterns: ['/*', '!/abr', '!/predictor', '!/session', '!/scripts', '!/*.js*'],
  plugins: ['@stryker-mutator/jest-runner', './scripts/mutation.js'],
  testRunner: 'jest-by-file',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: { config: { roots: ['<rootDir>/abr', '<rootDir>/predictor', '<rootDir>/session'] } },
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  concurrency: 1,
  // Only for TypeScript's old interface.
  tsconfigFile: 'none',
  tempDirName: 'build/mutate/sandbox',
  reporters: ['clear-text', 'json'],
  jsonReporter: { fileName: 'build/mutate/mutants.json' },
};
