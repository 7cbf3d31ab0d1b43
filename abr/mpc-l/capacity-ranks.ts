/** The capacity of a forecast per rank, and how ranks change: what the plan of later segments needs of it. */

import type { QuantileForecast } from '../forecast.ts';
import { type ForecastSteps, MAX_STEPS } from './forecast-steps.ts';
import { binScores, rankTransitions, type TailWeight } from './rank-chain.ts';

/** Largest correlation of ranks, in hundredths: below 1, so that ranks mix. */
const LARGEST_HUNDREDTHS = 99;
/** Less likely transitions are ignored. */
const NEGLIGIBLE = 1e-4;

/** Computed when it is first asked for: capacities per forecast, transitions per correlation in hundredths. */
export class CapacityRanks {
  readonly #capacityBps: Float64Array;
  #computed: QuantileForecast | undefined;
  readonly #scores: Float64Array;
  readonly #transitions: Float64Array[] = [];

  /** `bins` of equal probability. */
  constructor(
    readonly bins: number,
    private readonly tail: TailWeight,
  ) {
    this.#capacityBps = new Float64Array(MAX_STEPS * bins);
    this.#scores = binScores(bins);
  }

  /** `[step * bins + bin]` in bit/s. */
  capacityBps(steps: ForecastSteps): Float64Array {
    for (let step = 0; step < steps.count && steps.forecast !== this.#computed; step++) {
      this.#capacityBps.set(steps.capacitiesBps(step, this.#scores), step * this.bins);
    }
    this.#computed = steps.forecast;
    return this.#capacityBps;
  }

  /** Transition probabilities at a correlation of ranks, `[from * bins + to]`. */
  transitions(correlation: number): Float64Array {
    const hundredths = Math.min(LARGEST_HUNDREDTHS, Math.round(correlation * 100));
    this.#transitions[hundredths] ??= rankTransitions(this.bins, hundredths / 100, this.tail).map((p) =>
      p < NEGLIGIBLE ? 0 : p,
    );
    return this.#transitions[hundredths]!;
  }
}
