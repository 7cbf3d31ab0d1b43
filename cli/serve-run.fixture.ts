/** For tests: runs a command that listens until it is interrupted. */

import { run } from './run.fixture.ts';

/** Runs the command, calls `during` with the address from its output, then interrupts the command. */
export async function runListening(
  args: readonly string[],
  during?: (url: string) => Promise<void>,
  env: Record<string, string> = {},
) {
  let stderr = '';
  let interrupt = () => {};
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
    onInterrupt(callback) {
      interrupt = callback;
      return () => {};
    },
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
