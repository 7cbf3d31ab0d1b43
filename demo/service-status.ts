/** How it stands with the prediction service, in words. Pure. */

import type { ServiceForecasterState } from 'leo-abr/service';
import { isNamed, needsTls } from './service-address.ts';
import type { ServiceAnswer, ServiceFailure, ServiceProbe } from './service-probe.ts';

/** A player that takes forecasts of the service. */
export interface ServedPlayer {
  state: Pick<ServiceForecasterState, 'connection' | 'distrusted' | 'ageSeconds'>;
  /** Its latest decision went by a forecast of the service. */
  isUsed: boolean;
  /** What is wrong with the newest forecast; undefined where nothing is. */
  fault: string | undefined;
}

export interface ServiceSituation {
  /** Empty: none was chosen. */
  address: string;
  /** Of this page. */
  pageUrl: string;
  /** What the service answered last; undefined before it was asked. */
  probe: ServiceProbe | undefined;
  /** What it answered when it was there last; undefined where it never was. */
  lastAnswer: ServiceAnswer | undefined;
  /** It was away, and came back. */
  isBack: boolean;
  /** Those that play at the moment. */
  players: readonly ServedPlayer[];
  /** There is a player that takes forecasts, playing or not. */
  hasTaker: boolean;
}

export interface ServiceStatus {
  kind: 'off' | 'connecting' | 'connected' | 'stale' | 'distrusted' | 'refused' | 'lost';
  /** One or two words; another one is news. */
  label: string;
  /** Goes on with what changes all the time. */
  details: string;
}

/** The client (`leo-abr/service`) uses none that is older. */
const STALE_SECONDS = 5;

const DISH_STATES: Readonly<Record<string, string>> = {
  unused: 'no dish',
  connecting: 'looking for the dish',
  outage: 'dish in an outage',
};

export function serviceStatus(situation: ServiceSituation): ServiceStatus {
  const { address, pageUrl, probe, lastAnswer, players } = situation;
  if (address === '') return { kind: 'off', label: 'None', details: 'MPC-L goes by its own forecasts.' };
  if (needsTls(address, pageUrl)) {
    const details =
      'This page came over https, and browsers then keep it from asking for http in the network: the service needs ' +
      'TLS (leo-abr serve --tls-cert, --tls-key), or has to be on this machine.';
    return { kind: 'refused', label: 'Refused by the browser', details };
  }
  if (probe === undefined) return { kind: 'connecting', label: 'Connecting', details: `Asking ${address} …` };
  if (probe.isThere) return ofAnswer(probe, situation);
  // One question may get lost while forecasts come.
  if (lastAnswer !== undefined && probe.why === 'silent' && players.some(isServed)) {
    return ofAnswer(lastAnswer, situation);
  }
  return ofFailure(probe, situation);
}

function ofAnswer({ dish }: ServiceAnswer, { players, hasTaker, isBack }: ServiceSituation): ServiceStatus {
  const seen = dishText(dish);
  const say = (kind: ServiceStatus['kind'], label: string, ...parts: string[]): ServiceStatus => ({
    kind,
    label,
    details: parts.join(' · '),
  });
  const fault = players.find((player) => player.fault !== undefined)?.fault;
  if (fault !== undefined) return say('distrusted', 'Wrong forecasts', `MPC-L goes by its own: ${fault}`, seen);
  if (players.some(({ state }) => state.distrusted)) {
    return say('distrusted', 'Not believed', 'its forecasts did not come true, so MPC-L goes by its own', seen);
  }
  const ages = players.flatMap(({ state: { ageSeconds } }) => (ageSeconds === undefined ? [] : [ageSeconds]));
  const age = Math.max(0, ...ages);
  const connected = (...parts: string[]) => say('connected', isBack ? 'Connected again' : 'Connected', ...parts);
  if (players.length === 0) {
    return hasTaker ? connected(seen) : connected(seen, 'none of the players takes forecasts of it; MPC-L would');
  }
  if (ages.length === 0) return connected(seen, 'no forecast yet');
  if (age >= STALE_SECONDS) {
    return say('stale', 'Stale', `newest forecast ${age.toFixed(0)} s old, so MPC-L goes by its own`, seen);
  }
  // The client lets a forecast through only where it may know better.
  const used = players.every(({ isUsed }) => isUsed) ? 'MPC-L goes by it' : 'MPC-L goes by its own at the moment';
  return connected(seen, `forecast ${age.toFixed(0)} s old`, used);
}

function ofFailure({ why, detail }: ServiceFailure, { address, pageUrl, lastAnswer }: ServiceSituation): ServiceStatus {
  const goesOn = 'MPC-L goes by its own forecasts, and the service is asked again and again.';
  const refused = (label: string, details: string): ServiceStatus => ({ kind: 'refused', label, details });
  switch (why) {
    case 'silent':
      return lastAnswer === undefined
        ? refused('Unreachable', `Nothing answers at ${address} (leo-abr serve). ${goesOn}`)
        : { kind: 'lost', label: 'Lost', details: `${address} no longer answers. ${goesOn}` };
    case 'closed': {
      const { origin } = new URL(pageUrl);
      const host = isNamed(address) ? `, and under this name with --allow-host ${new URL(address).hostname}` : '';
      return refused(
        'Refused',
        `${address} does not let pages of ${origin} ask: leo-abr serve --allow-origin ${origin} would${host}.`,
      );
    }
    case 'token':
      return refused('Refused', `${address} wants a token, and this page has none to give.`);
    case 'stranger':
      return refused('Not a prediction service', `What answers at ${address} is none (${detail}).`);
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
