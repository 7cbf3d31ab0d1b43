/** For tests of the origin: a clock, and downloads. */

import type { TimerClock } from './clock.ts';
import type { ByteRange } from './range-stream.ts';
import type { ReplaySession } from './session.ts';

/** Virtual time: timers fire in order, each late by `lateMs()`. */
export class VirtualClock implements TimerClock {
  private _now = 1234.5;
  private _timers: { atMs: number; callback: () => void }[] = [];

  constructor(private readonly _lateMs = () => 0) {}

  nowMs() {
    return this._now;
  }

  schedule(callback: () => void, delayMs: number) {
    const timer = { atMs: this._now + delayMs + this._lateMs(), callback };
    this._timers.push(timer);
    return () => {
      this._timers = this._timers.filter((other) => other !== timer);
    };
  }

  get pending() {
    return this._timers.length;
  }

  /** Fires timers until none is left or time has reached `untilMs`. */
  run(untilMs = Number.POSITIVE_INFINITY) {
    while (this._fireNext(untilMs));
    if (Number.isFinite(untilMs)) this._now = Math.max(this._now, untilMs);
  }

  /** Fires all timers. After each timer it waits until promises have settled, such as a stream's reads. */
  async play() {
    do await new Promise(setImmediate);
    while (this._fireNext());
  }

  private _fireNext(untilMs = Number.POSITIVE_INFINITY): boolean {
    this._timers.sort((a, b) => a.atMs - b.atMs);
    const next = this._timers[0];
    if (!next || next.atMs > untilMs) return false;
    this._timers.shift();
    this._now = Math.max(this._now, next.atMs);
    next.callback();
    return true;
  }
}

/** Downloads a file of a session, and records how many bytes arrived by when. */
export function download(session: ReplaySession, path: string, range?: ByteRange) {
  const file = session.presentation.find(path)!;
  const abort = new AbortController();
  const arrived: { seconds: number; bytes: number }[] = [];
  const read = async () => {
    const options = { path, signal: abort.signal };
    const { body } = await session.serve(file, range ?? { start: 0, end: file.body.length }, options);
    let bytes = 0;
    for await (const piece of body) {
      bytes += piece.length;
      arrived.push({ seconds: session.nowSeconds, bytes });
    }
  };
  read().catch(() => {});
  return { file, arrived, abort, entry: session.log.at(-1)! };
}
