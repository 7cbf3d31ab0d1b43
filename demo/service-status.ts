/** What MPC-L does with the prediction service on the replayed link, as text. Pure. */

import type { ServiceForecasterState } from 'leo-abr/service';

export interface ServiceSituation {
  isChosen: boolean;
  /** Some player uses forecasts of a service, playing or not. */
  hasUser: boolean;
  /** The clients of the players that play now. */
  clients: readonly { state: ServiceForecasterState }[];
  /** Why the service could not be started. */
  failure: string | undefined;
}

export interface ServiceStatus {
  /** A few words; screen readers announce a change. */
  label: string;
  /** Changes all the time; not announced. */
  details: string;
}

const OWN = 'MPC-L uses its own forecasts';

export function serviceStatus({ isChosen, hasUser, clients, failure }: ServiceSituation): ServiceStatus {
  const states = clients.map(({ state }) => state);
  const lost = states.find(({ connection }) => connection === 'waiting' || connection === 'refused');
  const has = (...verdicts: ServiceForecasterState['verdict'][]) =>
    states.some(({ verdict }) => verdicts.includes(verdict));
  const status = (label: string, details: string): ServiceStatus => {
    const which = isChosen ? ' (it runs on this server, beside a simulated dish on the replayed link)' : '';
    return { label, details: `${details}${which}.` };
  };
  if (!isChosen) return status('None', OWN);
  if (failure !== undefined) return status('Not started', `${OWN}: ${failure}`);
  if (!hasUser) return status('Not asked', 'only MPC-L uses a service, and no player is MPC-L');
  if (states.length === 0) return status('Not asked', 'no player plays');
  if (lost !== undefined) {
    return status('No answer', `${OWN}: ${lost.detail ?? 'the connection failed'}`);
  }
  if (has('contradicted', 'distrusted')) {
    return status('Not believed', `${OWN}: the service's forecasts did not come true`);
  }
  if (states.some(({ share }) => share < 1)) {
    const why = 'several players report to the service, which forecasts the whole link';
    return status('Not used', `${OWN}: ${why}`);
  }
  const ages = states.flatMap(({ ageSeconds }) => (ageSeconds === undefined ? [] : [ageSeconds]));
  if (ages.length === 0 || has('not-yet')) {
    return status('Not yet', `${OWN} until the service knows this link and agrees with what MPC-L measures`);
  }
  const age = `${Math.max(0, ...ages).toFixed(0)} s old`;
  return status('Used', `MPC-L plans with its forecasts, the newest ${age}, while its own know no more`);
}
