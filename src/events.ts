/** What a handle tells its listeners, and faults that are told once. */

import type { Decision, InFlight, PlayerState } from '../abr/controller.ts';
import type { Forecast } from '../abr/forecast.ts';

/** A decision on a segment, with all that it was based on, so that it can be computed again. */
export interface DecisionEvent {
  /** `decide` before a segment's request, `abandon` while one was under way. */
  kind: 'decide' | 'abandon';
  /** Counts the sources that the player was given since the plugin was attached, from 1. */
  session: number;
  decision: Decision;
  /** What the controller was shown; a copy that nobody changes any more. */
  state: PlayerState;
  /** The forecast that it was shown, if there was one. */
  forecast: Forecast | undefined;
  /** For `abandon`: the download that was given up. */
  inFlight: InFlight | undefined;
  /** The chosen representation's id in the manifest. */
  representationId: string;
  /** The period's id in dash.js. */
  streamId: string;
}

/** What can go wrong at run time; playback goes on in every case. */
export type FaultCode =
  /** Not a dash.js 5.1 or later of version 5: the plugin does nothing. */
  | 'unsupported-player'
  /** The player has the plugin already: this second attachment does nothing. */
  | 'already-attached'
  /** The controller threw or gave no usable decision: dash.js's own throughput rule decides on that segment. */
  | 'controller-failed'
  /** The forecaster threw: the controller decides without a forecast. */
  | 'forecaster-failed'
  /** The time source threw or gave no usable time: UTC counts as unknown. */
  | 'time-source-failed'
  /** `sizes` could not be loaded or is malformed: sizes are estimated. */
  | 'sizes-unusable'
  /** dash.js was found different from what the plugin expects: its own rule decides. */
  | 'player-failed'
  /** A listener of this handle threw. */
  | 'listener-failed';

export interface FaultEvent {
  code: FaultCode;
  message: string;
  /** What was caught, where something was. */
  cause?: unknown;
}

export interface LeoAbrEvents {
  decision: DecisionEvent;
  fault: FaultEvent;
}

export type Listener<K extends keyof LeoAbrEvents> = (event: LeoAbrEvents[K]) => void;

/** Where faults are also written; `console` is one. */
export interface Logger {
  warn(message: string, ...details: unknown[]): void;
}

export class Emitter {
  readonly #listeners: { [K in keyof LeoAbrEvents]: Set<Listener<K>> } = { decision: new Set(), fault: new Set() };
  readonly #logger: Logger | undefined;
  readonly #faults = new Map<FaultCode, FaultEvent>();

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  /** Faults so far, one per code. */
  get faults(): readonly FaultEvent[] {
    return [...this.#faults.values()];
  }

  on<K extends keyof LeoAbrEvents>(type: K, listener: Listener<K>): () => void {
    const listeners = this.#listeners[type];
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  decision(event: DecisionEvent): void {
    this.#send('decision', event);
  }

  /** Tells a fault, the first of its code only, after the present call stack: `attach` has then returned. */
  fault(code: FaultCode, message: string, cause?: unknown): void {
    if (this.#faults.has(code)) return;
    const event: FaultEvent = { code, message, ...(cause === undefined ? {} : { cause }) };
    this.#faults.set(code, event);
    queueMicrotask(() => {
      this.#logger?.warn(`leo-abr: ${message}`, ...(cause === undefined ? [] : [cause]));
      this.#send('fault', event);
    });
  }

  #send<K extends keyof LeoAbrEvents>(type: K, event: LeoAbrEvents[K]): void {
    for (const listener of [...this.#listeners[type]]) {
      try {
        listener(event);
      } catch (error) {
        this.fault('listener-failed', `a listener for '${type}' threw`, error);
      }
    }
  }
}
