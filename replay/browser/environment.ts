/** Describes the machine and the programs of a benchmark. Node only. */

import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

export interface BenchEnvironment {
  node: string;
  /** Kernel, its release and the architecture. */
  system: string;
  processor: string;
  /** Threads that this process can use at a time. */
  cores: number;
  memoryBytes: number;
  /** The browser's version. */
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

/** Load averages of 1, 5 and 15 minutes, rounded to hundredths; zeros on systems without them. */
export function systemLoad(): number[] {
  return loadavg().map((load) => Math.round(load * 100) / 100);
}
