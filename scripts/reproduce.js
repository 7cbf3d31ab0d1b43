/** `npm run reproduce`; the steps are in reproduce-steps.js. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { commandLine } from './command-line.js';
import { tableDifferences } from './table-differences.js';

/** Data sets that `leo-abr datasets` cannot fetch. */
const WITHOUT_RECIPE = ['leocc-digitised', 'starnet-sample'];
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NEEDS = ['browser', 'python', 'cargo'];
const {
  values: flags,
  positionals,
  refuse,
} = commandLine(
  `usage: npm run reproduce -- [options] [<step>...]

Plays the benchmarks behind tables of docs/ again. Without steps it takes those whose recordings and programs are there.
It lists what it will do, runs the commands of scripts/reproduce-steps.js with \`bash\`, and writes results and
manifest.json to build/reproduce/<step>. A step that was run before at this commit, on the same recordings, is not run
again, and one that was interrupted goes on. The exit status is 1 if a step failed or cannot run, or a number differs: of
a simulated table by more than rounding, of another one if it is outside the interval in its cell.

--list            only list the steps
--check           then compare the results with the tables in docs/
--with <program>  also the steps that need ${NEEDS.join(', ')}; repeatable
--data <folder>   recordings, by default ../shared/data
--docs <folder>   documents with tables, by default docs
--steps <file>    module with the steps, by default scripts/reproduce-steps.js
--out <folder>    results, by default build/reproduce`,
  {
    options: {
      list: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      with: { type: 'string', multiple: true, default: [] },
      data: { type: 'string', default: join(ROOT, '..', 'shared', 'data') },
      docs: { type: 'string', default: join(ROOT, 'docs') },
      steps: { type: 'string', default: join(ROOT, 'scripts', 'reproduce-steps.js') },
      out: { type: 'string', default: join(ROOT, 'build', 'reproduce') },
    },
    positionals: Number.POSITIVE_INFINITY,
  },
);
const unneeded = flags.with.find((program) => !NEEDS.includes(program));
if (unneeded !== undefined) refuse(`--with: expected one of ${NEEDS.join(', ')}, got ${unneeded}`);
if (!existsSync(flags.steps)) refuse(`--steps: ${flags.steps}: no such file`);
const { STEPS: steps } = await import(pathToFileURL(resolve(flags.steps)).href);
const unknown = positionals.find((name) => !Object.hasOwn(steps, name));
if (unknown !== undefined) refuse(`no step ${unknown}: expected some of ${Object.keys(steps).join(', ')}`);

const missingIn = (name) => steps[name].recordings.filter((one) => !existsSync(join(flags.data, one)));
const hasNoRecipe = (one) => WITHOUT_RECIPE.includes(basename(one));

const chosen = [];
let [minutes, gigabytes] = [0, 0];
for (const [name, step] of Object.entries(steps)) {
  const missing = missingIn(name);
  const isAsked =
    positionals.length === 0 ? flags.with.includes(step.needs ?? '') || !step.needs : positionals.includes(name);
  const canRun = missing.every(hasNoRecipe);
  const does = `${name}: ${step.does}; ${step.minutes} min on 2 idle cores, ${step.gigabytes} GB`;
  const remarks = [
    ...(missing.length > 0 ? [`no ${missing.join(', ')} in ${flags.data}; ${fetching(missing)}`] : []),
    ...(canRun && !isAsked && positionals.length === 0 ? [`only with --with ${step.needs}`] : []),
  ];
  const remark = remarks.length > 0 ? ` (${remarks.join('; ')})` : '';
  console.error(`${isAsked && canRun ? 'will run' : 'not run '}  ${does}${remark}`);
  if (!isAsked || !canRun) continue;
  chosen.push(name);
  minutes += step.minutes;
  gigabytes += step.gigabytes;
}
console.error(`${chosen.length} steps, ${minutes} min, ${gigabytes.toFixed(1)} GB in ${flags.out}`);
if (flags.list) process.exit(0);

