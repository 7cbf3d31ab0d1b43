/** What a player can be given: every browser algorithm of the benchmark, in its players, and the user's own. */

import { BROWSER_ALGORITHMS, browserAlgorithm, nameInPlayer } from '../replay/browser/algorithms.ts';
import { type PlayerName, splitPlayer } from '../replay/forecasters.ts';
import {
  type CreateController,
  importOwnAlgorithms,
  isOwnAlgorithm,
  type OwnAlgorithm,
} from '../replay/own-algorithm.ts';

export interface Competitor {
  /** As on the command line and in the page's address, with the player where it is not dash.js. */
  name: string;
  /** With the player where it is not dash.js. */
  title: string;
  /** How it decides, in one sentence. */
  about: string;
}

const KNOWN: Readonly<Record<string, Omit<Competitor, 'name'>>> = {
  'mpc-d': { title: 'MPC-D', about: 'RobustMPC: plans five segments ahead on a discounted mean of past throughput.' },
  'mpc-d:abandon': { title: 'MPC-D, abandoning', about: 'MPC-D that abandons a download before it stalls playback.' },
  'mpc-d:cap': { title: 'MPC-D, buffer cap', about: 'MPC-D that models the buffer cap in its plan.' },
  'mpc-d:textbook': {
    title: 'MPC-D, textbook',
    about: 'MPC-D whose live plan waits for whole segments; the same as MPC-D on demand.',
  },
  'mpc-l': {
    title: 'MPC-L',
    about: 'Plans on a distribution of throughput futures, with handovers and abandonment in the plan.',
  },
  'mpc-l:no-rate': { title: 'MPC-L, no pace', about: "MPC-L that leaves the playback rate to the player's catch-up." },
  'mpc-l:auto-target': { title: 'MPC-L, free target', about: 'MPC-L that chooses the live latency itself.' },
  'mpc-l:no-handover': { title: 'MPC-L, no handovers', about: 'MPC-L without the 15 s handover clock.' },
  'mpc-l:no-abandon': { title: 'MPC-L, not abandoning', about: 'MPC-L that finishes every download.' },
  'mpc-l:no-forecast': { title: 'MPC-L, no forecast', about: 'MPC-L on the spread of past throughput alone.' },
  'mpc-l:no-startup': { title: 'MPC-L, plain start', about: 'MPC-L with the startup rule of MPC-D.' },
  'mpc-o': {
    title: 'MPC-O',
    about: 'The oracle: plans on the true future of the link, which only a replay knows.',
  },
  throughput: { title: 'Throughput', about: 'The highest bitrate below the recent throughput.' },
  bola: { title: 'BOLA', about: 'Decides by the buffer level alone.' },
  dynamic: {
    title: 'dash.js Dynamic',
    about: "dash.js's default without the plugin: switches between throughput and BOLA.",
  },
  l2a: { title: 'dash.js L2A', about: "dash.js's Learn2Adapt: an online learner for low latency." },
  lolp: { title: 'dash.js LoL+', about: "dash.js's LoL+ for low latency, with a catch-up of its own." },
  hls: {
    title: 'hls.js’s own',
    about: "hls.js's default without the plugin: the bitrate below its estimate of throughput.",
  },
  shaka: {
    title: 'Shaka’s own',
    about: "Shaka's default without the plugin: the bitrate below its estimate of throughput.",
  },
};

export const PLAYER_TITLES: Readonly<Record<PlayerName, string>> = { dash: 'dash.js', hls: 'hls.js', shaka: 'Shaka' };

/** The player's own ABR: its default. */
const OWN_ABR: Readonly<Record<PlayerName, string>> = { dash: 'dynamic', hls: 'hls', shaka: 'shaka' };

/** The user's own algorithms, by path. */
const OWN = new Map<string, CreateController>();

/** Adds the user's own algorithms. Throws an `InputError` for a file that exports none. */
export async function addOwnAlgorithms(algorithms: readonly OwnAlgorithm[]): Promise<void> {
  for (const [name, create] of await importOwnAlgorithms(algorithms)) OWN.set(name, create);
}

/** The factory of the user's own controller; undefined for any other name. */
export function ownAlgorithm(controller: string): CreateController | undefined {
  return OWN.get(controller);
}

/** All algorithms of a player, the user's own last. */
export function competitors(player: PlayerName): readonly Competitor[] {
  const names = [...COMPETITORS.map(({ name }) => name), ...Object.values(OWN_ABR), ...OWN.keys()];
  const inPlayer = [...new Set(names)].map((name) => nameInPlayer(name, player));
  return inPlayer.filter(isCompetitor).map(competitor);
}

/** The algorithm of a lane that changes its player: the same, or else the player's own ABR. */
export function inOtherPlayer(name: string, player: PlayerName): string {
  const same = nameInPlayer(splitPlayer(name).name, player);
  return isCompetitor(same) ? same : nameInPlayer(OWN_ABR[player], player);
}

export function playerOf(name: string): PlayerName {
  return splitPlayer(name).player ?? 'dash';
}

/** The algorithms in dash.js: first those described in KNOWN, in its order. */
const COMPETITORS: readonly Competitor[] = [
  ...Object.keys(KNOWN).filter((name) => BROWSER_ALGORITHMS.includes(name)),
  // The points of the trade-off curve are for the benchmark only.
  ...BROWSER_ALGORITHMS.filter((name) => !Object.hasOwn(KNOWN, name) && !name.startsWith('mpc-l:risk-')),
].map(competitor);

/** The players for an address that names none. */
export const DEFAULT_PLAYERS: readonly string[] = ['mpc-d', 'mpc-l', 'mpc-o'].filter((name) =>
  BROWSER_ALGORITHMS.includes(name),
);

/** Whether a name can play; `<controller>@<forecaster>@<player>` can. */
export function isCompetitor(name: string): boolean {
  try {
    const { controller = '', catchUp } = browserAlgorithm(name);
    // Only the benchmark's page slows down in slots.
    if (catchUp?.fixedSlots) return false;
    return !isOwnAlgorithm(controller) || OWN.has(controller);
  } catch {
    return false;
  }
}

export function competitor(name: string): Competitor {
  const { name: algorithm, player = 'dash' } = splitPlayer(name);
  // A player's own ABR names it already.
  const where = player === 'dash' || algorithm === player ? '' : ` in ${PLAYER_TITLES[player]}`;
  if (isOwnAlgorithm(algorithm)) {
    return { name, title: algorithm + where, about: 'Your own: edit the file, then reload the page.' };
  }
  const [controller, forecaster] = algorithm.split('@');
  const known = Object.hasOwn(KNOWN, controller!) ? KNOWN[controller!] : undefined;
  const title = known?.title ?? controller!;
  const titleWithForecaster = forecaster === undefined ? title : `${title} @ ${forecaster}`;
  return { name, title: titleWithForecaster + where, about: known?.about ?? '' };
}
