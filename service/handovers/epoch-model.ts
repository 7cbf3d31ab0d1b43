/**
 * Estimates the probability that the next epoch is degraded. It classifies epochs by their telemetry and models them as
 * a two-state Markov chain with fading counts, because obstructions and overloaded satellites outlast an epoch
 * (proposed in section 7 of T3P). Satellite geometry is not used: no recording has both geometry and link quality.
 */

import { median } from '../../abr/quantile.ts';
import type { TelemetrySecond } from '../telemetry.ts';

/** An epoch is degraded from this sum of its drop rates (5 % of 15 s), this obstructed time or this latency ratio. */
const DEGRADED_LOST_SECONDS = 0.75;
const DEGRADED_OBSTRUCTED_SECONDS = 2;
const DEGRADED_LATENCY_RATIO = 1.8;
/** An epoch's latency needs this many pings. */
const LEAST_PINGS = 5;
/** Epochs observed for less than this are ignored. */
const LEAST_SECONDS = 8;
/** The latency ratio is relative to the median of this many epochs. */
const EPOCHS_COMPARED = 40;
/** Counts fade by this factor per epoch: the half-life is 35 epochs, nine minutes. */
const FADE = 0.98;
/** Prior: one epoch in ten is degraded, with the weight of four epochs. */
const PRIOR_WEIGHT = 4;
const PRIOR_RATE = 0.1;
/** Epochs needed before a probability is given. */
const LEAST_EPOCHS = 4;

interface Epoch {
  index: number;
  seconds: number;
  lostSeconds: number;
  obstructedSeconds: number;
  latenciesMs: number[];
}

export class EpochModel {
  #current: Epoch | undefined;
  #wasDegraded: boolean | undefined;
  /** Faded counts of epochs, and of degraded epochs among them, by the state of the previous epoch. */
  readonly #after = { good: { all: 0, bad: 0 }, bad: { all: 0, bad: 0 } };
  readonly #medians: number[] = [];
  /** Epochs classified so far. */
  epochs = 0;

  /** Seconds of epochs before the newest are ignored. */
  observe(second: TelemetrySecond, epochIndex: number): void {
    if (this.#current === undefined || epochIndex > this.#current.index) {
      this.#close(epochIndex);
      this.#current = { index: epochIndex, seconds: 0, lostSeconds: 0, obstructedSeconds: 0, latenciesMs: [] };
    } else if (epochIndex < this.#current.index) return;
    const epoch = this.#current;
    epoch.seconds++;
    epoch.lostSeconds += second.dropRate ?? 0;
    if (second.obstructed === true) epoch.obstructedSeconds++;
    if (second.latencyMs !== undefined) epoch.latenciesMs.push(second.latencyMs);
  }

  /** Whether the current epoch counts as degraded so far. */
  get isDegraded(): boolean {
    return this.#current !== undefined && this.#isDegraded(this.#current);
  }

  /** Undefined until enough epochs were observed. */
  nextDegradedProbability(): number | undefined {
    if (this.epochs < LEAST_EPOCHS) return undefined;
    const { good, bad } = this.#after;
    const state = this.#current === undefined || !this.#counts(this.#current) ? this.#wasDegraded : this.isDegraded;
    const counts = state === true ? bad : good;
    // Shrink the conditional rate towards the overall rate, and that towards the prior.
    const overall = (good.bad + bad.bad + PRIOR_RATE * PRIOR_WEIGHT) / (good.all + bad.all + PRIOR_WEIGHT);
    return (counts.bad + overall * PRIOR_WEIGHT) / (counts.all + PRIOR_WEIGHT);
  }

  #close(nextIndex: number): void {
    const epoch = this.#current;
    if (epoch === undefined) return;
    if (!this.#counts(epoch)) {
      this.#wasDegraded = undefined;
      return;
    }
    const isDegraded = this.#isDegraded(epoch);
    if (this.#wasDegraded !== undefined) {
      for (const counts of Object.values(this.#after)) {
        counts.all *= FADE;
        counts.bad *= FADE;
      }
      const counts = this.#wasDegraded ? this.#after.bad : this.#after.good;
      counts.all++;
      if (isDegraded) counts.bad++;
    }
    // After a gap, the previous epoch is unknown.
    this.#wasDegraded = nextIndex === epoch.index + 1 ? isDegraded : undefined;
    this.epochs++;
    if (epoch.latenciesMs.length > 0) this.#medians.push(median(epoch.latenciesMs));
    if (this.#medians.length > EPOCHS_COMPARED) this.#medians.shift();
  }

  #counts(epoch: Epoch): boolean {
    return epoch.seconds >= LEAST_SECONDS;
  }

  #isDegraded(epoch: Epoch): boolean {
    if (epoch.lostSeconds >= DEGRADED_LOST_SECONDS) return true;
    if (epoch.obstructedSeconds >= DEGRADED_OBSTRUCTED_SECONDS) return true;
    if (this.#medians.length < LEAST_EPOCHS || epoch.latenciesMs.length < LEAST_PINGS) return false;
    return median(epoch.latenciesMs) >= DEGRADED_LATENCY_RATIO * median(this.#medians);
  }
}
