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

const { browserTotals, PARTS } = await import(new URL('../scripts/test-totals.js', import.meta.url).href);

test.each([
  ['all pass', 0, 0, { passed: 9, failed: 0, retried: 0 }],
  ['two of three pass again', 3, 2, { passed: 8, failed: 1, retried: 2 }],
  ['two pass again', 2, 2, { passed: 9, failed: 0, retried: 2 }],
  ['three pass again, which are too many', 3, 3, { passed: 6, failed: 3, retried: 3 }],
])('browser tests with the tag @timing: %s', (_, failed, passedAgain, totals) => {
  const report = (count: number, unexpected: number) => {
    const statuses = Array.from({ length: count }, (_, i) => (i < unexpected ? 'unexpected' : 'expected'));
    const specs = statuses.map((status, line) => {
      return { file: 'a.spec.ts', line, title: 'plays', tags: ['timing'], tests: [{ projectName: 'zoo', status }] };
    });
    return {
      stats: { expected: count - unexpected, unexpected, skipped: 0 },
      suites: [{ suites: [{ specs }] }],
      errors: [],
    };
  };
  const again = failed > 0 ? report(failed, failed - passedAgain) : undefined;
  const { retried, ...counted } = browserTotals(Math.min(1, failed), report(9, failed), again);
  expect({ ...counted, retried: retried.length }).toEqual({ ...totals, skipped: 0, mayPassAgain: failed });
});

test('a runner that fails without a failed test, or ends without a report, is a failed test', () => {
  const stats = { expected: 1, unexpected: 0, skipped: 0 };
  expect(browserTotals(1, { stats, suites: [], errors: [] })).toMatchObject({ passed: 1, failed: 1 });
  expect(browserTotals(1, undefined)).toMatchObject({ passed: 0, failed: 1 });
});

test("the workflow's jobs are together npm run test:all, and build once", () => {
  const read = (path: string) => readFileSync(`${ROOT}/${path}`, 'utf8');
  const workflow = read('.github/workflows/test.yml');
  const projects = [...read('playwright.config.ts').matchAll(/name: ['`](\w+)/g)].map(([, name]) => name!);
  expect(/ part: \[(.*)\]/.exec(workflow)![1]!.split(', ')).toEqual(PARTS);
  expect(projects.map((name) => name.replace(/^engine$/, 'engines')).sort()).toEqual(PARTS.slice(1).sort());
  expect(workflow).toMatch(/npm test -- --part \$\{\{ matrix\.part \}\}/);
  expect([workflow.match(/upload-artifact/g)!.length, workflow.match(/npm ci$/gm)!.length]).toEqual([1, 1]);
  for (const [, script] of workflow.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty([script!]);
});
