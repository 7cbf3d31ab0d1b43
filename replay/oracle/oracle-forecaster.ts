/** The oracle: the replayed link's true future as a forecast of one path. For replays alone, never in the plugin. */

import type { Forecaster, PathForecast, PiecewisePath } from '../../abr/index.ts';

export interface OracleOptions {
  /**
   * The link on the trace's own time axis as the player meets it: capacity x payload share, with the RTT as latency.
   * What a browser or an origin adds besides is not in it.
   */
  link: PiecewisePath;
  /** Second of the trace at a second of the session's clock; undefined while that is not known yet. */
  traceSecondsAt(nowSeconds: number): number | undefined;
}

/** A forecaster that publishes, at every reading, the link from that moment on with weight 1. */
export function oracleForecaster(options: OracleOptions): Forecaster {
  const { link } = options;
  let newest: PathForecast | undefined;
  return {
    name: 'oracle',
    start() {
      newest = undefined;
    },
    observe() {},
    latest(nowSeconds) {
      const traceSeconds = options.traceSecondsAt(nowSeconds);
      if (traceSeconds === undefined) return undefined;
      const issuedAtMs = nowSeconds * 1000;
      if (newest?.issuedAtMs !== issuedAtMs) {
        newest = {
          kind: 'paths',
          issuedAtMs,
          source: 'oracle',
          paths: [{ weight: 1, path: link.from(traceSeconds) }],
          handovers: [],
        };
      }
      return newest;
    },
  };
}
