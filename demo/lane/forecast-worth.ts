/** The forecasts of a lane, and how often the link did what they said. Pure. */

import type { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import { megabits, seconds } from '../format.ts';
import type { DecisionNote, SessionRecord } from '../run/session-record.ts';
import { forecastFan } from '../run/timeline-model.ts';

/** What the newest decision used, and how the outcomes so far compare with the fans. `link`: from the session's second 0. */
export function forecastWorth({ decisions, nowSeconds }: SessionRecord, link: PiecewisePath): string {
  const { forecast, forecastAgeSeconds = 0 } = decisions.at(-1) ?? {};
  const [next] = forecastFan(forecast);
  if (next === undefined) return '';
  const { inside, outcomes } = fanWorth(decisions, link, nowSeconds);
  const ahead = `${seconds(next.toSeconds - next.fromSeconds)} ${megabits(next.lowBps)} to ${megabits(next.highBps)} Mbit/s`;
  const worth = outcomes === 0 ? '' : ` ${inside} of ${outcomes} outcomes inside such spans (80 % expected).`;
  return `Forecasts: ${forecast!.source}, ${seconds(forecastAgeSeconds)} old: next ${ahead}.${worth}`;
}

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
