/** Runs commands for tests and keeps their output. */

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../command.ts';
import type { CommandIo } from './command-io.ts';

/** A small synthetic trace. */
export const TRACE = fileURLToPath(new URL('../../replay/simulator/fixtures/golden.csv', import.meta.url));

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

/** Expects status 2, this message and no results. Returns standard error. Playwright's tests also import this file. */
export async function refused(ending: ReturnType<typeof run>, message: string | RegExp): Promise<string> {
  const { status, stdout, stderr } = await ending;
  const isSaid = typeof message === 'string' ? stderr.includes(message) : message.test(stderr);
  assert(isSaid, `expected ${message}, got ${stderr}`);
  assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
  assert(!stderr.includes('sessions in'), stderr);
  return stderr;
}

/** Makes an `onInterrupt`. `interrupt` calls its newest callback. */
export function interrupts() {
  let newest = () => {};
  const onInterrupt = (callback: () => void) => {
    newest = callback;
    return () => {};
  };
  return { onInterrupt, interrupt: () => newest() };
}

/** Runs a command that listens, calls `during` with the address from its output, then interrupts the command. */
export async function runListening(
  args: readonly string[],
  during?: (url: string) => Promise<void>,
  env: Record<string, string> = {},
) {
  let stderr = '';
  const { onInterrupt, interrupt } = interrupts();
  let ready: (url: string) => void;
  const url = new Promise<string>((resolve) => {
    ready = resolve;
  });
  const done = run(args, {
    stderr: {
      write(text) {
        stderr += text;
        const found = / is at ([^\s"]+)/.exec(stderr);
        if (found !== null) ready(found[1]!);
      },
    },
    env,
    onInterrupt,
  });
  if (during !== undefined) {
    try {
      await during(await url);
    } finally {
      interrupt();
    }
  }
  return { ...(await done), stderr };
}
