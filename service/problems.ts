/** The current problems for `GET /v1/state`, at most one problem per part and code. */

import type { StateReply } from './api/wire.ts';
import { type Clock, utcMsOf } from './clock.ts';

/** `part` is `dish`, `sky`, `recording` or `clock`. `code` is in kebab case. Times are UTC in ms. */
export type Problem = StateReply['problems'][number];

export class Problems {
  /** The times of these problems are monotonic. */
  private readonly _problems = new Map<string, Problem>();
  /** `Problems` calls this when a problem appears or ends, but not when a problem is reported again. */
  onChange: (problem: Readonly<Problem>, isOver: boolean) => void = () => {};

  constructor(private readonly _clock: Clock) {}

  report(part: string, code: string, message: string): void {
    const key = `${part} ${code}`;
    const nowMs = this._clock.monotonicMs();
    const known = this._problems.get(key);
    if (known !== undefined) {
      known.count++;
      known.lastMs = nowMs;
      known.message = message;
      return;
    }
    const problem = { part, code, message, sinceMs: nowMs, lastMs: nowMs, count: 1 };
    this._problems.set(key, problem);
    this.onChange(this._inUtc(problem), false);
  }

  clear(part: string, code: string): void {
    const key = `${part} ${code}`;
    const problem = this._problems.get(key);
    if (problem === undefined) return;
    this._problems.delete(key);
    this.onChange(this._inUtc(problem), true);
  }

  list(): Problem[] {
    return [...this._problems.values()].map((problem) => this._inUtc(problem));
  }

  private _inUtc(problem: Problem): Problem {
    const [sinceMs, lastMs] = [problem.sinceMs, problem.lastMs].map((ms) => utcMsOf(ms, this._clock));
    return { ...problem, sinceMs: sinceMs!, lastMs: lastMs! };
  }
}
