/**
 * How likely is it that the next epoch is a bad one? Epochs are classed by what the dish saw in them, and a chain of two
 * states with fading memory says how often a good or a bad one is followed by a bad one: obstructions and overloaded
 * satellites last longer than an epoch. T3P proposes such a model in its section 7. Geometry does not enter: there is no
 * recording with geometry and quality to learn it from.
 */

import type { TelemetrySecond } from '../telemetry.ts';

/** An epoch that loses the pings of so many seconds in all (5 %), or is obstructed for so long, or waits so much longer, is degraded. */
const DEGRADED_LOST_SECONDS = 0.75;
const DEGRADED_OBSTRUCTED_SECONDS = 2;
const DEGRADED_LATENCY_RATIO = 1.8;
/** Pings of an epoch from which its latency says something. */
const LEAST_PINGS = 5;
/** Seconds seen of an epoch from which it counts. */
const LEAST_SECONDS = 8;
/** Latency is compared with the median of so many epochs. */
const EPOCHS_COMPARED = 40;
/** What was learnt fades by this factor per epoch: half in 35 epochs, nine minutes. */
const FADE = 0.98;
/** What is believed before: one epoch in ten, with the weight of four. */
const PRIOR_WEIGHT = 4;
const PRIOR_RATE = 0.1;
/** Epochs from which a probability is given. */
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
  /** Faded counts: by state of the epoch before, epochs and those of them that were degraded. */
  readonly #after = { good: { all: 0, bad: 0 }, bad: { all: 0, bad: 0 } };
  readonly #medians: number[] = [];
  /** Epochs classed so far. */
  epochs = 0;

  /** `epochIndex` counts epochs, in order; a second of an older epoch than the newest is ignored. */
  observe(second: TelemetrySecond, epochIndex: number): void {
    if (this.#current === undefined || epochIndex > this.#current.index) {
      this.#close(epochIndex);
      this.#current = {
        index: epochIndex,
        seconds: 0,
        lostSeconds: 0,
        obstructedSeconds: 0,
        latenciesMs: [],
      };
    } else if (epochIndex < this.#current.index) return;
    const epoch = this.#current;
    epoch.seconds++;
    epoch.lostSeconds += second.dropRate ?? 0;
    if (second.obstructed === true) epoch.obstructedSeconds++;
    if (second.latencyMs !== undefined) epoch.latenciesMs.push(second.latencyMs);
  }

  /** Whether the epoch under way is degraded by what was seen of it. */
  get isDegraded(): boolean {
    return this.#current !== undefined && this.#isDegraded(this.#current);
  }

  /** Undefined before there were enough epochs. */
  nextDegradedProbability(): number | undefined {
    if (this.epochs < LEAST_EPOCHS) return undefined;
    const rate = this.#current === undefined || !this.#counts(this.#current) ? this.#wasDegraded : this.isDegraded;
    const { all, bad } = rate === true ? this.#after.bad : this.#after.good;
    const both = {
      all: this.#after.good.all + this.#after.bad.all,
      bad: this.#after.good.bad + this.#after.bad.bad,
    };
    // Towards how often epochs are bad at all, and that towards what is believed before.
    const overall = (both.bad + PRIOR_RATE * PRIOR_WEIGHT) / (both.all + PRIOR_WEIGHT);
    return (bad + overall * PRIOR_WEIGHT) / (all + PRIOR_WEIGHT);
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
    // Over a gap nothing follows anything.
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

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
