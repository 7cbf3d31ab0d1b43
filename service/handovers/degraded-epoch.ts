/** Classifies the current epoch by its telemetry, for the trigger `degraded-epoch` and the state. */

import { median } from '../../abr/quantile.ts';
import type { TelemetrySecond } from '../telemetry.ts';

/** An epoch is degraded from this sum of its drop rates (5 % of 15 s), this obstructed time or this latency ratio. */
const DEGRADED_LOST_SECONDS = 0.75;
const DEGRADED_OBSTRUCTED_SECONDS = 2;
const DEGRADED_LATENCY_RATIO = 1.8;
/** An epoch's latency needs this many pings. */
const LEAST_PINGS = 5;
/** The latency ratio is relative to the median of at least and at most this many earlier epochs. */
const LEAST_EPOCHS = 4;
const MOST_EPOCHS = 40;

export class DegradedEpoch {
  #index = Number.NEGATIVE_INFINITY;
  #lostSeconds = 0;
  #obstructedSeconds = 0;
  #latenciesMs: number[] = [];
  readonly #mediansMs: number[] = [];

  /** Seconds of epochs before the newest are ignored. */
  observe(second: TelemetrySecond, epochIndex: number): void {
    if (epochIndex < this.#index) return;
    if (epochIndex > this.#index) {
      if (this.#latenciesMs.length >= LEAST_PINGS) this.#mediansMs.push(median(this.#latenciesMs));
      if (this.#mediansMs.length > MOST_EPOCHS) this.#mediansMs.shift();
      this.#index = epochIndex;
      this.#lostSeconds = 0;
      this.#obstructedSeconds = 0;
      this.#latenciesMs = [];
    }
    this.#lostSeconds += second.dropRate ?? 0;
    if (second.obstructed === true) this.#obstructedSeconds++;
    if (second.latencyMs !== undefined) this.#latenciesMs.push(second.latencyMs);
  }

  /** Whether the current epoch counts as degraded so far. */
  get isDegraded(): boolean {
    if (this.#lostSeconds >= DEGRADED_LOST_SECONDS) return true;
    if (this.#obstructedSeconds >= DEGRADED_OBSTRUCTED_SECONDS) return true;
    if (this.#mediansMs.length < LEAST_EPOCHS || this.#latenciesMs.length < LEAST_PINGS) return false;
    return median(this.#latenciesMs) >= DEGRADED_LATENCY_RATIO * median(this.#mediansMs);
  }
}
