/**
 * `npm run bench`, `bench:full` and `bench:kernel`: algorithms in real browsers, and a report.
 *
 *     node scripts/bench.js short     4 shipped traces, 24 segments, and the simulator: under 10 minutes on two quiet cores
 *     node scripts/bench.js full      24 segments from one start per trace of ../shared/data/traces (or of LEO_ABR_TRACES):
 *                                     hours; MPC-L on the models of LEO_ABR_FOLD_MODELS (`leo-abr train --folds`), else on
 *                                     the shipped one
 *     node scripts/bench.js kernel    MPC-D and MPC-L under the kernel's CUBIC and BBR: half an hour; Linux and root
 *
 * All print each command as it can be typed. `full` and `kernel` continue what an earlier call has left unfinished. Results
 * are in build/bench/<kind>; the exit status is that of the browsers' part.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COMMAND = join(ROOT, 'cli', 'bin', 'leo-abr.js');
const SHIPPED = ['stationary-typical', 'stationary-hard', 'driving-motorway', 'driving-urban-blocked'];
const shipped = SHIPPED.map((name) => `replay/traces/${name}.csv`);
const { LEO_ABR_FOLD_MODELS: foldModels } = process.env;
/** All but `road`, whose runs of 15 s hold no more than a segment. */
const RECORDINGS = ['autobahn', 'mmsys24', 'sat-vs-cell', 'starnet', 'starnet-sample', 'tum-idp'].map(
  (name) => `../shared/data/traces/${name}`,
);
const KINDS = {
  // Eight at a time make two cores late too often.
  short: { traces: shipped, flags: ['--scenario', 'hd-16', '--segments', '24'], contexts: ['--contexts', '5'] },
  full: {
    traces: process.env.LEO_ABR_TRACES?.split(delimiter).filter((path) => path !== '') ?? RECORDINGS,
    flags: ['--scenario', 'uhd-8', '--segments', '24', ...(foldModels ? ['--fold-models', foldModels] : [])],
  },
  kernel: { traces: shipped, flags: ['--scenario', 'hd-16', '--segments', '24'] },
};
const EXIT_FAULT = 1;

const [kind = 'short'] = process.argv.slice(2);
if (!Object.hasOwn(KINDS, kind)) {
  console.error(`usage: node scripts/bench.js ${Object.keys(KINDS).join('|')}`);
  process.exit(2);
}
const { traces, flags, contexts = [] } = KINDS[kind];
const missing = traces.filter((path) => !existsSync(resolve(ROOT, path)));
if (missing.length > 0) {
  console.error(`no traces at ${missing.join(', ')}: put some there, or name their folder in LEO_ABR_TRACES`);
  process.exit(2);
}

const folder = join('build', 'bench', kind);
mkdirSync(join(ROOT, folder), { recursive: true });
const traceFlags = traces.flatMap((path) => ['--traces', path]);
const files = [];
let status = 0;
if (kind === 'kernel') {
  for (const congestion of ['cubic', 'bbr']) {
    play(`${congestion}.json`, 'mpc-d,mpc-l', ['--tier', 'kernel', '--congestion', congestion]);
  }
} else {
  play('browser.json', 'mpc-d,mpc-l,mpc-o,dynamic', []);
  // dash.js's own rules are only in the browser.
  const file = join(folder, 'simulator.json');
  stopUnless0(leoAbr(['simulate', ...traceFlags, '--algorithms', 'mpc-d,mpc-l,mpc-o', ...flags, '--out', file]));
  files.push(file);
}
stopUnless0(leoAbr(['report', ...files, ...traceFlags, '--out', join(folder, 'report')]));
process.exit(status);

/** In browsers. Sessions that a busy machine has spoilt at every attempt are a fault, but those that count are in the file. */
function play(name, algorithms, tier) {
  const file = join(folder, name);
  if (kind === 'short') rmSync(join(ROOT, file), { force: true });
  const resume = kind === 'short' ? [] : ['--resume'];
  const played = leoAbr([
    'bench',
    ...tier,
    ...traceFlags,
    '--algorithms',
    algorithms,
    ...flags,
    ...contexts,
    ...resume,
    '--out',
    file,
  ]);
  if (played > EXIT_FAULT || !existsSync(join(ROOT, file))) process.exit(played);
  status ||= played;
  files.push(file);
}

function stopUnless0(ended) {
  if (ended !== 0) process.exit(ended);
}

/** Runs the command, having said what it is; its exit status. */
function leoAbr(args) {
  console.error(`\n$ npx leo-abr ${args.join(' ')}`);
  const { status, error } = spawnSync(process.execPath, [COMMAND, ...args], { cwd: ROOT, stdio: 'inherit' });
  if (error !== undefined) throw error;
  return status ?? 130;
}
