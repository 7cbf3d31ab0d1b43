/** For tests: runs a command and keeps its output. */

import { fileURLToPath } from 'node:url';
import { runCommand } from './command.ts';
import type { CommandIo } from './command-io.ts';

/** A small synthetic trace. */
export const TRACE = fileURLToPath(new URL('../replay/simulator/fixtures/golden.csv', import.meta.url));

export async function run(args: readonly string[], io: Partial<CommandIo> = {}) {
  const written = { stdout: '', stderr: '' };
  const status = await runCommand(args, {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    defaultJobs: 1,
    onInterrupt: () => () => {},
    ...io,
  });
  return { status, ...written };
}
