/** What is wrong at the moment, for `GET /v1/state`: each problem once, with since when and how often. */

import type { Clock } from './clock.ts';

export interface Problem {
  /** Which part: `dish`, `sky`, `recording`, `webhook`, `clock`, `model`. */
  part: string;
  /** Kind of problem within the part, in kebab case. */
  code: string;
  /** For a person. */
  message: string;
  /** UTC in ms. */
  sinceMs: number;
  /** Last time it was noticed, UTC in ms. */
  lastMs: number;
  count: number;
}

/** Parts report and clear; whoever shows problems lists them. At most one per part and code. */
export class Problems {
  readonly #clock: Clock;
  readonly #problems = new Map<string, Problem>();
  /** Told when one appears or disappears, not when one is noticed again. */
  onChange: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  report(part: string, code: string, message: string): void {
    const key = `${part} ${code}`;
    const nowMs = this.#clock.utcMs();
    const known = this.#problems.get(key);
    if (known !== undefined) {
      known.count++;
      known.lastMs = nowMs;
      known.message = message;
      return;
    }
    this.#problems.set(key, { part, code, message, sinceMs: nowMs, lastMs: nowMs, count: 1 });
    this.onChange();
  }

  clear(part: string, code: string): void {
    if (this.#problems.delete(`${part} ${code}`)) this.onChange();
  }

  list(): Problem[] {
    return [...this.#problems.values()].map((problem) => ({ ...problem }));
  }
}
