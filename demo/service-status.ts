/** The status of the prediction service as text. Pure. */

import type { ServiceForecasterState } from 'leo-abr/service';
import { needsTls } from '../predictor/service-client/needs-tls.ts';
import { isNamed } from './service-address.ts';
import type { ServiceAnswer, ServiceFailure, ServiceProbe } from './service-probe.ts';

/** A player that uses forecasts of the service. */
export interface ServedPlayer {
  state: Pick<ServiceForecasterState, 'connection' | 'verdict' | 'ageSeconds' | 'share'>;
  /** Its latest decision used a forecast of the service. */
  isUsed: boolean;
  /** What is wrong with the newest forecast; undefined if it is valid. */
  fault: string | undefined;
}

export interface ServiceSituation {
  /** Empty for none. */
  address: string;
  pageUrl: string;
  /** The latest probe; undefined before the first. */
  probe: ServiceProbe | undefined;
  /** The latest answer; undefined if there was none. */
  lastAnswer: ServiceAnswer | undefined;
  /** The service was lost and came back. */
  isBack: boolean;
  /** The players that play now. */
  players: readonly ServedPlayer[];
  /** Some player uses forecasts of the service, playing or not. */
  hasUser: boolean;
}

export interface ServiceStatus {
  kind: 'off' | 'connecting' | 'connected' | 'stale' | 'distrusted' | 'refused' | 'lost';
  /** A few words; screen readers announce a change. */
  label: string;
  /** Changes all the time; not announced. */
  details: string;
}

/** The client (`leo-abr/service`) uses no older forecast. */
const STALE_SECONDS = 5;

const DISH_STATES: Readonly<Record<string, string>> = {
  unused: 'no dish',
  connecting: 'looking for the dish',
  outage: 'dish in an outage',
};

export function serviceStatus(situation: ServiceSituation): ServiceStatus {
  const { address, pageUrl, probe, lastAnswer, players } = situation;
  if (address === '') return { kind: 'off', label: 'None', details: 'MPC-L uses its own forecasts.' };
  if (needsTls(address, pageUrl)) {
    const details =
      'Browsers forbid a page from https to send http requests to other machines: serve it with TLS ' +
      '(leo-abr serve --tls-cert, --tls-key), or run the service on this machine.';
    return { kind: 'refused', label: 'Refused by the browser', details };
  }
  if (probe === undefined) return { kind: 'connecting', label: 'Connecting', details: `Asking ${address} …` };
  if (probe.isThere) return ofAnswer(probe, situation);
  // One probe may fail while forecasts arrive.
  if (lastAnswer !== undefined && probe.why === 'silent' && players.some(isServed)) {
    return ofAnswer(lastAnswer, situation);
  }
  return ofFailure(probe, situation);
}

function ofAnswer({ dish }: ServiceAnswer, { players, hasUser, isBack }: ServiceSituation): ServiceStatus {
  const seen = dishText(dish);
  const say = (kind: ServiceStatus['kind'], label: string, ...parts: string[]) => {
    return { kind, label, details: parts.join(' · ') };
  };
  const fault = players.find((player) => player.fault !== undefined)?.fault;
  if (fault !== undefined) return say('distrusted', 'Wrong forecasts', `MPC-L uses its own: ${fault}`, seen);
  if (players.some(({ state }) => state.verdict === 'distrusted')) {
    return say('distrusted', 'Not believed', 'its forecasts did not come true, so MPC-L uses its own', seen);
  }
  const ages = players.flatMap(({ state: { ageSeconds } }) => (ageSeconds === undefined ? [] : [ageSeconds]));
  const age = Math.max(0, ...ages);
  const connected = (...parts: string[]) => say('connected', isBack ? 'Connected again' : 'Connected', ...parts);
  if (players.length === 0) {
    return hasUser ? connected(seen) : connected(seen, 'no player uses its forecasts; MPC-L would');
  }
  if (ages.length === 0) return connected(seen, 'no forecast yet');
  if (age >= STALE_SECONDS) {
    return say('stale', 'Stale', `newest forecast ${age.toFixed(0)} s old, so MPC-L uses its own`, seen);
  }
  // The client passes a forecast on only if it may be better than the player's own.
  if (players.some(({ state }) => state.verdict === 'not-yet')) {
    return connected('not used yet: it knows too little of the link, so MPC-L uses its own', seen);
  }
  if (players.some(({ state }) => state.share < 1)) {
    return connected('not used while several players report to it, so MPC-L uses its own', seen);
  }
  const used = players.every(({ isUsed }) => isUsed) ? 'MPC-L uses it' : 'MPC-L uses its own now';
  return connected(seen, `forecast ${age.toFixed(0)} s old`, used);
}

function ofFailure({ why, detail }: ServiceFailure, { address, pageUrl, lastAnswer }: ServiceSituation): ServiceStatus {
  const goesOn = 'MPC-L uses its own forecasts, and the page keeps trying.';
  const refused = (label: string, details: string): ServiceStatus => ({ kind: 'refused', label, details });
  switch (why) {
    case 'silent':
      return lastAnswer === undefined
        ? refused('Unreachable', `Nothing answers at ${address}; start it with npx leo-abr-tools serve. ${goesOn}`)
        : { kind: 'lost', label: 'Lost', details: `${address} no longer answers. ${goesOn}` };
    case 'closed': {
      const { origin } = new URL(pageUrl);
      const host = isNamed(address) ? ` --allow-host ${new URL(address).hostname}` : '';
      return refused(
        'Refused',
        `${address} does not allow pages of ${origin}. Start it with leo-abr serve --allow-origin ${origin}${host}.`,
      );
    }
    case 'token':
      return refused('Refused', `${address} requires a token, and this page cannot send one.`);
    case 'stranger':
      return refused('Not a prediction service', `${address} is no prediction service (${detail}).`);
    case 'failing':
      return refused('Failing', `${address} answers with ${detail}. ${goesOn}`);
  }
}

function isServed({ state: { connection, ageSeconds } }: ServedPlayer): boolean {
  return connection === 'streaming' && ageSeconds !== undefined && ageSeconds < STALE_SECONDS;
}

function dishText({ state, latencyMs, detail }: ServiceAnswer['dish']): string {
  const text = DISH_STATES[state] ?? `dish ${state}`;
  const more = detail ?? (latencyMs === undefined ? undefined : `${latencyMs.toFixed(0)} ms`);
  return more === undefined ? text : `${text} (${more})`;
}
