/** Everything that commands use of their process: streams, threads, signals. Tests pass their own. */

import { availableParallelism } from 'node:os';

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
  /** Number of threads without `--jobs`. */
  defaultJobs: number;
  /** Calls `callback` at the first SIGINT or SIGTERM. The next one kills. Returns a function that stops listening. */
  onInterrupt(callback: () => void): () => void;
}

export const PROCESS_IO: CommandIo = {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  defaultJobs: availableParallelism(),
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
