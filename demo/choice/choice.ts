/** The viewer's choice, also as a query string: if the address is opened again, the view is the same. */

import { suggestion } from '../../abr/errors.ts';
import { nameInPlayer, PLAYERS } from '../../replay/algorithms.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { competitors, DEFAULT_PLAYERS, isCompetitor } from './competitors.ts';
import { SCENES, type Scene } from './scenes.ts';

/** Most players: browsers open six connections to an origin, and hls.js needs two for a live stream. */
export const MAX_PLAYERS = 4;

export interface DemoChoice {
  /** The algorithm of each player: `mpc-l` in dash.js, `mpc-l@hls` in hls.js. */
  players: readonly string[];
  trace: string;
  scenario: string;
  /** Second of the trace at which the session begins. */
  startSeconds: number;
  /** Whether all players are on one link. Otherwise each has its own copy. */
  isShared: boolean;
}

export interface DemoCatalogue {
  traces: readonly { name: string; durationSeconds: number }[];
}

/** On this link the algorithms differ. */
const DEFAULT_TRACE = 'stationary-crowded';
const DEFAULT_SCENARIO = 'hd-16';

export function firstChoice(catalogue: DemoCatalogue): DemoChoice {
  const scene = SCENES.find(({ trace }) => catalogue.traces.some(({ name }) => name === trace));
  return scene === undefined ? defaultChoice(catalogue) : choiceOf(scene);
}

export function defaultChoice({ traces }: DemoCatalogue): DemoChoice {
  return {
    players: DEFAULT_PLAYERS,
    trace: (traces.find(({ name }) => name === DEFAULT_TRACE) ?? traces[0])?.name ?? '',
    scenario: DEFAULT_SCENARIO,
    startSeconds: 0,
    isShared: false,
  };
}

/** Parses a query string. Missing and invalid values get defaults. `problems` has a message per invalid value. */
export function parseChoice(query: string, catalogue: DemoCatalogue): { choice: DemoChoice; problems: string[] } {
  const parameters = new URLSearchParams(query);
  if (parameters.toString() === '') return { choice: firstChoice(catalogue), problems: [] };
  const choice = defaultChoice(catalogue);
  const problems: string[] = [];
  const reject = (field: string, got: string, expected: readonly string[]) => {
    const hint = suggestion(expected, got) || '.';
    problems.push(`The page's address has ${field} “${got}”; expected ${expected.join(', ')}${hint}`);
  };

  const players = parameters.get('players')?.split(',').filter(Boolean);
  if (players !== undefined) {
    const known = players.filter(isCompetitor).map((name) => nameInPlayer(name, 'dash'));
    const expected = PLAYERS.flatMap((player) => competitors(player).map(({ name }) => name));
    for (const name of players) if (!isCompetitor(name)) reject('player', name, expected);
    if (known.length > MAX_PLAYERS)
      problems.push(`The page's address has ${known.length} players; ${MAX_PLAYERS} fit.`);
    if (known.length > 0) choice.players = known.slice(0, MAX_PLAYERS);
  }

  const oneOf = <T extends string>(field: string, names: readonly T[], otherwise: T): T => {
    const got = parameters.get(field);
    const found = names.find((name) => name === got);
    if (got !== null && found === undefined) reject(field, got, names);
    return found ?? otherwise;
  };
  const traceNames = catalogue.traces.map(({ name }) => name);
  choice.trace = oneOf('trace', traceNames, choice.trace);
  choice.scenario = oneOf('scenario', Object.keys(SCENARIOS), choice.scenario);
  choice.isShared = oneOf('link', ['own', 'shared'], 'own') === 'shared';
  const start = parameters.get('start');
  const latest = latestStart(catalogue, choice.trace);
  if (start && Number(start) >= 0 && Number(start) <= latest) choice.startSeconds = Number(start);
  else if (start !== null) reject('start', start, [`0 to ${latest} s`]);
  return { choice, problems };
}

export function formatChoice(choice: DemoChoice): string {
  const { players, trace, scenario, startSeconds, isShared } = choice;
  const shared = isShared ? { link: 'shared' } : undefined;
  const parameters = new URLSearchParams({ trace, scenario, start: String(startSeconds), ...shared });
  // A query needs no escapes for these characters. Without escapes, names stay readable.
  const names = players.map((name) => encodeURIComponent(name).replaceAll('%40', '@'));
  return `?players=${names.join(',')}&${parameters}`.replaceAll('%3A', ':').replaceAll('%2F', '/');
}

/** Returns the last whole second inside a trace; 0 for an unknown trace. */
export function latestStart({ traces }: DemoCatalogue, trace: string): number {
  const found = traces.find(({ name }) => name === trace);
  return found === undefined ? 0 : Math.max(0, Math.ceil(found.durationSeconds) - 1);
}

export function choiceOf(scene: Scene): DemoChoice {
  const { players = DEFAULT_PLAYERS, trace, scenario, startSeconds, isShared = false } = scene;
  return { players, trace, scenario, startSeconds, isShared };
}

export function sceneOf(choice: Omit<DemoChoice, 'players'>): Scene | undefined {
  return SCENES.find((scene) => {
    const { trace, scenario, startSeconds, isShared } = choiceOf(scene);
    const isSame = trace === choice.trace && scenario === choice.scenario && startSeconds === choice.startSeconds;
    return isSame && isShared === choice.isShared;
  });
}
