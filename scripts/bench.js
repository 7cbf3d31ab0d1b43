/**
 * `npm run bench` and `npm run bench:full`: algorithms in real browsers, the same in the simulator, and a report on both.
 *
 *     node scripts/bench.js short    4 shipped traces, 24 segments: under 10 minutes on two quiet cores
 *     node scripts/bench.js full     one start per trace of ../shared/data/traces (or of LEO_ABR_TRACES): hours
 *
 * Both print each command as it can be typed. `full` continues what an earlier call has left unfinished. Results are in
 * build/bench/<short|full>; the exit status is that of the browsers' part.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COMMAND = join(ROOT, 'cli', 'bin', 'leo-abr.js');
const SHIPPED = ['stationary-typical', 'stationary-hard', 'driving-motorway', 'driving-urban-blocked'];
const KINDS = {
  short: {
    traces: SHIPPED.map((name) => `replay/traces/${name}.csv`),
    flags: ['--scenario', 'hd-16', '--segments', '24'],
  },
  full: {
    traces: (process.env.LEO_ABR_TRACES ?? '../shared/data/traces').split(delimiter).filter((path) => path !== ''),
    flags: ['--scenario', 'uhd-8'],
  },
};
const EXIT_FAULT = 1;

const [kind = 'short'] = process.argv.slice(2);
if (!Object.hasOwn(KINDS, kind)) {
  console.error(`usage: node scripts/bench.js ${Object.keys(KINDS).join('|')}`);
  process.exit(2);
}
const { traces, flags } = KINDS[kind];
const missing = traces.filter((path) => !existsSync(resolve(ROOT, path)));
if (missing.length > 0) {
  console.error(`no traces at ${missing.join(', ')}: put some there, or name their folder in LEO_ABR_TRACES`);
  process.exit(2);
}

const folder = join('build', 'bench', kind);
mkdirSync(join(ROOT, folder), { recursive: true });
const [browser, simulator] = [join(folder, 'browser.json'), join(folder, 'simulator.json')];
if (kind === 'short') for (const file of [browser, simulator]) rmSync(join(ROOT, file), { force: true });
const traceFlags = traces.flatMap((path) => ['--traces', path]);

const played = leoAbr([
  ...['bench', ...traceFlags, '--algorithms', 'mpc-d,mpc-l,mpc-o,dynamic', ...flags],
  ...[...(kind === 'full' ? ['--resume'] : []), '--out', browser],
]);
// Sessions that a busy machine has spoilt at every attempt are a fault, but those that count are in the file.
if (played > EXIT_FAULT || !existsSync(join(ROOT, browser))) process.exit(played);
// dash.js's own rules are only in the browser.
const simulated = leoAbr([
  'simulate',
  ...traceFlags,
  '--algorithms',
  'mpc-d,mpc-l,mpc-o',
  ...flags,
  '--out',
  simulator,
]);
if (simulated !== 0) process.exit(simulated);
const reported = leoAbr(['report', browser, simulator, ...traceFlags, '--out', join(folder, 'report')]);
process.exit(reported || played);

/** Runs the command, having said what it is; its exit status. */
function leoAbr(args) {
  console.error(`\n$ npx leo-abr ${args.join(' ')}`);
  const { status, error } = spawnSync(process.execPath, [COMMAND, ...args], { cwd: ROOT, stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 130;
}
