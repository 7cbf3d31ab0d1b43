/** The capacity of a forecast per rank, and how ranks change, for the plan of later segments. */

import type { QuantileForecast } from '../forecast.ts';
import { type ForecastSteps, MAX_STEPS } from './forecast-steps.ts';
import { binScores, rankTransitions, type TailWeight } from './rank-chain.ts';

/** Largest correlation of ranks, in hundredths; below 1, so that ranks mix. */
const LARGEST_HUNDREDTHS = 99;
/** Less likely transitions are ignored. */
const NEGLIGIBLE = 1e-4;

/** Computes capacities once per forecast, and transitions once per correlation in hundredths. */
export class CapacityRanks {
  private readonly _capacityBps: Float64Array;
  private _computed: QuantileForecast | undefined;
  private readonly _scores: Float64Array;
  private readonly _transitions: Float64Array[] = [];

  /** The `bins` have equal probability. */
  constructor(
    readonly bins: number,
    private readonly _tail: TailWeight,
  ) {
    this._capacityBps = new Float64Array(MAX_STEPS * bins);
    this._scores = binScores(bins);
  }

  /** `[step * bins + bin]` in bit/s. */
  capacityBps(steps: ForecastSteps): Float64Array {
    for (let step = 0; step < steps.count && steps.forecast !== this._computed; step++) {
      this._capacityBps.set(steps.capacitiesBps(step, this._scores), step * this.bins);
    }
    this._computed = steps.forecast;
    return this._capacityBps;
  }

  /** Transition probabilities at a correlation of ranks, `[from * bins + to]`. */
  transitions(correlation: number): Float64Array {
    const hundredths = Math.min(LARGEST_HUNDREDTHS, Math.round(correlation * 100));
    this._transitions[hundredths] ||= rankTransitions(this.bins, hundredths / 100, this._tail).map((p) =>
      p < NEGLIGIBLE ? 0 : p,
    );
    return this._transitions[hundredths]!;
  }
}
