/** `npm test`: runs all tests. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine } from './command-line.js';
import { browserTotals, unitTotals } from './test-totals.js';

commandLine(`usage: npm test

Runs the unit tests, then the browser tests. The last line is the total, "N passed, N failed[, N skipped]". The lines
before it name tests that passed only when they ran again; more than 1 % of them count as failed. The exit status is 1 if
a test failed or a runner ended without a report. To run some tests:
    npm run unit -- <file>
    npm run e2e -- <file>`);

const reports = mkdtempSync(join(tmpdir(), 'leo-abr-test-'));
const totals = { passed: 0, failed: 0, skipped: 0 };

/** Runs a test runner and adds its JSON report to the totals. */
function run(name, args, count) {
  const file = join(reports, `${name}.json`);
  const env = { ...process.env, PLAYWRIGHT_JSON_OUTPUT_NAME: file };
  const { status } = spawnSync(process.execPath, args(file), { stdio: ['ignore', 'inherit', 'inherit'], env });
  let counted;
  try {
    counted = count(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    counted = { passed: 0, failed: 1, skipped: 0 };
    console.error(`${name}: the runner ended (status ${status}) without a report`);
  }
  if (status !== 0 && counted.failed === 0) counted.failed = 1;
  for (const name of counted.retried ?? []) console.log(`passed only when it ran again: ${name}`);
  for (const key of Object.keys(totals)) totals[key] += counted[key];
}

const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
run('unit', (file) => [...node, 'node_modules/jest/bin/jest.js', '--json', `--outputFile=${file}`], unitTotals);
run('browser', () => ['node_modules/@playwright/test/cli.js', 'test', '--reporter=list,json'], browserTotals);
rmSync(reports, { recursive: true, force: true });

const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exit(totals.failed > 0 ? 1 : 0);
