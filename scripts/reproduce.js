/** `npm run reproduce`: repeats the benchmarks behind tables of docs/. result-steps.js describes the steps. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join, relative, resolve } from 'node:path';
import { commandLine, ROOT } from './command-line.js';
import {
  differences,
  MANIFEST,
  playedWith,
  ranked,
  readSteps,
  rowsNow,
  rowsToPlay,
  writeStep,
} from './result-steps.js';

/** Data sets that `leo-abr datasets` cannot fetch. */
const WITHOUT_RECIPE = ['leocc-digitised', 'starnet-sample'];
const NEEDS = ['browser', 'python', 'cargo'];
const USAGE = `usage: npm run reproduce -- [options] [<step>...]

Plays the steps of docs/results again: without names all whose recordings are there and that need only the simulator.
Results and ${MANIFEST} are in <out>/<step>. A step that was played at this commit, on the same recordings, is not played
again, and one that was interrupted goes on. The status is 1 if a step failed or cannot run, or a number differs.

--list              only list the steps
--check             compare the results with docs/results
--update            write the results to docs/results (then: npm run tables)
--algorithm <file>  also an algorithm of your own, in steps whose commands have $OWN; repeatable
--with <program>    also the steps that need ${NEEDS.join(', ')}; repeatable
--data <folder>     recordings, by default ../shared/data
--results <folder>  the steps, by default docs/results
--out <folder>      by default build/reproduce`;
const options = {
  ...Object.fromEntries(['list', 'check', 'update'].map((name) => [name, { type: 'boolean' }])),
  algorithm: { type: 'string', multiple: true, default: [] },
  with: { type: 'string', multiple: true, default: [] },
  data: { type: 'string', default: join(ROOT, '..', 'shared', 'data') },
  results: { type: 'string', default: join(ROOT, 'docs', 'results') },
  out: { type: 'string', default: join(ROOT, 'build', 'reproduce') },
};
const parsed = commandLine(USAGE, { options, positionals: Number.POSITIVE_INFINITY });
const { values: flags, positionals: asked, refuse } = parsed;
const unneeded = flags.with.find((program) => !NEEDS.includes(program));
if (unneeded !== undefined) refuse(`--with: expected one of ${NEEDS.join(', ')}, got ${unneeded}`);
const steps = readSteps(flags.results);
const unknown = asked.find((name) => !Object.hasOwn(steps, name));
if (unknown !== undefined) refuse(`no step ${unknown}: expected some of ${Object.keys(steps).join(', ')}`);

const missingIn = (name) => steps[name].recordings.filter((one) => !existsSync(join(flags.data, one)));
const hasNoRecipe = (one) => WITHOUT_RECIPE.includes(basename(one));
const chosen = Object.keys(steps).filter(isChosen);
const sum = (of) => chosen.reduce((total, name) => total + steps[name][of], 0);
console.error(`${chosen.length} steps, ${sum('minutes')} min, ${sum('gigabytes').toFixed(1)} GB in ${flags.out}`);
if (flags.list) process.exit(0);
const failed = asked.filter((name) => !chosen.includes(name));
let differing = 0;
for (const name of chosen) {
  const folder = resolve(flags.out, name);
  if (!run(name, folder)) failed.push(name);
  else if (flags.check || flags.update) differing += await compareOrUpdate(name, folder);
}
process.exit(differing > 0 || failed.length > 0 ? 1 : 0);

/** Tells whether the step is played, and prints why not. */
function isChosen(name) {
  const step = steps[name];
  const missing = missingIn(name);
  const canRun = missing.every(hasNoRecipe);
  const isAsked = asked.length === 0 ? !step.needs || flags.with.includes(step.needs) : asked.includes(name);
  const remarks = [
    ...(missing.length > 0 ? [`no ${missing.join(', ')} in ${flags.data}; docs/datasets.md`] : []),
    ...(canRun && !isAsked && asked.length === 0 ? [`only with --with ${step.needs}`] : []),
  ];
  const remark = remarks.length > 0 ? ` (${remarks.join('; ')})` : '';
  const does = `${name}: ${step.does}; ${step.minutes} min on 2 idle cores, ${step.gigabytes} GB`;
  console.error(`${isAsked && canRun ? 'will run' : 'not run '}  ${does}${remark}`);
  return isAsked && canRun;
}

async function compareOrUpdate(name, folder) {
  const without = missingIn(name).map((one) => basename(one));
  let count = 0;
  for (const [title, table] of Object.entries(steps[name].tables)) {
    // Others have published these rows.
    if (table.files.length === 0) continue;
    table.rows = rowsToPlay(table, flags.algorithm);
    const now = await rowsNow(table, folder);
    const { compared, lines } = differences(table, now, without);
    for (const line of lines) console.log(`${title}: ${line}`);
    const rest = without.length > 0 ? `, and not what needs ${without.join(', ')}` : '';
    console.log(`${title}: ${compared} numbers compared${rest}, ${lines.length} differ`);
    count += lines.length;
    table.rows = ranked(table, now);
  }
  const step = steps[name];
  if (flags.update) writeStep(join(flags.results, `${name}.json`), { ...step, played: playedWith(folder, step) });
  return flags.update ? 0 : count;
}

/** Plays a step, unless its manifest has the same code and recordings. Returns false if a command failed. */
function run(name, folder) {
  const { recordings } = steps[name];
  const commands = steps[name].commands.map((lines) => lines.join('\n'));
  const there = recordings.map((one) => join(flags.data, one)).filter((one) => existsSync(one));
  const file = join(folder, MANIFEST);
  const git = ['-C', ROOT, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  const commit = execFileSync('git', git, { encoding: 'utf8' }).trim();
  const own = flags.algorithm.map((file) => resolve(file));
  const same = { step: name, commit, commands, inputs: hashes([...there, ...own], flags.data) };
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const isSame = Object.entries(same).every(([key, value]) => JSON.stringify(before[key]) === JSON.stringify(value));
  if (isSame && before.outputs && !commit.endsWith('-dirty')) {
    console.error(`${name}: done before, ${relative(ROOT, file)}`);
    return true;
  }
  if (!isSame || before.outputs) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(same, null, 2)}\n`);
  const env = {
    ...process.env,
    DATA: resolve(flags.data),
    OUT: folder,
    OWN: flags.algorithm.map((file) => `,${file}`).join(''),
    TRACES: there.map((one) => `--traces ${resolve(one)}`).join(' '),
    PATH: [join(ROOT, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
  };
  for (const command of commands) {
    console.error(`\n$ ${command}`);
    const { status } = spawnSync('bash', ['-ec', command], { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] });
    if (status === 0) continue;
    console.error(`${name}: status ${status}; the same command goes on from there`);
    if (status === null || status >= 128) process.exit(130);
    return false;
  }
  const manifest = { ...same, node: process.version, outputs: hashes([folder], folder) };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  return true;
}

/** SHA-256 of files and of the files in folders, by path relative to `base`. */
function hashes(paths, base) {
  const files = paths.flatMap((path) =>
    statSync(path).isDirectory() ? readdirSync(path, { recursive: true }).map((name) => join(path, name)) : [path],
  );
  const found = files.filter((file) => statSync(file).isFile()).sort();
  const hash = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
  return Object.fromEntries(found.map((file) => [relative(base, file), hash(file)]));
}
