/** Unit tests: `x.test.ts` beside `x.ts`, as native ES modules (hence --experimental-vm-modules in package.json). */
export default {
  testEnvironment: 'node',
  roots: ['abr', 'predictor', 'session', 'src', 'replay', 'service', 'transport', 'cli', 'demo', 'docs'].map(
    (folder) => `<rootDir>/${folder}`,
  ),
  testMatch: ['**/*.test.ts'],
  // They need cargo or a quiet machine: `npm run test:transport`.
  testPathIgnorePatterns: ['/node_modules/', '/transport/(emulator-udp|http3)\\.test\\.ts$'],
  // A busy host may take seconds for what takes milliseconds; a test that hangs fails all the same.
  testTimeout: 60_000,
  // Jest leaves a core for watching by default; of two that is half.
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
