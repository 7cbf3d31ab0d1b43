/** Shows a long command's progress on standard error: a terminal has one line that changes, a log has many. */

import type { CommandIo, Output } from './command-io.ts';
import { EXIT_INTERRUPTED, ExitWith } from './exit-status.ts';

/** Shortest time between two updates in ms, on a terminal and in a log. */
const TERMINAL_MS = 250;
const LOG_MS = 10_000;

export class Progress {
  private readonly _startedAtMs: number;
  private _shownAtMs: number;
  private _shownWidth = 0;

  /** The output calls the `total` items `noun`. `nowMs` is any monotonic clock. */
  constructor(
    private readonly _output: Output,
    private readonly _total: number,
    private readonly _noun: string,
    private readonly _nowMs: () => number = () => performance.now(),
  ) {
    this._startedAtMs = _nowMs();
    this._shownAtMs = this._startedAtMs;
  }

  update(done: number): void {
    const now = this._nowMs();
    if (now - this._shownAtMs < (this._output.isTTY === true ? TERMINAL_MS : LOG_MS)) return;
    this._shownAtMs = now;
    const secondsEach = (now - this._startedAtMs) / 1000 / done;
    this._show(done, done > 0 ? `, ${duration(secondsEach * (this._total - done))} left` : '');
  }

  end(done: number): void {
    this._show(done, ` in ${duration((this._nowMs() - this._startedAtMs) / 1000)}`);
    if (this._output.isTTY === true) this._output.write('\n');
  }

  private _show(done: number, time: string): void {
    const text = `${done} of ${this._total} ${this._noun}${time}`;
    this._output.write(this._output.isTTY === true ? `\r${text.padEnd(this._shownWidth)}` : `${text}\n`);
    this._shownWidth = text.length;
  }
}

export interface Watched {
  /** An abort rejects the promise with the reason of the signal. */
  signal?: AbortSignal;
  onProgress?(done: number, total: number): void;
}

/** Yields the items, reports progress after each, and lets the event loop handle signals between items. */
export async function* watched<T>(items: readonly T[], { signal, onProgress }: Watched): AsyncGenerator<T> {
  for (const [i, item] of items.entries()) {
    yield item;
    onProgress?.(i + 1, items.length);
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
}

/** Shows the progress of `run`. An interrupt aborts its signal with an `ExitWith`, which ends the command. */
export async function withProgress<T>(
  io: CommandIo,
  noun: string,
  run: (watch: Required<Watched>) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort(new ExitWith(EXIT_INTERRUPTED)));
  let progress: Progress | undefined;
  let last = 0;
  try {
    const onProgress = (done: number, total: number) => {
      progress ??= new Progress(io.stderr, total, noun);
      progress.update(done);
      last = done;
    };
    const result = await run({ signal: stop.signal, onProgress });
    progress?.end(last);
    return result;
  } finally {
    stopListening();
  }
}

/** Formats `8 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return seconds < 10 && seconds > 0 ? `${seconds.toFixed(1)} s` : `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
