/** The oracle in a page: the published link, anchored at the origin's clock. It does not know the browser's delays. */

import { type Forecaster, PiecewisePath } from '../../abr/index.ts';
import type { PublishedLink } from '../origin/published-link.ts';
import { oracleForecaster } from './oracle-forecaster.ts';

export interface BrowserOracle {
  forecaster: Forecaster;
  /** A request of `nowSeconds` reached the origin at `traceSeconds`; the first call counts. */
  anchor(traceSeconds: number, nowSeconds: number): void;
  readonly offsetSeconds: number;
}

export function browserOracle(link: PublishedLink): BrowserOracle {
  const { stepEndsSeconds, ratesBps, rttSeconds, startSeconds } = link;
  const path = new PiecewisePath({ stepEndsSeconds, ratesBps, latencySeconds: rttSeconds });
  let offsetSeconds = startSeconds;
  let anchored = false;
  return {
    forecaster: oracleForecaster({ link: path, traceSecondsAt: (nowSeconds) => offsetSeconds + nowSeconds }),
    anchor(traceSeconds, nowSeconds) {
      if (anchored) return;
      anchored = true;
      offsetSeconds = traceSeconds - nowSeconds;
    },
    get offsetSeconds() {
      return offsetSeconds;
    },
  };
}
