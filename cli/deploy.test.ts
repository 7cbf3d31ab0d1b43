/** The files that run the service permanently (a unit of systemd, a container), and benchmarks on many machines. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '../replay/folder.fixture.ts';
import { runListening } from './shared/run.fixture.ts';

const at = temporaryFolder('file');
const read = (name: string) => readFileSync(new URL(`deploy/${name}`, import.meta.url), 'utf8');

/** The variables in words such as `NAME=value`. */
const variables = (text: string) =>
  Object.fromEntries([...text.matchAll(/\b(LEO_ABR_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]));

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const skipped = hasSystemd ? '' : ' (skipped: no systemd-analyze)';
(hasSystemd ? test : test.skip)(`the unit is valid, and exposes the system by at most 2.5${skipped}`, () => {
  const unit = at('leo-abr.service');
  // systemd-analyze looks for the program, and `leo-abr` is not installed here.
  writeFileSync(unit, read('leo-abr.service').replace(/^ExecStart=leo-abr/m, `ExecStart=${process.execPath}`));
  const analyze = (...args: string[]) => spawnSync('systemd-analyze', [...args, unit], { encoding: 'utf8' });
  const { status, stdout, stderr } = analyze('verify');
  const messages = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(unit));
  expect({ status, messages }).toEqual({ status: 0, messages: [] });
  const { status: exposure, stdout: table } = analyze('security', '--offline=true', '--threshold=25');
  expect({ exposure, table: exposure === 0 ? '' : table }).toEqual({ exposure: 0, table: '' });
});

test('the unit sets flags that exist', async () => {
  const env = variables(read('leo-abr.service'));
  expect(Object.keys(env)).toEqual(['LEO_ABR_SERVE_DISH', 'LEO_ABR_SERVE_CACHE']);
  const { status } = await runListening(['serve'], async () => {}, { ...env, LEO_ABR_SERVE_PORT: '0' });
  expect(status).toBe(0);
});

