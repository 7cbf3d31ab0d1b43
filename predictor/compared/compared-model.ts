/**
 * A model that the built-in forecaster is compared with in sessions: what it is given of a moment, and what it gives. Never
 * part of the plugin.
 */

import type { ModelOutline } from '../model-session.ts';

/** What a session has seen second by second, as of a moment: bins of one second of downloading, `SECONDS_SEEN` of them. */
export interface SeenSeconds {
  /** ln of each bin's rate over the moment's reference rate, at least ln 0.01; oldest first, NaN for bins that there were not. */
  readonly ratios: Float64Array;
  /** Seconds from the bin's end to the moment, by the clock; NaN where the ratio is. */
  readonly ages: Float64Array;
}

/** Bins that are looked back on. */
export const SECONDS_SEEN = 64;

export interface ComparedModel extends ModelOutline {
  /** What forecasts have as their source. */
  readonly kind: 'boosted trees' | 'temporal network';
  /** Of the model file. */
  readonly name: string;
  /**
   * Writes quantiles `[step * levels + level]`, ascending by level, as ln of ratios to the reference rate, into `values`.
   * `features`: `FEATURES` of the same moment, which also tell where in the epoch it is.
   */
  evaluate(features: Float64Array, seconds: SeenSeconds, values: Float64Array): void;
}
