/** The oracle in a page: the published link on the origin's clock. The oracle does not know the browser's delays. */

import { PiecewisePath } from '../../abr/index.ts';
import type { Algorithm } from '../algorithms.ts';
import type { PublishedLink } from '../origin/published-link.ts';
import { oracleForecaster } from './oracle-forecaster.ts';

export type BrowserOracle = ReturnType<typeof browserOracle>;

export function browserOracle(link: PublishedLink, as: Algorithm['oracleForm']) {
  const { stepEndsSeconds, ratesBps, rttSeconds, startSeconds } = link;
  const path = new PiecewisePath({ stepEndsSeconds, ratesBps, latencySeconds: rttSeconds });
  let offsetSeconds = startSeconds;
  let anchored = false;
  return {
    forecaster: oracleForecaster({
      link: path,
      traceSecondsAt: (nowSeconds) => offsetSeconds + nowSeconds,
      as,
    }),
    /** A request of `nowSeconds` reached the origin at `traceSeconds`. The first call counts. */
    anchor(traceSeconds: number, nowSeconds: number) {
      if (anchored) return;
      anchored = true;
      offsetSeconds = traceSeconds - nowSeconds;
    },
    /** Trace time minus session time. */
    get offsetSeconds() {
      return offsetSeconds;
    },
  };
}
