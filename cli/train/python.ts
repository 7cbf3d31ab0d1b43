/** Sets up a Python environment at the first use, and runs predictor/training in the environment. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { check, InputError } from '../../abr/errors.ts';
import { makeFolder, writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_INTERRUPTED, ExitWith } from '../shared/exit-status.ts';
import { builtFolder } from '../tool.ts';

export function trainingProject(): string {
  return builtFolder('training', 'pyproject.toml', 'predictor/training');
}

/** Without `--python`, the first of these interpreters that is Python 3.11 or later is used. */
const PYTHONS = ['python3.11', 'python3.12', 'python3.13', 'python3', 'python'];
/** The file has the hash of the requirements. If the hash changes, the environment is rebuilt. */
const STAMP = 'leo-abr-training.sha256';
const IS_WINDOWS = process.platform === 'win32';

/** Sets up the environment if it is missing or outdated, by the interpreter `python`. Returns its own interpreter. */
export async function prepareEnvironment(
  { environment, python: given }: { environment: string; python?: string | undefined },
  io: CommandIo,
): Promise<string> {
  const text = readFileSync(join(trainingProject(), 'pyproject.toml'), 'utf8');
  const stamp = createHash('sha256').update(text).digest('hex');
  const stampFile = join(environment, STAMP);
  const interpreter = join(environment, IS_WINDOWS ? 'Scripts/python.exe' : 'bin/python');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return interpreter;

  // `venv --clear` deletes what is in the folder.
  const isFree = !existsSync(environment) || existsSync(join(environment, 'pyvenv.cfg')) || isEmptyFolder(environment);
  check(isFree, '--environment', 'an environment of Python, an empty folder, or none yet', environment);
  const python = await findPython(given, io);
  io.stderr.write(`setting up Python in ${environment}\n`);
  makeFolder(environment);
  await runProcess(python, ['-m', 'venv', '--clear', environment], io);
  const requirements = JSON.parse(/^dependencies = (.*)$/m.exec(text)![1]!) as string[];
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  await runProcess(interpreter, [...pip, ...requirements], io);
  writeFileAtomically(stampFile, stamp);
  return interpreter;
}

const isEmptyFolder = (path: string) => statSync(path).isDirectory() && readdirSync(path).length === 0;

/** Runs the training with these arguments. Its output goes to standard error. */
export async function runTraining(interpreter: string, args: readonly string[], io: CommandIo): Promise<void> {
  await runProcess(interpreter, ['-m', 'leo_abr_training', ...args], io, { PYTHONPATH: trainingProject() });
}

async function findPython(given: string | undefined, io: CommandIo): Promise<string> {
  const quiet = { ...io, stderr: { write: () => {} } };
  for (const python of given === undefined ? PYTHONS : [given]) {
    try {
      await runProcess(python, ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'], quiet);
      return python;
    } catch (error) {
      if (error instanceof ExitWith) throw error;
    }
  }
  const got = given ?? `none of ${PYTHONS.join(', ')} is one`;
  throw new InputError('--python', 'an interpreter of Python 3.11 or later', undefined, got);
}

/** Runs a program with its output on standard error. Rejects if the program fails or is interrupted. */
function runProcess(
  command: string,
  args: readonly string[],
  io: CommandIo,
  environment: Record<string, string> = {},
): Promise<void> {
  let stopListening = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    const child: ChildProcess = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      // The program has its own process group, so that an interrupt also ends its workers.
      detached: !IS_WINDOWS,
      env: { ...process.env, PYTHONUNBUFFERED: '1', ...environment },
    });
    let wasInterrupted = false;
    stopListening = io.onInterrupt(() => {
      wasInterrupted = true;
      if (IS_WINDOWS) child.kill();
      else process.kill(-child.pid!, 'SIGTERM');
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => io.stderr.write(chunk));
    }
    child.on('error', reject).on('close', (code, signal) => {
      if (wasInterrupted) reject(new ExitWith(EXIT_INTERRUPTED));
      else if (code === 0) resolve();
      else reject(new Error(`${command} ${args.slice(0, 3).join(' ')} ... ended with ${signal ?? `status ${code}`}`));
    });
  });
  return ended.finally(stopListening);
}
