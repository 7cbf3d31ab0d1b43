/** The command as it is built and run: threads, real signals, real pipes. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parseResults } from '../replay/evaluation/parse-results.ts';

jest.setTimeout(120_000);

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TRACE = join(ROOT, 'replay', 'simulator', 'fixtures', 'golden.csv');

/** A package like the published one, inside the checkout so that it finds its dependencies. */
let folder: string;
let command: string;
const at = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(ROOT, 'node_modules', '.leo-abr-built-'));
  cpSync(join(ROOT, 'cli', 'package.json'), at('package.json'));
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const built = spawnSync(process.execPath, [vite, 'build', '--mode', 'cli', '--outDir', at('dist')], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(built.stderr);
  command = at('dist/leo-abr.js');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const simulate = (...flags: string[]) => [
  command,
  'simulate',
  ...['--traces', TRACE, '--algorithms', 'mpc-d,mpc-o', '--scenario', 'uhd-8', '--starts', 'every:0.5', ...flags],
];

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.on('close', resolve));
}

describe('the built command', () => {
  test('gives the same bytes from one thread and from several', () => {
    for (const jobs of ['1', '3']) {
      const { status, stderr } = spawnSync(
        process.execPath,
        simulate('--jobs', jobs, '--out', at(`jobs-${jobs}.json`)),
      );
      expect({ status, error: status === 0 ? '' : String(stderr) }).toEqual({ status: 0, error: '' });
    }
    expect(readFileSync(at('jobs-3.json'), 'utf8')).toBe(readFileSync(at('jobs-1.json'), 'utf8'));
  });

  test.each(['1', '2'])('Ctrl-C with %s threads leaves results that --resume completes', async (jobs) => {
    const out = at(`stopped-${jobs}.json`);
    const flags = ['--starts', 'every:0.1', '--jobs', jobs, '--out', out];
    const child = spawn(process.execPath, simulate(...flags), { stdio: ['ignore', 'ignore', 'pipe'] });
    // It listens from when it says so; before that the signal just kills it, and there is nothing to resume.
    child.stderr.once('data', () => child.kill('SIGINT'));
    const status = await ended(child);
    expect(status).toBe(130);
    const partial = parseResults(readFileSync(out, 'utf8'), out);
    expect(partial.tool).toHaveProperty('complete', false);

    const resumed = spawnSync(process.execPath, simulate(...flags, '--resume'), { encoding: 'utf8' });
    expect({ status: resumed.status, stderr: resumed.stderr }).toMatchObject({ status: 0 });
    expect(resumed.stderr).toContain(`${partial.sessions.length} of `);
    const whole = parseResults(readFileSync(out, 'utf8'), out);
    expect(whole.tool).not.toHaveProperty('complete');
    expect(whole.sessions.length).toBeGreaterThan(partial.sessions.length);
  });

  test('--out - goes through a pipe whole', () => {
    const { status, stdout } = spawnSync(process.execPath, simulate(), { encoding: 'utf8', maxBuffer: 2 ** 28 });
    expect(status).toBe(0);
    expect(parseResults(stdout, 'stdout').sessions.length).toBe(94);
  });
});
