/** A session's link as a player's forecaster may be told it, in the form in which the origin serves it. */
export interface PublishedLink {
  /** Ends of the steps in seconds of the trace; it repeats from its start after the last one. */
  stepEndsSeconds: number[];
  /** With scale and payload share. */
  ratesBps: number[];
  /** What each request costs. */
  rttSeconds: number;
  /** Second of the trace at the session's second 0. */
  startSeconds: number;
  /** UTC in ms of the trace's second 0. */
  traceStartUtcMs: number;
}
