/** Events for the listeners of a handle: decisions, paces of live streams, and faults, each reported once. */

import { check } from '../../abr/errors.ts';
import type { Host } from '../host.ts';
import type { FaultCode, FaultEvent, LeoAbrEvents, Listener, Logger } from './event-types.ts';

/** Runs an action on its argument; if it throws, reports a fault and returns undefined, so that no error reaches the player. */
export type Guard = <T, A = undefined>(action: (argument: A) => T, argument?: A) => T | undefined;

/** The result of `action`; undefined if it throws, as where a page or a player lacks something. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** The events of one attachment. */
export class Events {
  /** Faults so far. */
  readonly faults: FaultEvent[] = [];
  /** Somebody has asked for paces, and so for handovers. */
  hasPaceListener = false;
  private readonly _listeners = {
    decision: new Set<Listener<'decision'>>(),
    pace: new Set<Listener<'pace'>>(),
    fault: new Set<Listener<'fault'>>(),
  };

  constructor(private readonly _options: { logger: Logger | null; host: Pick<Host, 'soon'> }) {}

  /** Returns a function that removes the listener. */
  on<K extends keyof LeoAbrEvents>(type: K, listener: Listener<K>): () => void {
    check(Object.keys(this._listeners).includes(type), 'event', 'decision, pace or fault', type);
    check(typeof listener === 'function', 'listener', 'a function', listener);
    const set = this._listeners[type] as Set<Listener<K>>;
    set.add(listener);
    this.hasPaceListener ||= type === 'pace';
    return () => set.delete(listener);
  }

  /** Reports the first fault with this code and `what`, after the present call: `attachLeoAbr` has then returned. */
  fault(code: FaultCode, what: string, cause?: unknown): void {
    if (this.faults.some((known) => known.code === code && known.message.startsWith(what))) return;
    // A page may throw what has no text, such as a symbol.
    const text = () => (cause === undefined ? what : `${what}: ${cause instanceof Error ? cause.message : cause}`);
    const message = attempt(text) || what;
    const event = { code, message, cause };
    this.faults.push(event);
    this._options.host.soon(() => {
      this.attempt('listener-failed', 'the logger failed', () => this._options.logger?.warn(`leo-abr: ${message}`));
      this.emit('fault', event);
    });
  }

  /** Returns the action's result; if it throws, reports a fault and returns undefined. */
  attempt<T>(code: FaultCode, what: string, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.fault(code, what, error);
      return undefined;
    }
  }

  emit<K extends keyof LeoAbrEvents>(type: K, event: LeoAbrEvents[K]): void {
    for (const listener of [...(this._listeners[type] as Set<Listener<K>>)]) {
      this.attempt('listener-failed', 'a listener failed', () => listener(event));
    }
  }
}
