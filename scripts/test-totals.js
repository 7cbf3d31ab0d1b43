/** Counts the tests in the test runners' JSON reports. */

/** A busy host may explain retries of this share of the tests, but not of more. */
const MOST_RETRIED_SHARE = 0.01;

export const unitTotals = (report) => ({
  passed: report.numPassedTests,
  failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
  skipped: report.numPendingTests,
});

/** Adds the names of tests that passed only when they ran again. If they are too many, they count as failed. */
export function browserTotals({ stats, suites, errors }) {
  const retried = suites.flatMap(retriedIn);
  const ran = stats.expected + stats.flaky + stats.unexpected;
  const isTooMany = retried.length > MOST_RETRIED_SHARE * ran;
  return {
    passed: stats.expected + (isTooMany ? 0 : stats.flaky),
    failed: stats.unexpected + errors.length + (isTooMany ? stats.flaky : 0),
    skipped: stats.skipped,
    retried,
  };
}

function retriedIn({ suites = [], specs = [] }) {
  const found = specs.filter(({ tests }) => tests.some(({ status }) => status === 'flaky'));
  return [...found.map(({ file, line, title }) => `${file}:${line} ${title}`), ...suites.flatMap(retriedIn)];
}