const failed = positionals.filter((name) => !chosen.includes(name));
let differing = 0;
for (const name of chosen) {
  const folder = resolve(flags.out, name);
  if (!run(name, folder)) {
    failed.push(name);
    continue;
  }
  if (!flags.check) continue;
  for (const table of steps[name].tables) {
    const place = `${table.doc}, ${table.heading}`;
    const without = missingIn(name).map((one) => basename(one));
    const { compared, differences } = tableDifferences(table, { docs: flags.docs, results: folder, without });
    for (const difference of differences) console.log(`${name}: ${place}: ${difference}`);
    const rest = without.length > 0 ? `, and not what needs ${without.join(', ')}` : '';
    console.log(`${name}: ${place}: ${compared} numbers compared${rest}, ${differences.length} differ`);
    differing += differences.length;
  }
}
process.exit(differing > 0 || failed.length > 0 ? 1 : 0);

/** The commands that make folders `<place>/<data set>` of the data; sets without a recipe are named. */
function fetching(missing) {
  const [byHand, others] = [true, false].map((is) => missing.filter((one) => hasNoRecipe(one) === is));
  const commands = [...new Set(others.map(dirname))].map((place) => {
    const names = others.filter((one) => dirname(one) === place).map((one) => basename(one));
    return `npx leo-abr datasets fetch ${names.join(' ')} --out ${join(flags.data, place)}`;
  });
  const notes = byHand.map((one) => `${basename(one)} has no recipe: docs/datasets.md#sets-without-a-recipe`);
  return [...(commands.length > 0 ? [commands.join(' && ')] : []), ...notes].join('; ');
}

/**
 * Runs a step's commands, unless its manifest says that they were run with the same code and recordings; false if one
 * failed. Whatever was played with the same code and recordings stays, for the commands to resume.
 */
function run(name, folder) {
  const { commands, recordings } = steps[name];
  const there = recordings.map((one) => join(flags.data, one)).filter((one) => existsSync(one));
  const file = join(folder, 'manifest.json');
  const inputs = hashes(there, flags.data);
  const commit = git('describe', '--always', '--dirty', '--abbrev=40', '--exclude=*');
  const same = { step: name, commit, commands, inputs };
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const isSame = Object.entries(same).every(([key, value]) => JSON.stringify(before[key]) === JSON.stringify(value));
  if (isSame && before.outputs && !commit.endsWith('-dirty')) {
    console.error(`${name}: done before, ${relative(ROOT, file)}`);
    return true;
  }
  if (!isSame || before.outputs) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(same, null, 2)}\n`);
  const startedAt = new Date();
  const env = {
    ...process.env,
    DATA: resolve(flags.data),
    OUT: folder,
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
  const outputs = hashes([folder], folder);
  const seeds = [...new Set([...commands.join(' ').matchAll(/--seed (\d+)/g)].map(([, seed]) => Number(seed)))];
  const manifest = {
    ...same,
    seeds: seeds.length > 0 ? seeds : [1],
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt) / 1000),
    machine: {
      cores: availableParallelism(),
      processor: cpus()[0]?.model,
      gigabytes: Math.round(totalmem() / 2 ** 30),
      system: `${platform()} ${release()}`,
    },
    versions: { node: process.version, lock: hashOf(join(ROOT, 'package-lock.json')) },
    outputs,
  };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  return true;
}

/** SHA-256 of files, and of those in folders, by path relative to `base`. */
function hashes(paths, base) {
  const found = {};
  for (const path of paths) {
    const isFolder = statSync(path).isDirectory();
    const files = isFolder ? readdirSync(path, { recursive: true }).map((name) => join(path, name)) : [path];
    for (const one of files.sort()) if (statSync(one).isFile()) found[relative(base, one)] = hashOf(one);
  }
  return found;
}

function hashOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function git(...args) {
  return execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' }).trim();
}
