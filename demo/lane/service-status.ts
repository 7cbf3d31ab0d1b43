/** What MPC-L does with the prediction service on the replayed link, as text. Pure. */

import type { ServiceForecasterState } from 'leo-abr/service';

export function serviceStatus(state: ServiceForecasterState | undefined, failure?: string): string {
  if (state === undefined) return failure === undefined ? '' : `Not started: ${failure}.`;
  const { connection, detail, verdict, share, ageSeconds } = state;
  if (connection === 'waiting' || connection === 'refused') return `No answer: ${detail ?? 'the connection failed'}.`;
  if (verdict === 'contradicted' || verdict === 'distrusted') return 'Not believed: its forecasts did not come true.';
  if (share < 1) return 'Not used: several players report to the service, which forecasts the whole link.';
  if (ageSeconds === undefined || verdict === 'not-yet') {
    return 'Not used until the service knows this link and agrees with what MPC-L measures.';
  }
  return `Used, the newest ${ageSeconds.toFixed(0)} s old, while its own know no more.`;
}
