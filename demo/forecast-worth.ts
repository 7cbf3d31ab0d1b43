/** How often the link did what the forecasts said. Pure. */

import type { PiecewisePath } from '../abr/capacity-path.ts';
import type { DecisionNote } from './session-record.ts';
import { forecastFan } from './timeline-model.ts';

/**
 * Of the first steps of all decisions' forecasts that are over, how many had the link's mean capacity within their
 * quantiles at 10 and 90 %. `link`: from the session's second 0.
 */
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
