/**
 * Decides when `leo-abr trace record --active` measures the link: by schedule or trigger, within a budget, and only while
 * nobody uses the link (the scavenger mode and the triggers of LEOScope, T3P section 6.2). Without network and timers.
 */

import type { Clock, Traffic } from '../../service/index.ts';

/** `player`, `usage`: somebody uses the link. `unknown`: it is not known whether somebody does. */
export type EndCause = 'complete' | 'budget' | 'player' | 'usage' | 'unknown' | 'stopped';

export interface ScavengerOptions {
  clock: Clock;
  /** Names of the service's triggers that begin a measurement. */
  triggers: readonly string[];
  /** Period of the scheduled measurements. Default: none. */
  scheduleSeconds?: number | undefined;
  measureSeconds: number;
  /** Per UTC day. */
  budgetBytes: number;
  /** What was used before the start. */
  used: UsedBytes;
  /** Begins to download. */
  begin(reason: string): void;
  /** Ends the download at once. `reactionMs`: since the service's event, for `usage` since the end of the second. */
  end(cause: EndCause, reactionMs: number): void;
}

export interface UsedBytes {
  /** UTC, as 2026-01-01. */
  day: string;
  bytes: number;
}

/** The link must be unused for this long before a measurement. */
const QUIET_MS = 10_000;
/** The service publishes each second of the dish; after this long without one, the link's use is unknown. */
const SILENCE_MS = 4000;
/** Less is the background traffic of a home. */
const LEAST_TRAFFIC_BPS = 1e6;
/** The dish also counts headers and repetitions: up to a tenth of the measured bits. */
const COUNTED_SHARE = 1.1;
/** Acknowledgements in the uplink. */
const ACKNOWLEDGED_SHARE = 0.05;
/** The ends of the dish's seconds are estimated, and bits arrive later than at the dish. */
const SHIFT_MS = 1000;
const SAMPLES_MS = 10_000;
/** A trigger may come late, from the dish's history. */
const LATE_MS = 5000;
/** Handovers come every 15 s. Spread over the day, their measurements use this share of the budget. */
const HANDOVER_SHARE = 0.5;
const DAY_MS = 86_400_000;

export class Scavenger {
  readonly #options: ScavengerOptions;
  #used: UsedBytes;
  #measuring: { reason: string; beganMs: number; bytes: number } | undefined;
  #isWatched = false;
  /** Monotonic ms, as all times here: of the newest traffic of others, or of unknown use. */
  #busyMs: number;
  #heardMs: number;
  /** Monotonic ms less the service's UTC, by the fastest event. */
  #offsetMs = Number.POSITIVE_INFINITY;
  #scheduledMs: number;
  #isDue = false;
  #handoverMs = Number.NEGATIVE_INFINITY;
  /** Bytes received until then, per tick. */
  #samples: { atMs: number; bytes: number }[] = [];
  #allBytes = 0;
  /** Of the newest measurement. */
  #bytesPerMs = 0;

  constructor(options: ScavengerOptions) {
    this.#options = options;
    this.#used = { ...options.used };
    this.#busyMs = options.clock.monotonicMs();
    this.#heardMs = this.#busyMs - SILENCE_MS;
    this.#scheduledMs = this.#busyMs;
  }

  get used(): Readonly<UsedBytes> {
    return this.#used;
  }

  /** Time since the dish's newest usage, with which nothing is measured from 4 s on. */
  get silentMs(): number {
    return this.#options.clock.monotonicMs() - this.#heardMs;
  }

  /** An event of the service. */
  traffic({ serverUtcMs, isWatched, second }: Traffic): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#offsetMs = Math.min(this.#offsetMs, nowMs - serverUtcMs);
    this.#isWatched = isWatched;
    if (isWatched) this.#giveWay('player', serverUtcMs);
    if (second?.downlinkUsageBps === undefined) return;
    this.#heardMs = nowMs;
    if (this.#othersBps(second) > LEAST_TRAFFIC_BPS) this.#giveWay('usage', second.atMs);
  }

