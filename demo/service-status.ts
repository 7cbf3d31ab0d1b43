/** The prediction service that MPC-L uses, as text: which one it is, and what MPC-L does with it. Pure. */

import type { ServiceForecasterState } from 'leo-abr/service';
import { needsTls } from '../predictor/service-client/needs-tls.ts';

/** The choice of a service with a simulated dish on the replayed link, instead of an address. */
export const LINK_SERVICE = 'link';

/** A player that asks the service. */
export interface ServedPlayer {
  state: Pick<ServiceForecasterState, 'connection' | 'detail' | 'verdict' | 'ageSeconds' | 'share'>;
  /** Its latest decision used a forecast of the service. */
  isUsed: boolean;
  /** What is wrong with the newest forecast; undefined if it is valid. */
  fault: string | undefined;
}

export interface ServiceSituation {
  /** Empty for none, `LINK_SERVICE`, or an address. */
  service: string;
  pageUrl: string;
  /** The players that play now. */
  players: readonly ServedPlayer[];
  /** Some player uses forecasts of a service, playing or not. */
  hasUser: boolean;
  /** Why the service could not be started. */
  failure?: string | undefined;
}

export interface ServiceStatus {
  kind: 'off' | 'waiting' | 'used' | 'unused' | 'failed';
  /** A few words; screen readers announce a change. */
  label: string;
  /** Changes all the time; not announced. */
  details: string;
}

/** The base URL without a slash at its end; `http` if no scheme is given; empty for none. Throws if invalid. */
export function parseService(text: string): string {
  const typed = text.trim();
  if (typed === '' || typed === LINK_SERVICE) return typed;
  // `localhost:` in `localhost:8790` is no scheme.
  const address = /^[a-z][a-z\d+.-]*:(?!\d)/i.test(typed) ? typed : `http://${typed}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const extra = url && url.search + url.hash + url.username + url.password;
  if (url !== undefined && /^https?:$/.test(url.protocol) && extra === '') return url.href.replace(/\/+$/, '');
  throw new Error(`expected the address of a prediction service like http://127.0.0.1:8790, got “${typed}”`);
}

const OWN = 'MPC-L uses its own forecasts';

export function serviceStatus({ service, pageUrl, players, hasUser, failure }: ServiceSituation): ServiceStatus {
  const isOfLink = service === LINK_SERVICE;
  if (service === '') return { kind: 'off', label: 'None', details: `${OWN}.` };
  if (!isOfLink && needsTls(service, pageUrl)) {
    const details =
      'Browsers forbid a page from https to send http requests to other machines: serve it with TLS ' +
      '(leo-abr serve --tls-cert, --tls-key), or run the service on this machine.';
    return { kind: 'failed', label: 'Refused by the browser', details };
  }
  const which = isOfLink ? 'it runs on this server, beside a simulated dish on the replayed link' : service;
  const status = (kind: ServiceStatus['kind'], label: string, details: string): ServiceStatus => {
    return { kind, label, details: `${details} (${which}).` };
  };
  if (failure !== undefined) return status('failed', 'Not started', `${OWN}: ${failure}`);
  if (!hasUser) return status('off', 'Not asked', 'only MPC-L uses a service, and no player is MPC-L');
  if (players.length === 0) return status('off', 'Not asked', 'no player plays');
  const lost = players.find(({ state }) => state.connection === 'waiting' || state.connection === 'refused');
  if (lost !== undefined) {
    const { origin } = new URL(pageUrl);
    const help = isOfLink
      ? ''
      : `; it must run (npx leo-abr-tools serve) and allow this page (--allow-origin ${origin})`;
    return status('failed', 'No answer', `${OWN}: ${lost.state.detail ?? 'the connection failed'}${help}`);
  }
  const fault = players.find((player) => player.fault !== undefined)?.fault;
  if (fault !== undefined) return status('failed', 'Wrong forecasts', `${OWN}: ${fault}`);
  return ofForecasts(players, status);
}

function ofForecasts(
  players: readonly ServedPlayer[],
  status: (kind: ServiceStatus['kind'], label: string, details: string) => ServiceStatus,
): ServiceStatus {
  const has = (verdict: ServedPlayer['state']['verdict']) => players.some(({ state }) => state.verdict === verdict);
  if (has('contradicted')) {
    return status('unused', 'Another link', `${OWN}: the service's first forecast does not fit what MPC-L measures`);
  }
  if (has('distrusted')) return status('unused', 'Not believed', `${OWN}: the service's forecasts did not come true`);
  if (players.some(({ state }) => state.share < 1)) {
    const why = 'several players report to the service, which forecasts the whole link';
    return status('unused', 'Not used', `${OWN}: ${why}`);
  }
  const ages = players.flatMap(({ state: { ageSeconds } }) => (ageSeconds === undefined ? [] : [ageSeconds]));
  if (ages.length === 0) return status('waiting', 'Connecting', 'no forecast yet');
  if (has('not-yet')) {
    return status('waiting', 'Not yet', `${OWN} until the service knows this link and agrees with what MPC-L measures`);
  }
  const age = `newest forecast ${Math.max(0, ...ages).toFixed(0)} s old`;
  const isUsed = players.every((player) => player.isUsed);
  return isUsed
    ? status('used', 'Used', `MPC-L plans with its forecasts, ${age}`)
    : status('used', 'Used at times', `${OWN} now: they know more at this moment; ${age}`);
}
