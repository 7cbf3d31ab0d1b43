/** Stryker's test runner for `npm run mutate`: a sample of the mutants, each against the test files that reach it. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { strykerPlugins as jestPlugins } from '@stryker-mutator/jest-runner';

const { SHARE = '1', SEED = '1' } = process.env;
const TESTS = 'tests.json';

/** Whether the mutant is in the sample. */
function isSampled({ fileName, location, mutatorName, replacement }) {
  const key = JSON.stringify([SEED, relative(process.cwd(), fileName), location, mutatorName, replacement]);
  return createHash('sha256').update(key).digest().readUInt32BE() < Number(SHARE) * 2 ** 32;
}

/** Jest's runner, but a mutant's test files run one by one, the shortest first, until one fails. */
function jestByFile(injector) {
  const runner = injector.injectFunction(jestPlugins[0].factory);
  const { dryRun, mutantRun, run } = Object.fromEntries(
    ['dryRun', 'mutantRun', 'run'].map((name) => [name, runner[name].bind(runner)]),
  );
  let file;
  runner.run = (settings) => run(file ? { ...settings, fileNamesUnderTest: undefined, testFiles: [file] } : settings);
  runner.dryRun = async (options) => {
    const result = await dryRun(options);
    // A process that replaces this one reads them.
    writeFileSync(TESTS, JSON.stringify(result.tests ?? []));
    return result;
  };
  runner.mutantRun = async (options) => {
    if (!isSampled(options.activeMutant)) return { status: 'error', errorMessage: 'not sampled' };
    const msByFile = new Map();
    for (const { id, fileName, timeSpentMs } of JSON.parse(readFileSync(TESTS, 'utf8'))) {
      if (options.testFilter.includes(id)) msByFile.set(fileName, (msByFile.get(fileName) ?? 0) + timeSpentMs);
    }
    let result;
    for ([file] of [...msByFile].sort(([, a], [, b]) => a - b)) {
      result = await mutantRun(options);
      if (result.status !== 'survived') break;
    }
    file = undefined;
    return result;
  };
  return runner;
}
jestByFile.inject = ['$injector'];

export const strykerPlugins = [{ kind: 'TestRunner', name: 'jest-by-file', factory: jestByFile }];
