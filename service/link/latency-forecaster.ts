/**
 * Forecasts latency as quantiles per step. Near steps add the last minutes' changes of the ping to the newest one; far
 * steps have the quantiles of the last minutes' pings, because the base latency may change at each handover.
 * docs/results/service/latency.csv has the errors.
 */

import type { QuantileForecast } from '../../abr/forecast.ts';
import { weightedQuantiles } from '../../abr/quantile.ts';

/** `changeSeconds`: changes of the ping over this time. `memorySeconds`: time constant of the pings' weights. */
const STEPS: readonly { endSeconds: number; changeSeconds?: number; memorySeconds: number }[] = [
  { endSeconds: 1, changeSeconds: 1, memorySeconds: Number.POSITIVE_INFINITY },
  { endSeconds: 4, changeSeconds: 3, memorySeconds: Number.POSITIVE_INFINITY },
  { endSeconds: 15, memorySeconds: 60 },
  { endSeconds: 48, memorySeconds: 180 },
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
    return {
      stepEndsSeconds: STEPS.map((step) => step.endSeconds),
      levels: LEVELS,
      quantilesMs: STEPS.map(({ changeSeconds, memorySeconds }) => {
        const pings = changeSeconds === undefined ? this.#pings : this.#changed(changeSeconds, nowSeconds);
        const weight = (atSeconds: number) => Math.exp((atSeconds - nowSeconds) / memorySeconds);
        const weighted = pings.map(({ atSeconds, latencyMs }) => ({ value: latencyMs, weight: weight(atSeconds) }));
        return weightedQuantiles(
          weighted.sort((x, y) => x.value - y.value),
          LEVELS,
        );
      }),
    };
  }

  /** The newest ping, changed as each earlier one was; the dish has one ping a second. */
  #changed(changeSeconds: number, nowSeconds: number): { atSeconds: number; latencyMs: number }[] {
    const pings = this.#pings;
    const newest = pings.at(-1)!;
    const apart = Math.min(changeSeconds + Math.round(nowSeconds - newest.atSeconds), pings.length - 1);
    const leastMs = Math.min(...pings.map(({ latencyMs }) => latencyMs));
    return pings.slice(apart).map(({ atSeconds, latencyMs }, i) => ({
      atSeconds,
      latencyMs: Math.max(leastMs, newest.latencyMs + latencyMs - pings[i]!.latencyMs),
    }));
  }
}
