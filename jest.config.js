/** Unit tests: `x.test.ts` beside `x.ts`, or a file for small modules of a folder, as native ES modules (package.json). */
export default {
  testEnvironment: '<rootDir>/scripts/jest-environment.js',
  roots: ['abr', 'predictor', 'session', 'src', 'trial', 'replay', 'service', 'transport', 'cli', 'demo', 'docs'].map(
    (folder) => `<rootDir>/${folder}`,
  ),
  testMatch: ['**/*.test.ts'],
  // `npm run test:transport` runs these tests, which need cargo or a quiet machine.
  testPathIgnorePatterns: ['/node_modules/', '/transport/(emulator-udp|http3)\\.test\\.ts$'],
  // A busy host may need seconds instead of milliseconds. A test that hangs still fails.
  testTimeout: 180_000,
  // By default, Jest keeps one core for watching, which is half of two.
  maxWorkers: '100%',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '<rootDir>/scripts/jest-transform.js',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022', experimental: { keepImportAttributes: true } },
        module: { type: 'es6' },
      },
    ],
  },
};
