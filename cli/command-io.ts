/** What a command may touch of its process: streams, signals, environment. Tests hand in their own. */

import { availableParallelism } from 'node:os';

export interface Output {
  write(text: string): unknown;
  /** A terminal, where a line can be written over. */
  isTTY?: boolean;
}

export interface CommandIo {
  stdout: Output;
  stderr: Output;
  /** Threads to use when the user does not say. */
  defaultJobs: number;
  /** Calls back at the first SIGINT or SIGTERM (the next one kills, as always); returns how to stop listening. */
  onInterrupt(callback: () => void): () => void;
}

export const PROCESS_IO: CommandIo = {
  stdout: process.stdout,
  stderr: process.stderr,
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
