/** Runs the built command like a user, with threads, real signals and real pipes. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseResults } from '../replay/evaluation/documents/parse-results.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TRACE = join(ROOT, 'replay', 'simulator', 'fixtures', 'golden.csv');

/** For a build: a package like the published one. It is inside the checkout, so that it finds its dependencies. */
let folder: string;
let command: string;
const at = (name: string) => join(folder, name);

/** Whether a build is there and no source is newer. */
function isNewest(built: string): boolean {
  const sources = ['abr', 'cli', 'predictor', 'replay', 'service', 'session'].flatMap((name) =>
    readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' })
      .filter((path) => /(?<!\.test|\.fixture)\.(ts|json)$/.test(path) && !/(^|\/)dist\//.test(path))
      .map((path) => statSync(join(ROOT, name, path)).mtimeMs),
  );
  return existsSync(built) && statSync(built).mtimeMs > Math.max(...sources);
}

beforeAll(() => {
  folder = mkdtempSync(join(ROOT, 'node_modules', '.leo-abr-built-'));
  command = join(ROOT, 'cli/dist/leo-abr.js');
  if (isNewest(command)) return;
  cpSync(join(ROOT, 'cli', 'package.json'), at('package.json'));
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--mode', 'cli', '--outDir', at('dist')];
  const built = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(built.stderr);
  command = at('dist/leo-abr.js');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DEFAULTS = ['--traces', TRACE, '--algorithms', 'mpc-d,mpc-o', '--scenario', 'uhd-8', '--starts', 'every:0.5'];
const simulate = (...flags: string[]) => [command, 'simulate', ...DEFAULTS, '--out', '-', ...flags];
const played = (...flags: string[]) =>
  spawnSync(process.execPath, simulate(...flags), { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 });
/** A few sessions of six segments. */
const playedBy = (algorithms: string, ...flags: string[]) =>
  played('--starts', 'every:8', '--segments', '6', '--algorithms', algorithms, ...flags);
const file = (name: string, text: string) => {
  writeFileSync(at(name), text);
  return at(name);
};

test.each(['1', '2'])('Ctrl-C with %s threads leaves results that --resume completes', async (jobs) => {
  // With SLOW, all sessions together last minutes.
  const slow = file(
    'slow.mjs',
    `const decide = () => {
           if (process.env.SLOW) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
           return { representation: 0, controller: 'slow', reason: '' };
         };
         export const createController = () => ({ name: 'slow', decide });`,
  );
  const out = at(`stopped-${jobs}.json`);
  const flags = ['--segments', '6', '--algorithms', slow, '--jobs', jobs, '--out', out];
  const env = { ...process.env, SLOW: '1' };
  const child = spawn(process.execPath, simulate(...flags), { env, stdio: ['ignore', 'ignore', 'pipe'] });
  // Output shows that the command handles signals. An earlier signal would kill it before it has results.
  child.stderr.once('data', () => child.kill('SIGINT'));
  const [status] = await once(child, 'close');
  expect(status).toBe(130);
  const partial = parseResults(readFileSync(out, 'utf8'), out);
  expect(partial.tool).toHaveProperty('complete', false);

  const resumed = played(...flags, '--resume');
  expect({ status: resumed.status, stderr: resumed.stderr }).toMatchObject({ status: 0 });
  expect(resumed.stderr).toContain(`${partial.sessions.length} of `);
  const whole = parseResults(readFileSync(out, 'utf8'), out);
  expect(whole.tool).not.toHaveProperty('complete');
  expect(whole.sessions.length).toBeGreaterThan(partial.sessions.length);
});

test('Ctrl-C ends a decision that never ends', async () => {
  const decide = 'decide() { for (;;); }';
  const endless = file('endless.mjs', `export const createController = () => ({ name: 'endless', ${decide} });`);
  const child = spawn(process.execPath, simulate('--algorithms', endless, '--jobs', '1'), {
    ...{ stdio: ['ignore', 'ignore', 'pipe'], timeout: 60_000, killSignal: 'SIGKILL' },
  });
  child.stderr!.once('data', () => child.kill('SIGINT'));
  expect(await once(child, 'close')).toEqual([130, null]);
});

test('a full disk and a missing folder: status 2, with the place', () => {
  const flags = simulate('--algorithms', 'mpc-d', '--starts', 'at:0');
  const full = openSync('/dev/full', 'w');
  const toFull = spawnSync(process.execPath, flags, { encoding: 'utf8', stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  expect(toFull).toMatchObject({ status: 2, stderr: expect.stringMatching(/\nleo-abr: standard output: ENOSPC.*\n$/) });
  const env = { ...process.env, TMPDIR: at('none') };
  const { status, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8', env });
  expect(status).toBe(2);
  expect(stderr).toMatch(/\nleo-abr: .*none: expected a file that can be written, got ENOENT.*\n$/);
});

const TEMPLATE = './docs/examples/my-algorithm.ts';

test('new-algorithm writes the template, and overwrites nothing', () => {
  const begin = () => spawnSync(process.execPath, [command, 'new-algorithm', at('new.ts')], { encoding: 'utf8' });
  expect(begin()).toMatchObject({ status: 0, stderr: expect.stringContaining(`--algorithms ${at('new.ts')},mpc-l`) });
  expect(readFileSync(at('new.ts'), 'utf8')).toBe(readFileSync(TEMPLATE, 'utf8'));
  expect(begin()).toMatchObject({ status: 2, stderr: expect.stringContaining('new.ts: expected a new file') });
});

test('an algorithm of the user is named by its path and runs in several threads: the template, alone and with forecasts', () => {
  const out = ['1', '2'].map((jobs) =>
    playedBy(`${TEMPLATE},${TEMPLATE}@oracle`, '--jobs', jobs, '--baseline', TEMPLATE),
  );
  expect(out[0]).toMatchObject({ status: 0, stdout: out[1]!.stdout });
  const { sessions, tool } = parseResults(out[0]!.stdout, 'stdout');
  expect(sessions.slice(0, 2)).toMatchObject([
    { algorithm: TEMPLATE, endedBy: 'end', segments: { 0: { bitrateBps: 3e6 } } },
    { algorithm: `${TEMPLATE}@oracle`, endedBy: 'end' },
  ]);
  expect(sessions[0]!.segments.some(({ bitrateBps }) => bitrateBps > 3e6)).toBe(true);
  expect(Object.keys(tool.algorithmFiles!)).toEqual([TEMPLATE]);
});

test('an algorithm of the user may be JavaScript in several files; --resume refuses once one of them has changed', () => {
  const part = 'export const always = (representation, reason) => ({ representation, controller: "mine", reason });';
  file('part.mjs', part);
  const mine = file(
    'mine.js',
    `import { always } from './part.mjs';
         export const createController = ({ seed }) => ({ name: 'mine', decide: () => always(0, String(seed)) });`,
  );
  const out = at('mine.json');
  expect(playedBy(mine, '--out', out)).toMatchObject({ status: 0 });
  for (const { seed, segments } of parseResults(readFileSync(out, 'utf8'), out).sessions) {
    expect(segments.every(({ reason }) => reason === String(seed))).toBe(true);
  }
  file('part.mjs', part.replace('({ representation,', '({ representation: 1,'));
  const { status, stderr } = playedBy(mine, '--out', out, '--resume');
  expect({ status, stderr }).toMatchObject({ status: 2 });
  expect(stderr).toContain('mine.json: tool.algorithmFiles: expected');
});

test.each([
  ['throws', "throw new Error('out of ideas')", 'out of ideas', '1'],
  ['ends its thread', 'process.exit(0)', 'process.exit(0) in an algorithm', '2'],
])('an algorithm that %s ends its session: status 1 and a message with file and line', (_, act, message, jobs) => {
  const decide = `decide(state) { if (state.segmentIndex > 1) ${act}; return low; }`;
  const low = "console.log('hello'); const low: object = { representation: 0, controller: 'x', reason: '' };";
  const mine = file('throws.ts', `${low} export const createController = () => ({ name: 'mine', ${decide} });`);
  const { status, stdout, stderr } = playedBy(mine, '--jobs', jobs);
  expect(status).toBe(1);
  expect(parseResults(stdout, 'stdout').sessions[0]).toMatchObject({ endedBy: 'fault', segments: { length: 2 } });
  expect(stderr).toMatch(/sessions ended by a fault, the first: \S+throws\.ts on golden at 0 s: Error: /);
  expect(stderr).toContain(`Error: ${message}\n`);
  expect(stderr).toMatch(/\n +at .*throws\.ts\?bundled:\d+/);
});

test.each([
  ['no file', undefined, 'a readable file, got ENOENT'],
  ['no such import', "import './not-there.ts'", 'a module that vite can bundle, got '],
  ['no controller', 'export function createController() {}', 'createController to return { name, decide('],
])('an algorithm with %s: status 2, with file, expectation and received value', (_, text, message) => {
  const name = text === undefined ? './no-such-file.ts' : file('wrong.ts', text);
  const { status, stderr } = playedBy(name);
  expect({ status, stderr }).toMatchObject({ status: 2 });
  expect(stderr).toContain(`leo-abr: ${name}: expected ${message}`);
});

test('an ONNX model forecasts as the built-in one does, in one thread and in several', () => {
  const model = at('mine.onnx');
  cpSync(join(ROOT, 'predictor', 'models', 'built-in.onnx'), model);
  const algorithms = `mpc-l,mpc-l@onnx,mpc-l@onnx:${model}`;
  const out = ['1', '2'].map((jobs) => playedBy(algorithms, '--baseline', 'mpc-l', '--starts', 'at:0', '--jobs', jobs));
  expect(out[0]).toMatchObject({ status: 0, stdout: out[1]!.stdout });
  const { sessions, tool } = parseResults(out[0]!.stdout, 'stdout');
  const rowsOf = (name: string) => sessions.flatMap(({ algorithm, segments }) => (algorithm === name ? segments : []));
  expect(rowsOf('mpc-l@onnx')).toEqual(rowsOf(`mpc-l@onnx:${model}`));
  const bitrates = (name: string) => rowsOf(name).map(({ bitrateBps }) => bitrateBps);
  expect(bitrates('mpc-l@onnx')).toEqual(bitrates('mpc-l'));
  expect(tool.algorithmFiles).toEqual({ [`onnx:${model}`]: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test('--out - reaches a pipe completely, also if nobody reads the messages', async () => {
  const child = spawn(process.execPath, simulate('--algorithms', 'mpc-d'), { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.destroy();
  const [stdout, ended] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect(ended).toEqual([0, null]);
  const { sessions, tool } = parseResults(stdout, 'stdout');
  expect(sessions).toHaveLength(47);
  expect(tool).not.toHaveProperty('complete');
});
