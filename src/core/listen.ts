/** Listens to a player's or an element's events. */

import type { Guard } from './events.ts';

/** Handlers by the names of events. */
export type Handlers = Record<string, (event: never) => void>;

/** Names of the methods that add and remove a listener. */
export const DOM_METHODS = ['addEventListener', 'removeEventListener'] as const;
export const EMITTER_METHODS = ['on', 'off'] as const;

/** Returns a function that removes the handlers. They get the last argument of an event: hls.js passes its name first. */
export function listen(
  target: object,
  [add, remove]: typeof DOM_METHODS | typeof EMITTER_METHODS,
  handlers: Handlers,
  guard: Guard,
): () => void {
  const bus = target as Record<string, (type: string, listener: (...event: never[]) => void) => void>;
  const guarded = Object.entries(handlers).map(
    ([type, handler]) => [type, (...event: never[]) => guard(() => handler(event.at(-1)!))] as const,
  );
  for (const one of guarded) bus[add]!(...one);
  return () => {
    for (const one of guarded) bus[remove]!(...one);
  };
}
