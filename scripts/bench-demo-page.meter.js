/** Looks into a page over CDP for scripts/bench-demo-page.js: memory after a collection of garbage, long tasks and whose they were. */
import { readFileSync } from 'node:fs';
import { heapBytesByKind } from './bench-demo-page.heap.js';
import { samplesOf, timesBetween } from './bench-demo-page.profile.js';
import { watchWaits } from './bench-demo-page.waits.js';

/** Physical memory of a process; undefined where there is no /proc. */
export function residentBytes(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
  } catch {
    return undefined;
  }
}

/** Reads memory and, where there is one, the profiler; knows what it held the main thread for itself. */
export class Meter {
  #page;
  #pid;
  #profiled;
  #waits;
  /** Samples since the look before the last: of a task across a look, the first part is in the profile before. */
  #samples = [];
  /** When the page was held by a look, in s of the browser's clock. */
  #held = [];

  /** Where it is `profiled`, the page's profiler has been started. */
  constructor(page, pid, { profiled }) {
    this.#page = page;
    this.#pid = pid;
    this.#profiled = profiled;
    this.#waits = watchWaits(pid);
  }

  /** What happened since the last look; with `andMemory`, what there is in memory too. */
  async look({ andMemory = false } = {}) {
    const page = this.#page;
    const noted = await page.evaluate('takeLongTasks()');
    const profile = this.#profiled ? (await page.send('Profiler.stop')).profile : undefined;
    const { Timestamp: fromSeconds, NavigationStart: originSeconds } = await this.#metrics();
    const memory = andMemory ? await this.#memory() : undefined;
    if (this.#profiled) await page.send('Profiler.start');
    const { Timestamp: toSeconds } = await this.#metrics();

    const samples = profile === undefined ? [] : samplesOf(profile);
    this.#samples = [...this.#samples, ...samples];
    const tasks = [];
    let held = 0;
    for (const { startMs, ms } of noted) {
      const start = originSeconds + startMs / 1000;
      const end = start + ms / 1000;
      if (this.#held.some((look) => start < look.toSeconds && end > look.fromSeconds)) held++;
      else {
        // What it took by itself.
        const {
          ranSeconds = Number.NaN,
          waitedSeconds = 0,
          stolenSeconds = 0,
        } = this.#waits?.between(start, end) ?? {};
        const keptMs = 1000 * (waitedSeconds + stolenSeconds);
        const ownMs = Math.max(0, ms - keptMs);
        tasks.push({
          startMs,
          totalMs: ms,
          ownMs,
          ranMs: 1000 * ranSeconds,
          stolenMs: 1000 * stolenSeconds,
          ...timesBetween(this.#samples, start * 1e6, end * 1e6),
        });
      }
    }
    this.#samples = samples;
    this.#held = [...this.#held.slice(-1), { fromSeconds, toSeconds }];
    const spent = timesBetween(samples, 0, Number.POSITIVE_INFINITY);
    return { tasks, held, spentMs: spent.ms, spentBy: spent.functions, memory };
  }

  close() {
    this.#waits?.stop();
  }

  /** After a collection of garbage; the heap by what is in it, too. */
  async #memory() {
    const page = this.#page;
    await page.send('HeapProfiler.collectGarbage');
    const { usedSize, embedderHeapUsedSize, backingStorageSize } = await page.send('Runtime.getHeapUsage');
    const { documents, nodes, jsEventListeners: listeners } = await page.send('Memory.getDOMCounters');
    // Before the snapshot, which takes memory itself.
    const resident = residentBytes(this.#pid);
    return {
      heapBytes: usedSize,
      ...(await heapBytesByKind(page)),
      embedderBytes: embedderHeapUsedSize,
      backingBytes: backingStorageSize,
      nodes,
      listeners,
      documents,
      residentBytes: resident,
    };
  }

  async #metrics() {
    const { metrics } = await this.#page.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  }
}
