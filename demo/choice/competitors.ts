/** The algorithms that a player can have: those listed here, the user's own, and others by the page's address. */

import { nameInPlayer, type PlayerName, splitPlayer } from '../../replay/algorithms.ts';
import { browserAlgorithm } from '../../replay/browser/algorithms.ts';
import {
  type CreateController,
  importOwnAlgorithms,
  isOwnAlgorithm,
  type OwnAlgorithm,
} from '../../replay/own-algorithm.ts';

/** The listed algorithms, in this order. The address can name all algorithms that the benchmark runs in browsers. */
const KNOWN: Readonly<Record<string, readonly [title: string, about: string]>> = {
  'mpc-l': ['leo-abr', 'MPC-L, the plugin’s default: forecasts the link, and plans for what viewers see.'],
  'mpc-d': ['MPC-D', 'RobustMPC: plans five segments ahead on a discounted mean of past throughput.'],
  'mpc-o': ['MPC-O', 'An oracle: plans on the true future of the link, which only a replay knows.'],
  throughput: ['Throughput', 'The highest bitrate below the recent throughput.'],
  bola: ['BOLA', 'Decides by the buffer level alone.'],
  dynamic: ['dash.js alone', 'dash.js’s default, Dynamic: switches between throughput and BOLA.'],
  l2a: ['dash.js L2A', 'dash.js’s Learn2Adapt: an online learner for low latency.'],
  lolp: ['dash.js LoL+', 'dash.js’s LoL+ for low latency, with a catch-up of its own.'],
  hls: ['hls.js alone', 'hls.js’s default: the bitrate below its estimate of throughput.'],
  shaka: ['Shaka alone', 'Shaka’s default: the bitrate below its estimate of throughput.'],
};

export const PLAYER_TITLES: Readonly<Record<PlayerName, string>> = { dash: 'dash.js', hls: 'hls.js', shaka: 'Shaka' };

/** The default algorithm of each player. */
const OWN_ABR: Readonly<Record<PlayerName, string>> = { dash: 'dynamic', hls: 'hls', shaka: 'shaka' };

/** Controllers of the user's own algorithms. */
export const OWN = new Map<string, CreateController>();

/** Adds the user's own algorithms. Rejects with an `InputError` for a file that exports no algorithm. */
export async function addOwnAlgorithms(algorithms: readonly OwnAlgorithm[]): Promise<void> {
  for (const [name, create] of await importOwnAlgorithms(algorithms)) OWN.set(name, create);
}

export function competitors(player: PlayerName) {
  const inPlayer = [...Object.keys(KNOWN), ...OWN.keys()].map((name) => nameInPlayer(name, player));
  return inPlayer.filter(isCompetitor).map(competitor);
}

/** Returns a lane's algorithm after a change of its player: the same algorithm, or else the player's own ABR. */
export function inOtherPlayer(name: string, player: PlayerName): string {
  const same = nameInPlayer(splitPlayer(name).name, player);
  return isCompetitor(same) ? same : nameInPlayer(OWN_ABR[player], player);
}

export function playerOf(name: string): PlayerName {
  return splitPlayer(name).player ?? 'dash';
}

/** The players if the address names something, but no players. */
export const DEFAULT_PLAYERS: readonly string[] = ['dynamic', 'mpc-l'];

/** Whether the page can play the algorithm of this name, such as `<controller>@<forecaster>@<player>`. */
export function isCompetitor(name: string): boolean {
  try {
    const { controller, forecaster = '', catchUp, isOwn } = browserAlgorithm(name);
    // Only the plugin itself gets these forecasts in this page.
    if (/^(service|onnx)/.test(forecaster) && (controller !== 'mpc-l' || catchUp)) return false;
    if (forecaster.startsWith('onnx:')) return false;
    return !isOwn || OWN.has(controller);
  } catch {
    return false;
  }
}

/** Returns title and description of an algorithm. Name and title have the player, unless it is dash.js. */
export function competitor(name: string) {
  const { name: algorithm, player = 'dash' } = splitPlayer(name);
  // The title of a player's own ABR names the player already.
  const where = player === 'dash' || algorithm === player ? '' : ` in ${PLAYER_TITLES[player]}`;
  if (isOwnAlgorithm(algorithm)) {
    return {
      name,
      title: algorithm + where,
      about: 'Your own algorithm. After a change of the file, reload the page.',
    };
  }
  const [controller, forecaster] = algorithm.split('@');
  const [title, about] = KNOWN[controller!] ?? [controller!, ''];
  return { name, title: title + (forecaster === undefined ? '' : ` @ ${forecaster}`) + where, about };
}
