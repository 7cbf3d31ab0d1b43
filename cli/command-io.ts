/** All that commands use of their process: streams, threads, signals. Tests pass their own. */

import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';

export interface Output {
  write(text: string): unknown;
  /** True for a terminal, where a line can be overwritten. */
  isTTY?: boolean;
}

export interface CommandIo {
  stdout: Output;
  stderr: Output;
  /** Environment variables. Default: none. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Threads to use without `--jobs`. */
  defaultJobs: number;
  /** Asks a question that `y` affirms. Default, and without a terminal: nobody is asked. */
  confirm?: ((question: string) => Promise<boolean>) | undefined;
  /** Calls `callback` at the first SIGINT or SIGTERM; the next one kills. Returns a function that stops listening. */
  onInterrupt(callback: () => void): () => void;
}

function confirmOnTerminal(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    // Ctrl-C closes it, too.
    terminal.once('close', () => resolve(false));
    terminal.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()));
      terminal.close();
    });
  });
}

export const PROCESS_IO: CommandIo = {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  defaultJobs: availableParallelism(),
  confirm: process.stdin.isTTY && process.stderr.isTTY ? confirmOnTerminal : undefined,
  onInterrupt(callback) {
    const signals = ['SIGINT', 'SIGTERM'] as const;
    const stop = () => {
      for (const signal of signals) process.off(signal, once);
    };
    const once = () => {
      stop();
      callback();
    };
    for (const signal of signals) process.on(signal, once);
    return stop;
  },
};
