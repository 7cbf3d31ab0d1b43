/** `npm run bench` and `bench:full`. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandLine } from './command-line.js';

const { positionals, refuse } = commandLine(
  `usage: node scripts/bench.js [short|full]

Benchmarks in real browsers, with a report. Each command is printed. \`full\` resumes an unfinished run.
Results are in build/bench/<kind>; the exit status is that of the browser sessions.

npm run bench         short (the default): 4 shipped traces, 24 segments, also in the simulator: <10 min on 2 idle cores
npm run bench:full    24 segments from one start per trace of ../shared/data/traces or LEO_ABR_TRACES: hours; MPC-L with
                      the models in LEO_ABR_FOLD_MODELS (\`leo-abr train --folds\`), by default with the shipped one`,
  { positionals: 1 },
);

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COMMAND = join(ROOT, 'cli', 'bin', 'leo-abr.js');
const SHIPPED = ['stationary-typical', 'stationary-hard', 'driving-motorway', 'driving-urban-blocked'];
const shipped = SHIPPED.map((name) => `replay/traces/${name}.csv`);
const { LEO_ABR_FOLD_MODELS: foldModels } = process.env;
/** All but `road`, whose runs of 15 s hold at most one segment. */
const RECORDINGS = ['autobahn', 'mmsys24', 'sat-vs-cell', 'starnet', 'starnet-sample', 'tum-idp'].map(
  (name) => `../shared/data/traces/${name}`,
);
const KINDS = {
  // The default of eight concurrent sessions overloads two cores.
  short: { traces: shipped, flags: ['--scenario', 'hd-16', '--segments', '24'], contexts: ['--contexts', '5'] },
  full: {
    traces: process.env.LEO_ABR_TRACES?.split(delimiter).filter((path) => path !== '') ?? RECORDINGS,
    flags: ['--scenario', 'uhd-8', '--segments', '24', ...(foldModels ? ['--fold-models', foldModels] : [])],
  },
};
/** A fault in a session, and sessions that were rejected: the file has the others. */
const PARTLY = [1, 4];

const [kind = 'short'] = positionals;
if (!Object.hasOwn(KINDS, kind)) refuse(`no benchmark ${kind}: expected one of ${Object.keys(KINDS).join(', ')}`);
const { traces, flags, contexts = [] } = KINDS[kind];
const missing = traces.filter((path) => !existsSync(resolve(ROOT, path)));
if (missing.length > 0) {
  console.error(`no traces at ${missing.join(', ')}: put some there, or set LEO_ABR_TRACES to their folder`);
  process.exit(2);
}

const folder = join('build', 'bench', kind);
mkdirSync(join(ROOT, folder), { recursive: true });
const traceFlags = traces.flatMap((path) => ['--traces', path]);
const [browser, simulator] = ['browser.json', 'simulator.json'].map((name) => join(folder, name));
if (kind === 'short') rmSync(join(ROOT, browser), { force: true });
const resume = kind === 'short' ? [] : ['--resume'];
const plan = ['--algorithms', 'mpc-d,mpc-l,mpc-o,dynamic', ...flags, ...contexts, ...resume];
const status = leoAbr(['bench', ...traceFlags, ...plan, '--out', browser]);
if (status !== 0 && !PARTLY.includes(status)) process.exit(status);
// Without dash.js's own rules, which run in browsers only.
runOrExit(['simulate', ...traceFlags, '--algorithms', 'mpc-d,mpc-l,mpc-o', ...flags, '--out', simulator]);
runOrExit(['report', browser, simulator, '--out', join(folder, 'report')]);
process.exit(status);

function runOrExit(args) {
  const ended = leoAbr(args);
  if (ended !== 0) process.exit(ended);
}

/** Prints and runs a command; returns its exit status. */
function leoAbr(args) {
  console.error(`\n$ npx leo-abr ${args.join(' ')}`);
  const { status, error } = spawnSync(process.execPath, [COMMAND, ...args], { cwd: ROOT, stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 130;
}
