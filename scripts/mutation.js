/** Stryker's runner of Jest, one test file at a time until one fails: that beside the mutant or of its folder first. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { strykerPlugins as jestPlugins } from '@stryker-mutator/jest-runner';

const TESTS = 'tests.json';

function jestByFile(injector) {
  const runner = injector.injectFunction(jestPlugins[0].factory);
  const { dryRun, mutantRun, run } = Object.fromEntries(
    ['dryRun', 'mutantRun', 'run'].map((name) => [name, runner[name].bind(runner)]),
  );
  let file;
  runner.run = (settings) => run(file ? { ...settings, fileNamesUnderTest: undefined, testFiles: [file] } : settings);
  runner.dryRun = async (options) => {
    const result = await dryRun(options);
    // If another process replaces this process, it reads the tests from the file.
    writeFileSync(TESTS, JSON.stringify(result.tests ?? []));
    return result;
  };
  runner.mutantRun = async (options) => {
    const mutated = options.activeMutant.fileName;
    const beside = [basename(mutated, '.ts'), basename(dirname(mutated))];
    const msByFile = new Map();
    for (const { id, fileName, timeSpentMs } of JSON.parse(readFileSync(TESTS, 'utf8'))) {
      if (!options.testFilter.includes(id)) continue;
      const knownMs = msByFile.get(fileName) ?? (beside.includes(basename(fileName, '.test.ts')) ? -1e9 : 0);
      msByFile.set(fileName, knownMs + timeSpentMs);
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
