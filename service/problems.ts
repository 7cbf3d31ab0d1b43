/** The current problems for `GET /v1/state`: at most one per part and code. */

import { type Clock, utcMsOf } from './clock.ts';

export interface Problem {
  /** `dish`, `sky`, `recording`, `webhook` or `clock`. */
  part: string;
  /** Kind of problem within the part, in kebab case. */
  code: string;
  message: string;
  /** First report, UTC in ms. */
  sinceMs: number;
  /** Last report, UTC in ms. */
  lastMs: number;
  count: number;
}

export class Problems {
  /** With monotonic times. */
  readonly #problems = new Map<string, Problem>();
  /** Called when a problem appears or ends, not when it is reported again. */
  onChange: (problem: Readonly<Problem>, isOver: boolean) => void = () => {};

  constructor(private readonly clock: Clock) {}

  report(part: string, code: string, message: string): void {
    const key = `${part} ${code}`;
    const nowMs = this.clock.monotonicMs();
    const known = this.#problems.get(key);
    if (known !== undefined) {
      known.count++;
      known.lastMs = nowMs;
      known.message = message;
      return;
    }
    const problem = { part, code, message, sinceMs: nowMs, lastMs: nowMs, count: 1 };
    this.#problems.set(key, problem);
    this.onChange(this.#inUtc(problem), false);
  }

  clear(part: string, code: string): void {
    const key = `${part} ${code}`;
    const problem = this.#problems.get(key);
    if (problem === undefined) return;
    this.#problems.delete(key);
    this.onChange(this.#inUtc(problem), true);
  }

  list(): Problem[] {
    return [...this.#problems.values()].map((problem) => this.#inUtc(problem));
  }

  #inUtc(problem: Problem): Problem {
    const [sinceMs, lastMs] = [problem.sinceMs, problem.lastMs].map((ms) => utcMsOf(ms, this.clock));
    return { ...problem, sinceMs: sinceMs!, lastMs: lastMs! };
  }
}
