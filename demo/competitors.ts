/** The algorithms that a player of the page can be given: every one that the benchmark knows for browsers. */

import { BROWSER_ALGORITHMS, browserAlgorithm } from '../replay/browser/algorithms.ts';
import {
  type CreateController,
  importOwnAlgorithms,
  isOwnAlgorithm,
  type OwnAlgorithm,
} from '../replay/own-algorithm.ts';

export interface Competitor {
  /** As on the command line and in the address bar. */
  name: string;
  title: string;
  /** One sentence on what it goes by. */
  about: string;
}

const KNOWN: Readonly<Record<string, Omit<Competitor, 'name'>>> = {
  'mpc-d': { title: 'MPC-D', about: 'RobustMPC: plans five segments ahead on a discounted mean of past throughput.' },
  'mpc-d:abandon': { title: 'MPC-D, abandoning', about: 'MPC-D that gives up a download before it stalls playback.' },
  'mpc-d:cap': { title: 'MPC-D, buffer cap', about: 'MPC-D whose plan knows how full the buffer can get.' },
  'mpc-l': {
    title: 'MPC-L',
    about: 'Plans on a distribution of futures, with the handovers and abandonment in the plan.',
  },
  'mpc-l:no-handover': { title: 'MPC-L, no handovers', about: 'MPC-L that knows nothing of the 15 s.' },
  'mpc-l:no-abandon': { title: 'MPC-L, not abandoning', about: 'MPC-L that sees every download through.' },
  'mpc-l:no-forecast': { title: 'MPC-L, no forecast', about: 'MPC-L on the spread of past throughput alone.' },
  'mpc-l:no-startup': { title: 'MPC-L, plain start', about: 'MPC-L that begins as MPC-D does.' },
  'mpc-o': {
    title: 'MPC-O',
    about: 'The oracle: plans on the true future of the link, which nobody has outside a replay.',
  },
  throughput: { title: 'Throughput', about: 'The highest bitrate below the recent throughput.' },
  bola: { title: 'BOLA', about: 'Goes by the buffer level alone.' },
  dynamic: {
    title: 'dash.js Dynamic',
    about: "dash.js's own default, without the plugin: throughput and BOLA by turns.",
  },
};

/** Those of the user's own, by path. */
const OWN = new Map<string, CreateController>();

/** Takes in algorithms of the user's own. Throws an `InputError` for a file that cannot be one. */
export async function addOwnAlgorithms(algorithms: readonly OwnAlgorithm[]): Promise<void> {
  for (const [name, create] of await importOwnAlgorithms(algorithms)) OWN.set(name, create);
}

/** What makes controllers of a file; undefined for any other name. */
export function ownAlgorithm(controller: string): CreateController | undefined {
  return OWN.get(controller);
}

/** All that there are, the user's own last. */
export function competitors(): readonly Competitor[] {
  return [...COMPETITORS, ...[...OWN.keys()].map(competitor)];
}

/** All that the page brings along; those it has words for first, in its order. */
export const COMPETITORS: readonly Competitor[] = [
  ...Object.keys(KNOWN).filter((name) => BROWSER_ALGORITHMS.includes(name)),
  // Points of the trade-off curve are for the benchmark.
  ...BROWSER_ALGORITHMS.filter((name) => !Object.hasOwn(KNOWN, name) && !name.startsWith('mpc-l:risk-')),
].map(competitor);

/** Who races when the address bar says nothing. */
export const DEFAULT_PLAYERS: readonly string[] = ['mpc-d', 'mpc-l', 'mpc-o'].filter((name) =>
  BROWSER_ALGORITHMS.includes(name),
);

/** Any name that can play, `<controller>@<forecaster>` among them. */
export function isCompetitor(name: string): boolean {
  try {
    const { controller = '' } = browserAlgorithm(name);
    return !isOwnAlgorithm(controller) || OWN.has(controller);
  } catch {
    return false;
  }
}

export function competitor(name: string): Competitor {
  if (isOwnAlgorithm(name)) return { name, title: name, about: 'Your own: edit the file and reload the page.' };
  const [controller, forecaster] = name.split('@');
  const known = Object.hasOwn(KNOWN, controller!) ? KNOWN[controller!] : undefined;
  const title = known?.title ?? controller!;
  return { name, title: forecaster === undefined ? title : `${title} @ ${forecaster}`, about: known?.about ?? '' };
}