  /** An event of the service. A trigger while the link is in use is missed. */
  trigger({ name, atMs }: { name: string; atMs: number }): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (!this.#options.triggers.includes(name) || nowMs - (atMs + this.#offsetMs) > LATE_MS) return;
    if (name !== 'handover' || nowMs >= this.#handoverMs) this.#begin(name);
  }

  /** The service is lost, or its clock was set. */
  lost(): void {
    this.#giveWay('unknown', Number.NaN);
    this.#offsetMs = Number.POSITIVE_INFINITY;
    this.#heardMs = this.#options.clock.monotonicMs() - SILENCE_MS;
  }

  received(bytes: number): void {
    if (this.#measuring === undefined) return;
    this.#measuring.bytes += bytes;
    this.#allBytes += bytes;
    this.#used.bytes += bytes;
    if (this.#used.bytes >= this.#options.budgetBytes) this.#end('budget');
  }

  /** The download has failed, or the command ends. */
  stop(): void {
    if (this.#measuring !== undefined) this.#end('stopped');
  }

  /** Call it ten times a second. */
  tick(): void {
    const { clock, scheduleSeconds, measureSeconds } = this.#options;
    const nowMs = clock.monotonicMs();
    const day = dayOf(clock);
    if (day !== this.#used.day) this.#used = { day, bytes: 0 };
    this.#samples.push({ atMs: nowMs, bytes: this.#allBytes });
    while (this.#samples[0]!.atMs < nowMs - SAMPLES_MS) this.#samples.shift();
    if (this.silentMs >= SILENCE_MS) this.#giveWay('unknown', Number.NaN);
    if (scheduleSeconds !== undefined && nowMs >= this.#scheduledMs) {
      this.#isDue = true;
      this.#scheduledMs += 1000 * scheduleSeconds * Math.ceil((nowMs - this.#scheduledMs + 1) / scheduleSeconds / 1000);
    }
    if (this.#measuring !== undefined && nowMs - this.#measuring.beganMs >= measureSeconds * 1000)
      this.#end('complete');
    if (this.#isDue) this.#begin('schedule');
  }

  #begin(reason: string): void {
    const { clock, measureSeconds, budgetBytes } = this.#options;
    const nowMs = clock.monotonicMs();
    const isQuiet = !this.#isWatched && nowMs - this.#busyMs >= QUIET_MS;
    const expectedBytes = Math.max(1, this.#bytesPerMs * measureSeconds * 1000);
    if (this.#measuring !== undefined || !isQuiet || this.#used.bytes + expectedBytes > budgetBytes) return;
    if (reason === 'schedule') this.#isDue = false;
    this.#measuring = { reason, beganMs: nowMs, bytes: 0 };
    this.#options.begin(reason);
  }

  /** `sinceUtcMs`: of the service. */
  #giveWay(cause: EndCause, sinceUtcMs: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#busyMs = nowMs;
    if (this.#measuring === undefined) return;
    // A scheduled measurement is repeated.
    if (this.#measuring.reason === 'schedule') this.#isDue = true;
    this.#end(cause, nowMs - (sinceUtcMs + this.#offsetMs));
  }

  #end(cause: EndCause, reactionMs = 0): void {
    const { clock, budgetBytes, end } = this.#options;
    const { reason, beganMs, bytes } = this.#measuring!;
    const nowMs = clock.monotonicMs();
    this.#measuring = undefined;
    if (bytes > 0) this.#bytesPerMs = bytes / Math.max(1, nowMs - beganMs);
    if (reason === 'handover') this.#handoverMs = nowMs + (bytes / budgetBytes / HANDOVER_SHARE) * DAY_MS;
    end(cause, reactionMs);
  }

  /** The usage that is not of the measurement. */
  #othersBps({ atMs, downlinkUsageBps = 0, uplinkUsageBps = 0 }: NonNullable<Traffic['second']>): number {
    const startMs = atMs + this.#offsetMs - 1000;
    const samples = this.#samples.filter((sample) => sample.atMs >= startMs - SHIFT_MS);
    // The most that was received in any second about that of the dish.
    let own = 0;
    for (const from of samples) {
      if (from.atMs > startMs + SHIFT_MS) break;
      const until = samples.find((sample) => sample.atMs >= from.atMs + 1000)?.bytes ?? this.#allBytes;
      own = Math.max(own, 8 * (until - from.bytes));
    }
    return Math.max(downlinkUsageBps - COUNTED_SHARE * own, uplinkUsageBps - ACKNOWLEDGED_SHARE * own);
  }
}

/** The UTC day. */
export function dayOf(clock: Clock): string {
  return new Date(clock.utcMs()).toISOString().slice(0, 10);
}
