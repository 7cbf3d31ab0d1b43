/**
 * Forecasts latency as quantiles per step: weighted quantiles of the last minutes' pings. Near steps weight the last
 * seconds most; steps beyond the next handover weight older pings too, because the base latency may change there.
 */

import type { QuantileForecast } from '../../abr/forecast.ts';
import { weightedQuantiles } from '../../abr/quantile.ts';

/** `memorySeconds`: time constant of the exponential weights. */
const STEPS: readonly { endSeconds: number; memorySeconds: number }[] = [
  { endSeconds: 1, memorySeconds: 4 },
  { endSeconds: 4, memorySeconds: 6 },
  { endSeconds: 15, memorySeconds: 15 },
  { endSeconds: 48, memorySeconds: 45 },
];
const LEVELS = [0.1, 0.25, 0.5, 0.75, 0.9, 0.97];
/** Pings kept: four minutes. */
const KEPT = 240;
/** Pings needed for a forecast. */
const LEAST = 5;
/** No forecast if the newest ping is older than this. */
const STALE_SECONDS = 15;

export class LatencyForecaster {
  readonly #pings: { atSeconds: number; latencyMs: number }[] = [];

  /** Invalid pings and pings out of order are ignored. */
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
        const weight = (atSeconds: number) => Math.exp((atSeconds - nowSeconds) / memorySeconds);
        const weighted = sorted.map(({ atSeconds, latencyMs }) => ({ value: latencyMs, weight: weight(atSeconds) }));
        return weightedQuantiles(weighted, LEVELS);
      }),
    };
  }
}
