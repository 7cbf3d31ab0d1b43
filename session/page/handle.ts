/** The handle of an attachment, for any player. */

import type { Decision, Pace, PlayerState } from '../../abr/controller.ts';
import { check } from '../../abr/errors.ts';
import type { Forecast } from '../../abr/forecast.ts';
import { assemble, type ResolvedOptions, type Tools } from '../assemble.ts';
import type { Flow } from '../flow.ts';
import type { Host } from '../host.ts';
import type { Session } from '../session.ts';
import { isPlain } from './checks.ts';
import type { FaultEvent, LeoAbrEvents, Listener } from './event-types.ts';
import { Events } from './events.ts';
import type { LeoAbrOptions } from './option-types.ts';
import { resolveOptions } from './options.ts';

/** The state of an attachment. */
export interface LeoAbrState {
  /** `inactive`: hls.js or Shaka has not called the plugin yet or has released it, or `faults` say why; `detached`: after `detach()`. */
  status: 'attached' | 'inactive' | 'detached';
  /** Name of the controller. */
  controller: string;
  /** Number of the current source since the attachment, from 1. */
  session: number;
  /** Seconds since the session's first media request; 0 before it. */
  nowSeconds: number;
  /** The latest decision. */
  decision: Decision | undefined;
  /** The latest pace of a live stream; undefined while the player sets the rate. */
  pace: Pace | undefined;
  /** The latest forecast that the controller got, whether or not it decided. */
  forecast: Forecast | undefined;
  /** Bits of video requested in this session, and the received bits of abandoned downloads. */
  requestedBits: number;
  wastedBits: number;
  /** The faults so far. */
  faults: readonly FaultEvent[];
}

/** The options that `handle.set` changes. */
const CHANGEABLE = ['risk', 'watchSeconds', 'abandon', 'maxWastedShare', 'horizon', 'qoe', 'live'] as const;
export type ChangeableOptions = { [K in (typeof CHANGEABLE)[number]]?: LeoAbrOptions[K] | undefined };

/** What `attachLeoAbr` returns. */
export interface LeoAbrHandle {
  /**
   * Changes options from the next decision on; measurements stay. `undefined` restores the default. Throws an
   * `InputError` and changes nothing for an invalid value or an option that cannot change while attached.
   */
  set(change: ChangeableOptions): void;
  /** Restores the player's own algorithm and the previous settings. Safe to call twice. */
  detach(): void;
  /** Calls `listener` for each event from now on; returns a function that removes it. Throws an `InputError` for an unknown type. */
  on<K extends keyof LeoAbrEvents>(type: K, listener: Listener<K>): () => void;
  readonly state: LeoAbrState;
}

/** The flow, installed in a player. */
export interface Installation {
  flow: Flow;
  /** Whether it has a player now; absent where it always has. */
  isActive?(): boolean;
  /** The resolved options have changed, and so has the controller. */
  changed?(): void;
  /** Called once, to restore the player and to stop the flow. */
  detach(): void;
}

/** `install` installs the flow in the player; it returns undefined after reporting a fault. */
export function createHandle(
  { options, tools }: { options: LeoAbrOptions | undefined; tools?: Tools | undefined },
  host: Host,
  install: (options: ResolvedOptions, events: Events) => Installation | undefined,
): LeoAbrHandle {
  const resolve = (given: typeof options) => assemble(resolveOptions(given), host, tools);
  const resolved = resolve(options);
  const events = new Events(resolved);
  const installation = events.attempt('unsupported-player', 'the player refused the plugin', () =>
    install(resolved, events),
  );
  const { debug } = resolved;
  if (installation && debug) {
    const print = debug === true ? (line: string) => host.console.debug(line) : debug;
    writeLines(events, installation.flow.port.name, print);
  }
  let isDetached = false;
  return {
    set(change) {
      check(isPlain(change), 'change', 'an object', change);
      for (const [name, value] of Object.entries(change)) {
        const isChangeable = (CHANGEABLE as readonly string[]).includes(name);
        check(isChangeable, `options.${name}`, `a change of ${CHANGEABLE.join(', ')}`, value);
      }
      const changed = { ...options, ...change } as LeoAbrOptions;
      Object.assign(resolved, resolve(changed));
      options = changed;
      installation?.flow.renew();
      installation?.changed?.();
    },
    detach() {
      if (isDetached) return;
      isDetached = true;
      events.attempt('player-failed', 'the player could not be restored', () => installation?.detach());
    },
    on: (type, listener) => events.on(type, listener),
    get state(): LeoAbrState {
      const { session, clock, pacing } = installation?.flow || {};
      const { number = 0, requestedBits = 0, wastedBits = 0, decision, forecast }: Partial<Session> = session || {};
      return {
        status: isDetached ? 'detached' : (installation?.isActive?.() ?? installation) ? 'attached' : 'inactive',
        controller: resolved.controllerName,
        session: number,
        nowSeconds: clock?.nowSeconds() || 0,
        decision,
        pace: pacing?.pace,
        forecast,
        requestedBits,
        wastedBits,
        faults: [...events.faults],
      };
    },
  };
}

/* The option `debug`: one line per decision and pace. */

/** Attachments that have written lines, so that lines of two players on a page can be told apart. */
let writers = 0;

/** Writes with the player's name and number, the session's time and the buffer level. */
export function writeLines(events: Events, playerName: string, print: (line: string) => void): void {
  const label = `leo-abr ${playerName} #${++writers}`;
  const write = ({ nowSeconds, bufferLevelSeconds }: PlayerState, text: string) =>
    print(`${label}, ${nowSeconds.toFixed(1)} s, buffer ${bufferLevelSeconds.toFixed(1)} s: ${text}`);
  events.on('decision', ({ state, kind, representationId, decision }) =>
    write(state, `${kind} ${representationId}, ${decision.reason}`),
  );
  events.on('pace', ({ state, playbackRate, pace }) => write(state, `rate ${playbackRate.toFixed(2)}, ${pace.reason}`));
}
