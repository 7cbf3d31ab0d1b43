/** How an adapter hooks into a player, and leaves it as it was. */

import type { Guard } from '../session/page/events.ts';

/** Handlers by the names of events. */
export type Handlers = Record<string, (event: never) => void>;

/** Names of the methods that add and remove a listener. */
export const DOM_METHODS = ['addEventListener', 'removeEventListener'] as const;
export const EMITTER_METHODS = ['on', 'off'] as const;

/** Returns a function that removes the handlers. They get the last argument of an event: hls.js passes the name first. */
export function listen(
  target: object,
  [add, remove]: typeof DOM_METHODS | typeof EMITTER_METHODS,
  handlers: Handlers,
  guard: Guard,
): () => void {
  const bus = target as Record<string, (type: string, listener: (...event: never[]) => void) => void>;
  const guarded = Object.entries(handlers).map(
    ([type, handler]) =>
      [type, (first: never, second?: never) => guard(handler as (event?: never) => void, second ?? first)] as const,
  );
  for (const one of guarded) bus[add]!(...one);
  return () => {
    for (const one of guarded) bus[remove]!(...one);
  };
}

/** Sets a setting; returns a function that restores the previous value, unless somebody has changed it since. */
export function override<T>(value: T, get: () => T, set: (value: T) => void): () => void {
  const before = get();
  set(value);
  return () => {
    if (get() === value) set(before);
  };
}

/** The steps by which the plugin leaves a player as it found it. */
export class UndoList {
  private _steps: (() => void)[] = [];

  add(...steps: (() => void)[]): void {
    this._steps.push(...steps);
  }

  /** Takes all steps, each once. */
  run(): void {
    for (const step of this._steps.splice(0)) {
      try {
        step();
      } catch {
        // A destroyed player throws: there is nothing to restore.
      }
    }
  }
}
