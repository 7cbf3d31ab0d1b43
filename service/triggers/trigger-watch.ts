/**
 * Feeds each second to the triggers once: metrics of the dish when its seconds arrive, even late, and handovers by the
 * session clock, even if the timer is late.
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
  /** The `id` is unique, so that receivers can drop duplicates. */
  onFired(fired: FiredTrigger & { id: string }): void;
}

export class TriggerWatch {
  readonly #options: TriggerWatchOptions;
  readonly #engine: TriggerEngine;
  /** The dish's newest second. */
  #newest: { endSeconds: number; number: number } | undefined;
  #tickedSeconds: number;
  /** Ends of the seconds with a handover that are not evaluated yet. */
  readonly #handovers = new Set<number>();

  constructor(options: TriggerWatchOptions) {
    this.#options = options;
    this.#engine = new TriggerEngine(options.triggers);
    this.#tickedSeconds = Math.floor(options.session.nowSeconds());
  }

  /** In order of time; seconds before the start are ignored. */
  telemetry({ atMs, latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps, obstructed }: TelemetrySecond): void {
    const { session } = this.#options;
    const endSeconds = session.secondsAt(atMs);
    if (endSeconds <= session.startSeconds) return;
    const before = this.#newest;
    // Their ends are estimated to some tenths of a second, but consecutive seconds need consecutive numbers.
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
    this.#fire(this.#engine.observe(values, { atSeconds: number, atMs }));
  }

  event(type: EventType): void {
    if (type === 'handover') this.#handovers.add(Math.ceil(this.#options.session.nowSeconds()));
  }

  /** Evaluates the seconds that ended since the last call. Call it about once a second. */
  tick(): void {
    const { session } = this.#options;
    const endSeconds = Math.floor(session.nowSeconds());
    while (this.#tickedSeconds < endSeconds) {
      const atSeconds = ++this.#tickedSeconds;
      const handover = Number(this.#handovers.delete(atSeconds));
      this.#fire(this.#engine.observe({ handover }, { atSeconds, atMs: Math.round(session.utcMsAt(atSeconds)) }));
    }
  }

  #fire(fired: readonly FiredTrigger[]): void {
    for (const one of fired) this.#options.onFired({ id: randomUUID(), ...one });
  }
}
