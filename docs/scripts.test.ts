/** How the runner of the tests counts, and that the workflow's jobs are all tests. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { scripts: Record<string, string> };
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
