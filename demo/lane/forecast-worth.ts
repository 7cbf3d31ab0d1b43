/** How often the link did what the forecasts said. Pure. */

import type { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import type { DecisionNote } from '../run/session-record.ts';
import { forecastFan } from '../run/timeline-model.ts';

/** How many first steps that are over had the link's mean within their quantiles at 10 and 90 %. */
export function fanWorth(
  decisions: readonly Pick<DecisionNote, 'forecast'>[],
  link: Pick<PiecewisePath, 'cumulativeBits'>,
  nowSeconds: number,
): { outcomes: number; inside: number } {
  const forecasts = new Set(decisions.map(({ forecast }) => forecast));
  let [outcomes, inside] = [0, 0];
  for (const forecast of forecasts) {
    const [first] = forecastFan(forecast);
    if (first === undefined || first.toSeconds > nowSeconds || first.fromSeconds < 0) continue;
    const { fromSeconds, toSeconds, lowBps, highBps } = first;
    const bps = (link.cumulativeBits(toSeconds) - link.cumulativeBits(fromSeconds)) / (toSeconds - fromSeconds);
    outcomes++;
    if (bps >= lowBps && bps <= highBps) inside++;
  }
  return { outcomes, inside };
}
