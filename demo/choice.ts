/** What the viewer chose, and the address that says so: opening the address again gives the same view. */

import { resolveMpcLOptions } from '../abr/mpc-l/options.ts';
import { SCENARIOS } from '../replay/scenarios.ts';
import { competitors, DEFAULT_PLAYERS, isCompetitor } from './competitors.ts';
import { parseServiceAddress } from './service-address.ts';

/** More would wait for one another: browsers open six connections to an origin. */
export const MAX_PLAYERS = 4;

export type TimelineWindow = 'session' | 'minute';

export interface Choice {
  /** Algorithms by name, one per player. */
  players: readonly string[];
  trace: string;
  scenario: string;
  /** Second of the trace at which the session begins. */
  startSeconds: number;
  window: TimelineWindow;
  /** How much MPC-L fears a stall beyond its cost in QoE, 0 to 1. */
  risk: number;
  /** Address of the prediction service that MPC-L asks first; empty for none. */
  service: string;
}

/** What can be chosen of what the origin has. */
export interface Catalogue {
  traces: readonly { name: string; durationSeconds: number }[];
}

/** A link on which the algorithms differ. */
const DEFAULT_TRACE = 'stationary-crowded';
const DEFAULT_SCENARIO = 'hd-16';
/** The controller's own. */
export const DEFAULT_RISK = resolveMpcLOptions({}).risk;

/** The choice when the address says nothing. */
export function defaultChoice({ traces }: Catalogue): Choice {
  const trace = traces.find(({ name }) => name === DEFAULT_TRACE) ?? traces[0];
  return {
    players: DEFAULT_PLAYERS,
    trace: trace?.name ?? '',
    scenario: DEFAULT_SCENARIO,
    startSeconds: 0,
    window: 'session',
    risk: DEFAULT_RISK,
    service: '',
  };
}

/** The choice in a query string; what it does not say is the default, what makes no sense too, with a word on it. */
export function parseChoice(query: string, catalogue: Catalogue): { choice: Choice; problems: string[] } {
  const parameters = new URLSearchParams(query);
  const choice = { ...defaultChoice(catalogue) };
  const problems: string[] = [];
  const reject = (field: string, got: string, expected: string) => {
    problems.push(`The address asks for ${field} “${got}”; there is ${expected}.`);
  };

  const players = parameters.get('players')?.split(',').filter(Boolean);
  if (players !== undefined) {
    const known = players.filter((name) => isCompetitor(name));
    for (const name of players) {
      if (!known.includes(name))
        reject(
          'player',
          name,
          competitors()
            .map((one) => one.name)
            .join(', '),
        );
    }
    if (known.length > MAX_PLAYERS) problems.push(`The address asks for ${known.length} players; ${MAX_PLAYERS} fit.`);
    if (known.length > 0) choice.players = known.slice(0, MAX_PLAYERS);
  }

  const trace = parameters.get('trace');
  if (trace !== null) {
    if (catalogue.traces.some(({ name }) => name === trace)) {
      choice.trace = trace;
      choice.startSeconds = 0;
    } else reject('trace', trace, catalogue.traces.map(({ name }) => name).join(', '));
  }

  const scenario = parameters.get('scenario');
  if (scenario !== null) {
    if (Object.hasOwn(SCENARIOS, scenario)) choice.scenario = scenario;
    else reject('scenario', scenario, Object.keys(SCENARIOS).join(', '));
  }

  const start = parameters.get('start');
  if (start !== null) {
    const latest = latestStart(catalogue, choice.trace);
    const value = Number(start);
    if (start !== '' && value >= 0 && value <= latest) choice.startSeconds = value;
    else reject('start', start, `0 to ${latest} s`);
  }

  const window = parameters.get('window');
  if (window === 'session' || window === 'minute') choice.window = window;
  else if (window !== null) reject('window', window, 'session, minute');

  const risk = parameters.get('risk');
  if (risk !== null) {
    const value = Number(risk);
    if (risk !== '' && value >= 0 && value <= 1) choice.risk = value;
    else reject('risk', risk, '0 to 1');
  }

  try {
    choice.service = parseServiceAddress(parameters.get('service') ?? '');
  } catch (error) {
    problems.push(`The address asks for a service: ${(error as Error).message}.`);
  }
  return { choice, problems };
}

/** The choice as a query string, with its question mark. */
export function formatChoice({ players, trace, scenario, startSeconds, window, risk, service }: Choice): string {
  const parameters = new URLSearchParams({
    trace,
    scenario,
    start: String(startSeconds),
    window,
    risk: String(risk),
    ...(service !== '' && { service }),
  });
  // Commas, colons and slashes need no escape in a query, and what they are part of stays readable.
  const names = players.map((name) => encodeURIComponent(name).replaceAll('%40', '@'));
  return `?players=${names.join(',')}&${parameters}`.replaceAll('%3A', ':').replaceAll('%2F', '/');
}

/** The last whole second of a trace. */
export function latestStart({ traces }: Catalogue, trace: string): number {
  const found = traces.find(({ name }) => name === trace);
  return found === undefined ? 0 : Math.max(0, Math.ceil(found.durationSeconds) - 1);
}
