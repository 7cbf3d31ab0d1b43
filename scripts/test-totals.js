/** The parts of `npm run test:all`, and the counts of tests in the test runners' JSON reports. */

/** A job of .github/workflows/test.yml each: the unit tests, and projects of playwright.config.ts. */
export const PARTS = ['unit', 'plugin', 'zoo', 'tools', 'examples', 'engines'];

/** So many tests that needed to run again fail a run. */
const TOO_MANY_RETRIED = 3;

/** A runner that ended without a report, or with a fault that is no test's, counts as a failed test. */
const withStatus = (status, totals) => ({ ...totals, failed: totals.failed || Number(status !== 0) });

export const unitTotals = (status, report) =>
  withStatus(status, {
    passed: report?.numPassedTests ?? 0,
    failed: report ? report.numFailedTests + report.numRuntimeErrorTestSuites : 1,
    skipped: report?.numPendingTests ?? 0,
  });

/** `again` is the report of the second run of failed tests with the tag @timing. */
export function browserTotals(status, report, again) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0, mayPassAgain: 0 };
  const { expected, unexpected, skipped } = report.stats;
  const retried = testsIn(again).filter(({ status }) => status === 'expected');
  const isTooMany = retried.length >= TOO_MANY_RETRIED;
  const counted = isTooMany ? 0 : retried.length;
  const failed = unexpected - counted + report.errors.length;
  return {
    ...withStatus(retried.length > 0 ? 0 : status, { passed: expected + counted, failed, skipped }),
    retried: retried.map(({ name }) => name),
    mayPassAgain: testsIn(report).filter(({ status, tags }) => status === 'unexpected' && tags.includes('timing'))
      .length,
  };
}

/** A test of each spec and project. */
function testsIn({ suites = [], specs = [] } = {}) {
  const own = specs.flatMap(({ file, line, title, tags, tests }) =>
    tests.map(({ projectName, status }) => ({ name: `[${projectName}] ${file}:${line} ${title}`, tags, status })),
  );
  return [...own, ...suites.flatMap(testsIn)];
}
