/** The oracle: the replayed link's true future as a forecast of one path. For replays only, never in the plugin. */

import type { Forecaster, PathForecast, PiecewisePath } from '../../abr/index.ts';

/**
 * A forecaster that always publishes the link from now on. `link`: capacity x payload share with the RTT as latency,
 * from the trace's second 0; `traceSecondsAt`: second of the trace at a second of the session's clock.
 */
export function oracleForecaster({
  link,
  traceSecondsAt,
}: {
  link: PiecewisePath;
  traceSecondsAt(nowSeconds: number): number;
}): Forecaster {
  let newest: PathForecast | undefined;
  return {
    name: 'oracle',
    start() {
      newest = undefined;
    },
    observe() {},
    latest(nowSeconds) {
      const issuedAtMs = nowSeconds * 1000;
      if (newest?.issuedAtMs !== issuedAtMs) {
        newest = {
          kind: 'path',
          issuedAtMs,
          source: 'oracle',
          path: link.from(traceSecondsAt(nowSeconds)),
          handovers: [],
        };
      }
      return newest;
    },
  };
}
