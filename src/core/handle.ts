/** The handle that a page gets, whatever the player. */

import type { Decision } from '../../abr/controller.ts';
import { InputError } from '../../abr/errors.ts';
import type { Forecast } from '../../abr/forecast.ts';
import type { Adaptation } from './adaptation.ts';
import { createEvents, type Events, type FaultEvent, type LeoAbrEvents, type Listener } from './events.ts';
import type { LeoAbrOptions } from './mpc-l-options.ts';
import type { ResolvedOptions } from './options.ts';
import type { Session } from './session.ts';

/** What a handle knows at this moment. */
export interface LeoAbrState {
  /** `inactive` where the player cannot be served (see `faults`), `detached` after `detach()`. */
  status: 'attached' | 'inactive' | 'detached';
  /** Name of the controller. */
  controller: string;
  /** Sources that the player was given since, the present one included. */
  session: number;
  /** Seconds since the session's first media request; 0 before it. */
  nowSeconds: number;
  /** The latest decision. */
  decision: Decision | undefined;
  /** The forecast that the controller was shown last, whether or not it decided anything. */
  forecast: Forecast | undefined;
  /** Bits of video asked for in this session, and those of them that came for downloads that were given up. */
  requestedBits: number;
  wastedBits: number;
  /** What went wrong so far, one per code. */
  faults: readonly FaultEvent[];
}

/** The options that `handle.set` changes. */
const CHANGEABLE = ['risk', 'abandon', 'maxWastedShare', 'horizon', 'qoe'] as const;
export type ChangeableOptions = Pick<LeoAbrOptions, (typeof CHANGEABLE)[number]>;

/** What `attachLeoAbr` returns. */
export interface LeoAbrHandle {
  /**
   * Changes options from the next decision on; what was measured stays. `undefined` stands for the default. Throws an
   * `InputError`, and changes nothing, for a wrong value, and for an option that cannot change while attached.
   */
  set(change: ChangeableOptions): void;
  /** Gives the player back to dash.js's own rules, with the settings that it had. Safe to call twice. */
  detach(): void;
  /** Calls `listener` for each event from now on; returns what ends that. */
  on<K extends keyof LeoAbrEvents>(type: K, listener: Listener<K>): () => void;
  readonly state: LeoAbrState;
}

/** The core in a player. */
export interface Installation {
  adaptation: Adaptation;
  /** Called once. */
  detach(): void;
}

/** `install` puts the core into the player. It returns undefined where it has reported a fault instead. */
export function createHandle<O extends object>(
  given: O | undefined,
  resolve: (options: O | undefined) => ResolvedOptions,
  install: (options: ResolvedOptions, events: Events) => Installation | undefined,
): LeoAbrHandle {
  const options = resolve(given);
  const events = createEvents(options.logger);
  const installation = events.attempt('unsupported-player', 'the player refused the plugin', () =>
    install(options, events),
  );
  let isDetached = false;
  return {
    set(change) {
      for (const [name, value] of Object.entries(change)) {
        if (!(CHANGEABLE as readonly string[]).includes(name)) {
          throw new InputError(`options.${name}`, `a change of ${CHANGEABLE.join(', ')}`, value);
        }
      }
      const changed = { ...given, ...change } as O;
      Object.assign(options, resolve(changed));
      given = changed;
      installation?.adaptation.life.renew();
    },
    detach() {
      if (!isDetached) installation?.detach();
      isDetached = true;
    },
    on: events.on,
    get state(): LeoAbrState {
      const life = installation?.adaptation.life;
      const {
        number = 0,
        requestedBits = 0,
        wastedBits = 0,
        lastDecision,
        lastForecast,
      }: Partial<Session> = life?.session() ?? {};
      return {
        status: isDetached ? 'detached' : installation === undefined ? 'inactive' : 'attached',
        controller: options.controllerName,
        session: number,
        nowSeconds: life?.nowSeconds() ?? 0,
        decision: lastDecision,
        forecast: lastForecast,
        requestedBits,
        wastedBits,
        faults: [...events.faults],
      };
    },
  };
}
