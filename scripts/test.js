/** `npm test` and `npm run test:all`: run unit tests and browser tests side by side. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { commandLine } from './command-line.js';
import { browserTotals, PARTS, unitTotals } from './test-totals.js';

const { values, refuse } = commandLine(
  `usage: npm test [-- --part <part> | --all]

npm test runs the unit tests, and beside them the browser tests that a change needs (tags @core and @change), in Chromium.
npm run test:all (--all) runs all tests, in every engine; --part runs one of its parts: ${PARTS.join(', ')}.

The last line is the total, "N passed, N failed[, N skipped]". A test with the tag @timing may fail once: it runs again
when all others have ended, and the output names it. Three such tests fail the run. The exit status is 1 if a test failed
or a runner ended without a report. To run some tests:
    npm run unit -- <file>
    npm run e2e -- <file>
    npm run test:changed`,
  { options: { all: { type: 'boolean' }, part: { type: 'string' } } },
);
const { all = false, part } = values;
if (part !== undefined && !PARTS.includes(part)) refuse(`unknown part ${part}: expected ${PARTS.join(', ')}`);

const reports = mkdtempSync(join(tmpdir(), 'leo-abr-test-'));

/** Runs a test runner. Its report is undefined if the runner ended without one. */
async function run(name, args, { beside, niceness = 5, variables = {} } = {}) {
  const file = join(reports, `${name}.json`);
  const env = { ...process.env, ...variables, PLAYWRIGHT_JSON_OUTPUT_NAME: file };
  const stdio = ['ignore', ...(beside ? ['pipe', 'pipe'] : ['inherit', 'inherit'])];
  const child = spawn(process.execPath, args(file), { stdio, env });
  const ended = new Promise((resolve) => child.on('close', resolve));
  if (beside) {
    // Players are measured in real time and mostly wait. Others compute meanwhile, behind them.
    setPriority(child.pid, niceness);
    console.log(`The ${name} tests run beside the ${beside} tests; their output comes when they have ended.`);
    for (const output of await Promise.all([child.stderr, child.stdout].map(text))) process.stdout.write(output);
  }
  const status = await ended;
  try {
    return { status, report: JSON.parse(readFileSync(file, 'utf8')) };
  } catch {
    console.error(`${name}: the runner ended (status ${status}) without a report`);
    return { status };
  }
}

const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
const jest = (file) => [...node, 'node_modules/jest/bin/jest.js', '--json', `--outputFile=${file}`];
const playwright = (...args) => ['node_modules/@playwright/test/cli.js', 'test', '--reporter=list,json', ...args];

async function runUnit() {
  const beside = part === undefined && 'browser';
  // Slow properties then have a quarter of their draws (abr/property.fixture.ts).
  const variables = beside && !all ? { LEO_ABR_DRAWS: '0.25' } : {};
  const { status, report } = await run('unit', jest, { beside, variables });
  return unitTotals(status, report);
}

async function runPlaywright(name, chosen, how) {
  const { status, report } = await run(name, () => playwright(...chosen), how);
  const first = browserTotals(status, report);
  if (first.mayPassAgain === 0) return first;
  const where = chosen.filter((argument) => /^--(project|output)=/.test(argument));
  const repeated = () => playwright('--last-failed', '--grep=@timing', '--workers=1', ...where);
  return browserTotals(status, report, (await run(`${name}-again`, repeated)).report);
}

async function runBrowsers() {
  if (part !== undefined) return runPlaywright('browsers', [`--project=${part === 'engines' ? 'engine-*' : part}`]);
  const changes = [...PARTS.slice(1, -1).map((name) => `--project=${name}`), '--grep=@core|@change'];
  if (!all) return runPlaywright('browsers', changes);
  const most = await runPlaywright('browsers', ['--grep-invert=^(examples|zoo) ']);
  // A page of the zoo has a dozen players, which need the host nearly alone. Behind them, the examples mostly install and
  // build packages.
  const examples = ['--project=examples', '--workers=1', '--output=build/test-results-examples'];
  const rest = [
    runPlaywright('zoo', ['--project=zoo']),
    runPlaywright('examples', examples, { beside: 'zoo', niceness: 15 }),
  ];
  return [most, ...(await Promise.all(rest))];
}

const runs = [
  ...(part === undefined || part === 'unit' ? [runUnit()] : []),
  ...(part === 'unit' ? [] : [runBrowsers()]),
];
const totals = (await Promise.all(runs)).flat();
rmSync(reports, { recursive: true, force: true });

for (const name of totals.flatMap(({ retried = [] }) => retried)) console.log(`passed only when it ran again: ${name}`);
const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map((key) =>
  totals.reduce((sum, one) => sum + one[key], 0),
);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
