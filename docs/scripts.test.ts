/** The scripts behind `npm run` explain themselves and refuse unknown arguments. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { scripts: Record<string, string> };
/** The project's own programs, without its dependencies. */
const PROGRAMS = [
  ...new Set(Object.values(scripts).flatMap((text) => text.match(/(?<=\bnode )(?!node_modules)[\w./-]+\.js/g) ?? [])),
];

/** Runs a program. The time limit ends a program that has accepted its arguments. */
const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 30_000 });

test.each(PROGRAMS)('%s explains itself', (program) => {
  const { status, stdout, stderr } = run(program, '--help');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^usage: (npm|node) .*\n\n\S/);
});

/** For all programs, `commandLine` refuses unknown options (reproduce.test.ts), and arguments if they have none. */
const TAKING = PROGRAMS.filter((program) => /\bpositionals\b/.test(readFileSync(`${ROOT}/${program}`, 'utf8')));
test.each(['scripts/size.js', ...TAKING])('%s refuses what it does not know', (program) => {
  const refused = run(program, 'no-such-argument');
  expect(refused).toMatchObject({ status: 2, stdout: '' });
  expect(refused.stderr).toMatch(/no-such-argument.*\n\nusage: /);
  expect(refused.stderr).not.toMatch(/^ +at /m);
});

test.each([
  [100, 1, { passed: 100, failed: 0 }],
  [100, 2, { passed: 98, failed: 2 }],
  [3, 0, { passed: 3, failed: 0 }],
])('of %s browser tests %s needed their retry', async (count, flaky, totals) => {
  const { browserTotals } = await import(new URL('../scripts/test-totals.js', import.meta.url).href);
  const specs = Array.from({ length: count }, (_, n) => {
    return { file: 'a.spec.ts', line: n, title: 'plays', tests: [{ status: n < flaky ? 'flaky' : 'expected' }] };
  });
  const stats = { expected: count - flaky, flaky, unexpected: 0, skipped: 0 };
  const suites = [{ suites: [{ specs }] }];
  const retried = ['a.spec.ts:0 plays', 'a.spec.ts:1 plays'].slice(0, flaky);
  expect(browserTotals({ stats, suites, errors: [] })).toEqual({ ...totals, skipped: 0, retried });
});
