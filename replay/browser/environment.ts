/** The machine and the programs that a benchmark runs on. Node only. */

import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

export interface BenchEnvironment {
  node: string;
  /** Kernel and its release, and the processor's architecture. */
  system: string;
  processor: string;
  /** Threads that this process may use at a time. */
  cores: number;
  memoryBytes: number;
  /** The browser's version, and where it was found. */
  browser: string;
  browserSource: string;
}

export function benchEnvironment(browser: { version: string; source: string }): BenchEnvironment {
  return {
    node: process.version,
    system: `${type()} ${release()} ${arch()}`,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    browser: browser.version,
    browserSource: browser.source,
  };
}

/** Mean of runnable threads over 1, 5 and 15 minutes, to hundredths; zeros on systems that do not say. */
export function systemLoad(): number[] {
  return loadavg().map((load) => Math.round(load * 100) / 100);
}
