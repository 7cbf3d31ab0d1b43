/** The form of a model's outputs. */
export interface ModelOutline {
  /** As in a forecast: ascending, > 0. */
  stepEndsSeconds: readonly number[];
  /** As in a forecast: an odd number of quantile levels, ascending, in (0, 1). */
  levels: readonly number[];
  /** Correlation of the ranks of adjacent steps, measured on unseen sessions: 0 to below 1. */
  rankCorrelation: number;
}
