/**
 * The oracle in a page: fetches the link before the session starts and anchors it at the origin's clock. It knows
 * capacity x payload share and the RTT, not what the browser itself takes.
 */

import { type Forecaster, PiecewisePath } from '../../abr/index.ts';
import type { PublishedLink } from '../origin/published-link.ts';
import { oracleForecaster } from './oracle-forecaster.ts';

export interface BrowserOracle {
  forecaster: Forecaster;
  /**
   * The origin had a media request at `traceSeconds` (its response says so) that left the page at `nowSeconds` of the
   * session's clock. The first call counts. Until then the session's second 0 is taken for the trace's start second.
   */
  anchor(traceSeconds: number, nowSeconds: number): void;
  /** Trace seconds minus session seconds, as they are taken now. */
  readonly offsetSeconds: number;
}

export function browserOracle(link: PublishedLink): BrowserOracle {
  const { stepEndsSeconds, ratesBps, rttSeconds, startSeconds } = link;
  const path = new PiecewisePath({ stepEndsSeconds, ratesBps, tail: 'repeat', latencySeconds: rttSeconds });
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
