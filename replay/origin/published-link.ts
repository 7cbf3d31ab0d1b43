/** A session's link as the origin publishes it, for an oracle forecaster. */
export interface PublishedLink {
  /** Ends of the steps in seconds of the trace, which repeats after the last step. */
  stepEndsSeconds: number[];
  /** Rates x scale x payload share. */
  ratesBps: number[];
  rttSeconds: number;
  /** Second of the trace at the session's second 0. */
  startSeconds: number;
  /** UTC in ms of the trace's second 0. */
  traceStartUtcMs: number;
}
