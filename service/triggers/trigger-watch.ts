/**
 * Brings the metrics to the triggers, each second once: the dish's as its seconds are told, however late that is, and
 * handovers by the session's clock, however late the timer is.
 */

import { randomUUID } from 'node:crypto';
import type { EventType } from '../api/wire.ts';
import type { SessionClock } from '../session-clock.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import type { Trigger } from './config.ts';
import { type FiredTrigger, TriggerEngine } from './trigger-engine.ts';

export interface TriggerWatchOptions {
  triggers: readonly Trigger[];
  session: SessionClock;
  isEpochDegraded(): boolean;
  /** `id` is of this firing alone, so that whoever is told twice can leave one out. */
  onFired(fired: FiredTrigger & { id: string }): void;
}

export class TriggerWatch {
  readonly #options: TriggerWatchOptions;
  readonly #engine: TriggerEngine;
  /** The newest second of the dish: its end, and its number in the order of seconds. */
  #newest: { endSeconds: number; number: number } | undefined;
  #tickedSeconds: number;
  /** Numbers of seconds that are not evaluated yet. */
  readonly #handovers = new Set<number>();

  constructor(options: TriggerWatchOptions) {
    this.#options = options;
    this.#engine = new TriggerEngine(options.triggers);
    this.#tickedSeconds = Math.floor(options.session.nowSeconds());
  }

  /** A second of the dish, in order of time; those from before the session do not count. */
  telemetry({ atMs, latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps, obstructed }: TelemetrySecond): void {
    const endSeconds = this.#options.session.secondsAt(atMs);
    if (endSeconds <= 0) return;
    const before = this.#newest;
    // The ends of seconds are known to some tenths; the next one is the next one all the same.
    const number =
      before === undefined
        ? Math.round(endSeconds)
        : before.number + Math.max(1, Math.round(endSeconds - before.endSeconds));
    this.#newest = { endSeconds, number };
    const values = {
      latencyMs,
      dropRate,
      downlinkUsageBps,
      uplinkUsageBps,
      obstructed: obstructed === undefined ? undefined : Number(obstructed),
      degradedEpoch: Number(this.#options.isEpochDegraded()),
    };
    this.#tell(this.#engine.observe(values, { atSeconds: number, atMs }));
  }

  event(type: EventType): void {
    if (type === 'handover') this.#handovers.add(Math.ceil(this.#options.session.nowSeconds()));
  }

  /** Evaluates the seconds that have ended since the last call. To be called about once a second. */
  tick(): void {
    const { session } = this.#options;
    const endSeconds = Math.floor(session.nowSeconds());
    while (this.#tickedSeconds < endSeconds) {
      const atSeconds = ++this.#tickedSeconds;
      const handover = Number(this.#handovers.delete(atSeconds));
      this.#tell(this.#engine.observe({ handover }, { atSeconds, atMs: Math.round(session.utcMsAt(atSeconds)) }));
    }
  }

  #tell(fired: readonly FiredTrigger[]): void {
    for (const one of fired) this.#options.onFired({ id: randomUUID(), ...one });
  }
}
