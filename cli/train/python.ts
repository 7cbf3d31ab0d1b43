/** Runs predictor/training in its own Python environment, which is set up at the first use. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { makeFolder, writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { CommandIo } from '../command-io.ts';
import { EXIT_INTERRUPTED, ExitWith } from '../exit-status.ts';
import { cacheFolder, TOOL_FOLDER } from '../tool.ts';

/** The Python package: beside the built command where it was installed, else in the checkout. */
export const TRAINING_PROJECT =
  [
    join(TOOL_FOLDER, 'training'),
    join(TOOL_FOLDER, '../predictor/training'),
    join(TOOL_FOLDER, '../../predictor/training'),
  ].find((folder) => existsSync(join(folder, 'pyproject.toml'))) ?? join(TOOL_FOLDER, 'training');

/** Tried in this order without `--python`. */
const PYTHONS = ['python3.11', 'python3.12', 'python3.13', 'python3', 'python'];
const LEAST_VERSION = [3, 11] as const;
/** File with the hash of the requirements; with another hash the environment is rebuilt. */
const STAMP = 'leo-abr-training.sha256';

/** Default folder of the environment. */
export function environmentFolder(): string {
  return join(cacheFolder(), 'training');
}

const LIST_REQUIREMENTS = `
import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
print("\\n".join(project["dependencies"]))
`;

export interface PythonOptions {
  /** Folder with `pyproject.toml` and the package. */
  project: string;
  /** Folder of the environment. */
  environment: string;
  /** An interpreter of Python 3.11 or later. Default: the first one of `PYTHONS`. */
  python?: string | undefined;
}

/** Sets up the environment if it is missing or outdated. Returns its interpreter. */
export async function prepareEnvironment(options: PythonOptions, io: CommandIo): Promise<string> {
  const { project, environment } = options;
  const pyproject = join(project, 'pyproject.toml');
  const stamp = createHash('sha256').update(readFileSync(pyproject)).digest('hex');
  const stampFile = join(environment, STAMP);
  const isWindows = process.platform === 'win32';
  const interpreter = join(environment, isWindows ? 'Scripts/python.exe' : 'bin/python');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return interpreter;

  const python = await findPython(options.python, io);
  io.stderr.write(`setting up Python in ${environment}\n`);
  makeFolder(environment);
  await runProcess(python, ['-m', 'venv', '--clear', environment], io);
  const requirements = await runProcess(interpreter, ['-c', LIST_REQUIREMENTS, pyproject], io, { capture: true });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  await runProcess(interpreter, [...pip, ...requirements.split('\n').filter((line) => line !== '')], io);
  writeFileAtomically(stampFile, stamp);
  return interpreter;
}

/** Runs the training with these arguments; its output goes to standard error. */
export async function runTraining(
  { interpreter, project, args }: { interpreter: string; project: string; args: readonly string[] },
  io: CommandIo,
): Promise<void> {
  await runProcess(interpreter, ['-m', 'leo_abr_training', ...args], io, { environment: { PYTHONPATH: project } });
}

async function findPython(given: string | undefined, io: CommandIo): Promise<string> {
  for (const python of given === undefined ? PYTHONS : [given]) {
    const version = await versionOf(python, io);
    if (version === undefined) continue;
    const [major, minor] = version;
    if (major > LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor >= LEAST_VERSION[1])) return python;
    if (given !== undefined) {
      const got = `${given}, which is ${version.join('.')}`;
      throw new InputError('--python', `Python ${LEAST_VERSION.join('.')} or later`, undefined, got);
    }
  }
  const expected = `an interpreter of Python ${LEAST_VERSION.join('.')} or later`;
  throw new InputError('--python', expected, undefined, given ?? `none of ${PYTHONS.join(', ')} is one`);
}

async function versionOf(python: string, io: CommandIo): Promise<[number, number] | undefined> {
  const quiet = { ...io, stderr: { write: () => {} } };
  const ask = ['-c', 'import sys; print(*sys.version_info[:2])'];
  const said = await runProcess(python, ask, quiet, { capture: true }).catch((error: unknown) => {
    if (error instanceof ExitWith) throw error;
    return '';
  });
  const match = /^(\d+) (\d+)/.exec(said);
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
}

/** Resolves to the standard output of the process, if captured. Rejects when it fails or is interrupted. */
function runProcess(
  command: string,
  args: readonly string[],
  io: CommandIo,
  options: { capture?: boolean; environment?: Record<string, string> } = {},
): Promise<string> {
  const { capture = false, environment = {} } = options;
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own process group, so that its workers end with it.
      detached: process.platform !== 'win32',
      env: { ...process.env, PYTHONUNBUFFERED: '1', ...environment },
    });
    let wasInterrupted = false;
    const stopListening = io.onInterrupt(() => {
      wasInterrupted = true;
      if (process.platform === 'win32') child.kill();
      else process.kill(-child.pid!, 'SIGTERM');
    });
    let text = '';
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      if (capture) text += chunk;
      else io.stderr.write(chunk);
    });
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => io.stderr.write(chunk));
    child.on('error', (error) => {
      stopListening();
      reject(error);
    });
    child.on('close', (code, signal) => {
      stopListening();
      if (wasInterrupted) reject(new ExitWith(EXIT_INTERRUPTED));
      else if (code === 0) resolve(text);
      else reject(new Error(`${command} ${args.slice(0, 3).join(' ')} ... ended with ${signal ?? `status ${code}`}`));
    });
  });
}