test('the dashboard shows metrics that the service has, in queries that are complete', async () => {
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as { panels: { targets: { expr: string }[] }[] };
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const named = queries.flatMap((query) => query.match(/\b[a-z]+(_[a-z0-9]+){2,}\b/g) ?? []);
  expect(named.length).toBeGreaterThanOrEqual(queries.length);
  for (const query of queries) expect(query.split('(').length).toBe(query.split(')').length);
  let metrics = '';
  await runListening(['serve', '--port', '0', '--dish', 'simulated'], async (url) => {
    // Histograms have no sample before the first request.
    await fetch(`${url}/healthz`);
    metrics = await (await fetch(`${url}/metrics`)).text();
  });
  const known = new Set([...metrics.matchAll(/^(?:# TYPE )?([a-z]\w+)/gm)].map(([, name]) => name));
  expect(named.filter((name) => !known.has(name) && name !== 'histogram_quantile')).toEqual([]);
  // Every metric of the service itself is shown, except sums and counts of histograms.
  const own = [...metrics.matchAll(/^# TYPE (leo_abr_\w+) (?!histogram)/gm)].map(([, name]) => name!);
  expect(own.filter((name) => !named.includes(name))).toEqual([]);
});

test.each(['Containerfile', 'benchmark.Containerfile'])(
  '%s installs the packed file beside it, and no name of a registry',
  (name) => {
    const text = read(name);
    expect(text).toMatch(/^COPY leo-abr-tools-\*\.tgz \/tmp\/$/m);
    const installed = [...text.matchAll(/npm install (?:--\S+ )*(\S+)/g)].map(([, what]) => what);
    expect(installed).toEqual(['/tmp/leo-abr-tools-*.tgz']);
  },
);

test('`serve` does without DuckDB', () => {
  const { dependencies, optionalDependencies, peerDependenciesMeta } = JSON.parse(
    readFileSync(new URL('package.json', import.meta.url), 'utf8'),
  );
  expect({ ...dependencies, ...optionalDependencies }).not.toHaveProperty(['@duckdb/node-api']);
  expect(peerDependenciesMeta['@duckdb/node-api']).toEqual({ optional: true });
});

test('the container runs the service as an ordinary user, and is healthy while it answers', async () => {
  const file = read('Containerfile').replaceAll('\\\n', ' ');
  const instruction = (name: string) => new RegExp(`^${name} +(.*)$`, 'm').exec(file)?.[1] ?? '';
  expect(instruction('USER')).toBe('node');
  const [program, ...args] = JSON.parse(instruction('ENTRYPOINT')) as string[];
  expect(program).toBe('leo-abr');
  const env = variables(instruction('ENV'));
  expect(env).toMatchObject({ LEO_ABR_SERVE_HOST: '0.0.0.0', LEO_ABR_SERVE_CACHE: '/data/cache' });
  const [checker, ...check] = JSON.parse(/CMD (\[.*\])/.exec(instruction('HEALTHCHECK'))![1]!) as string[];
  expect(checker).toBe('node');
  let port = '';
  const checked = async () => {
    const here = check.map((arg) => arg.replace('8790', port));
    return (await once(spawn(process.execPath, here, { stdio: 'ignore' }), 'close'))[0];
  };
  const during = async (url: string) => {
    ({ port } = new URL(url));
    expect(await checked()).toBe(0);
  };
  expect((await runListening(args, during, { ...env, LEO_ABR_SERVE_PORT: '0' })).status).toBe(0);
  expect(await checked()).toBe(1);
});

/** Benchmarks on many machines call these programs. */
beforeAll(() => {
  const echo = (name: string, text: string) => writeFileSync(at(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  echo('leo-abr', 'printf "%s|" "$@"; exit $STATUS');
  echo('scontrol', 'echo "scontrol $*"');
});
const run = (program: string, args: string[], env: Record<string, string>) => {
  const PATH = `${at()}:${process.env['PATH']}`;
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', env: { PATH, STATUS: '0', ...env } });
  return { status, lines: stdout.trimEnd().split('\n') };
};
const given = ['simulate', '--traces', 'my links'];

test.each([
  ['0', '0', []],
  ['3', '0', ['switched off']],
  ['3', '1', ['switched off', 'alarm guard of the trial: status 1']],
  ['2', '0', ['alarm guard of the trial: status 2']],
  ['127', '0', ['alarm guard of the trial: status 127']],
])("the guard's script, at status %s, and %s of its hook", (status, ofHook, calls) => {
  const guide = readFileSync(new URL('../docs/production.md', import.meta.url), 'utf8');
  const [, script = ''] = /```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(guide)!;
  const hooks = { npx: 'exit $GUARD', 'switch-off.sh': 'echo switched off; exit $HOOK', 'alarm.sh': 'echo "alarm $*"' };
  for (const [name, text] of Object.entries(hooks)) writeFileSync(at(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const env = { PATH: `${at()}:${process.env['PATH']}`, GUARD: status, HOOK: ofHook };
  const { stdout } = spawnSync('sh', ['-c', script], { cwd: at(), encoding: 'utf8', env });
  expect(stdout.split('\n').slice(0, -1)).toEqual(calls);
});

test.each<[string, string, number, string[]]>([
  ['plays its shard, and continues what an earlier one left', '', 0, []],
  ['whose runs were rejected is requeued, on another node', '2', 4, ['requeue 17', 'update JobId=17 ExcNodeList=n2']],
  ['is requeued three times at most', '3', 4, []],
  ['with wrong input is not requeued', '', 2, []],
])('a benchmark as a Slurm array: a task %s', (_, restarts, status, calls) => {
  const { pathname } = new URL('deploy/benchmark.sbatch', import.meta.url);
  const ended = run('bash', [pathname, ...given], {
    ...{ SLURM_ARRAY_TASK_ID: '2', SLURM_ARRAY_TASK_COUNT: '6', SLURM_JOB_ID: '17', SLURMD_NODENAME: 'n2' },
    ...{ SLURM_RESTART_COUNT: restarts, STATUS: String(status) },
  });
  const played = 'simulate|--traces|my links|--shard|2/6|--resume|--out|shard-2.json|';
  const begun = `shard 2/6 on n2, restart ${restarts || '0'}`;
  const [first = '', ...others] = calls.map((call) => `scontrol ${call}`);
  expect(ended).toEqual({ status, lines: [begun, `${played}${first}`, ...others] });
});

test('a benchmark as an Indexed Job of Kubernetes: a pod plays its shard as an ordinary user', () => {
  const text = read('benchmark-job.yaml');
  const command = / - (shard=.*)$/m.exec(text)![1]!;
  const env = { JOB_COMPLETION_INDEX: '1', SHARDS: '8' };
  const played = 'simulate|--traces|my links|--shard|2/8|--resume|--out|/results/shard-2.json|';
  expect(run('sh', ['-c', command, 'leo-abr', ...given], env)).toEqual({ status: 0, lines: [played] });
  for (const field of ['completions', 'parallelism', 'name: SHARDS, value']) {
    expect(text).toMatch(new RegExp(`${field}: "?8"?\\b`));
  }
  expect(text.match(/runAsNonRoot: true/g)).toHaveLength(2);
  expect(read('benchmark.Containerfile')).toMatch(/^USER node$/m);
});
