/** The oracle: the replayed link's true future as a forecast. For replays only, never in the plugin. */

import type { Forecast, Forecaster, PiecewisePath } from '../../abr/index.ts';

/** Finest where the next download is. */
const STEP_ENDS_SECONDS = [0.5, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 60];

/** Publishes the link from now on, as one path or (MPC-L) as quantiles without spread. */
export function oracleForecaster(options: {
  link: PiecewisePath;
  traceSecondsAt(nowSeconds: number): number;
  as?: 'path' | 'quantiles';
}): Forecaster {
  const { link, traceSecondsAt, as = 'path' } = options;
  let newest: Forecast | undefined;
  return {
    name: 'oracle',
    start() {
      newest = undefined;
    },
    observe() {},
    latest(nowSeconds) {
      const issuedAtMs = nowSeconds * 1000;
      if (newest?.issuedAtMs !== issuedAtMs) {
        const path = link.from(traceSecondsAt(nowSeconds));
        const common = { issuedAtMs, source: 'oracle', handovers: [] };
        newest = as === 'path' ? { ...common, kind: 'path', path } : { ...common, ...quantilesOf(path) };
      }
      return newest;
    },
  };
}

function quantilesOf(path: PiecewisePath) {
  const meanBps = STEP_ENDS_SECONDS.map((end, step) => {
    const from = STEP_ENDS_SECONDS[step - 1] ?? 0;
    return Math.max(1, (path.cumulativeBits(end) - path.cumulativeBits(from)) / (end - from));
  });
  return {
    stepEndsSeconds: STEP_ENDS_SECONDS,
    levels: [0.5],
    quantilesBps: meanBps.map((bps) => [bps]),
    rankCorrelation: 0.9,
  };
}
