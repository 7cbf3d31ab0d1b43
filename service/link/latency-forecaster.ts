/**
 * Latency to come, as quantiles per step: the pings of the last minutes, weighted. Within the epoch the last seconds
 * count most; beyond the next handover the level may be another one, so that the more distant past counts as well.
 */

import type { QuantileForecast } from '../../abr/forecast.ts';

/** In seconds; the weight of a ping fades by e in so long, per step. */
const STEPS: readonly { endSeconds: number; memorySeconds: number }[] = [
  { endSeconds: 1, memorySeconds: 4 },
  { endSeconds: 4, memorySeconds: 6 },
  { endSeconds: 15, memorySeconds: 15 },
  { endSeconds: 48, memorySeconds: 45 },
];
const LEVELS = [0.1, 0.25, 0.5, 0.75, 0.9, 0.97];
/** Pings looked back on: four minutes. */
const KEPT = 240;
/** Fewer than this are no distribution. */
const LEAST = 5;
/** Older than this they tell nothing of now. */
const STALE_SECONDS = 15;

export class LatencyForecaster {
  readonly #pings: { atSeconds: number; latencyMs: number }[] = [];

  /** In order of time; others are ignored. */
  observe(atSeconds: number, latencyMs: number): void {
    const last = this.#pings.at(-1);
    if (!(latencyMs > 0 && latencyMs < 60_000) || (last !== undefined && atSeconds <= last.atSeconds)) return;
    this.#pings.push({ atSeconds, latencyMs });
    if (this.#pings.length > KEPT) this.#pings.shift();
  }

  latest(nowSeconds: number): NonNullable<QuantileForecast['latency']> | undefined {
    const newest = this.#pings.at(-1);
    if (newest === undefined || this.#pings.length < LEAST || nowSeconds - newest.atSeconds > STALE_SECONDS) {
      return undefined;
    }
    const sorted = [...this.#pings].sort((a, b) => a.latencyMs - b.latencyMs);
    return {
      stepEndsSeconds: STEPS.map((step) => step.endSeconds),
      levels: LEVELS,
      quantilesMs: STEPS.map(({ memorySeconds }) => {
        const weights = sorted.map(({ atSeconds }) => Math.exp((atSeconds - nowSeconds) / memorySeconds));
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        return LEVELS.map((level) => {
          let sum = 0;
          for (let i = 0; i < sorted.length; i++) {
            sum += weights[i]!;
            if (sum >= level * total) return sorted[i]!.latencyMs;
          }
          return sorted[sorted.length - 1]!.latencyMs;
        });
      }),
    };
  }
}
