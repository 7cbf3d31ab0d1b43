/** `npm run league`: plays the league table of web ABR, and writes it. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, ROOT } from './command-line.js';

const USAGE = `usage: npm run league -- [options]

Plays every ABR of the simulator on the same synthetic links, on demand and live (10 min on 2 idle cores), and writes
docs/league.md and the page build/league/report/index.html.

--algorithm <file>  also your own algorithm, such as ./mine.ts; repeatable
--browser           also the ABR of dash.js, hls.js and Shaka Player, in Chromium, in real time (35 min)
--data <folder>     also published set-ups on recordings (docs/datasets.md)`;
const { values: flags } = commandLine(USAGE, {
  options: {
    algorithm: { type: 'string', multiple: true, default: [] },
    browser: { type: 'boolean' },
    data: { type: 'string' },
  },
});

const steps = ['league', ...(flags.browser ? ['league-browser'] : []), ...(flags.data ? ['published'] : [])];
const out = join(ROOT, 'build', 'league');
const own = flags.algorithm.flatMap((file) => ['--algorithm', file]);
run('scripts/reproduce.js', ...steps, '--update', '--out', out, ...own, ...(flags.data ? ['--data', flags.data] : []));
run('scripts/tables.js');
const results = steps.flatMap((step) =>
  readdirSync(join(out, step))
    .filter((name) => name.endsWith('.json') && name !== 'manifest.json')
    .map((name) => join(out, step, name)),
);
run('cli/bin/leo-abr.js', 'report', ...results, '--title', 'League table', '--out', join(out, 'report'));

function run(program, ...args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
