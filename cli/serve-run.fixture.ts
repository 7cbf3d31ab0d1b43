/** For tests: runs a command that listens until it is interrupted. */

import { runCommand } from './command.ts';

/** Runs the command, calls `during` with the address from its output, then interrupts the command. */
export async function runListening(
  args: readonly string[],
  during?: (url: string, reload: () => void) => Promise<void>,
  env: Record<string, string> = {},
) {
  const written = { stdout: '', stderr: '' };
  let interrupt = () => {};
  let reload = () => {};
  let ready: (url: string) => void;
  const url = new Promise<string>((resolve) => {
    ready = resolve;
  });
  const done = runCommand(args, {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: {
      write(text) {
        written.stderr += text;
        const found = / is at ([^\s"]+)/.exec(written.stderr);
        if (found !== null) ready(found[1]!);
      },
    },
    env,
    defaultJobs: 1,
    onReload(callback) {
      reload = callback;
    },
    onInterrupt(callback) {
      interrupt = callback;
      return () => {};
    },
  });
  if (during !== undefined) {
    try {
      await during(await url, () => reload());
    } finally {
      interrupt();
    }
  }
  return { status: await done, ...written };
}
