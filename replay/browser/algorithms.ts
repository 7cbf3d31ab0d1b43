/** The names that `--algorithms` accepts for a browser. */

import { InputError, unknownName } from '../../abr/errors.ts';
import { ALGORITHM_NAMES } from '../../abr/index.ts';
import type { CatchUp } from '../catch-up.ts';
import { type ForecasterName, type PlayerName, splitAlgorithm, splitPlayer } from '../forecasters.ts';
import { isOwnAlgorithm } from '../own-algorithm.ts';

interface BrowserAlgorithm {
  player: PlayerName;
  /** A controller of abr/ or a file; undefined: the player's own ABR. */
  controller?: string;
  /** Whether dash.js's rules are active, by name. Default: dash.js's own settings. */
  rules?: Readonly<Record<string, boolean>>;
  forecaster?: ForecasterName;
  /** Catch-up of live streams. If absent, the controller sets the rate, or else dash.js's default. */
  catchUp?: CatchUp;
}

/** Turns dash.js's default rules off, because dash.js takes the lowest of all rules' requests. */
const NO_RULES = {
  throughputRule: false,
  bolaRule: false,
  insufficientBufferRule: false,
  switchHistoryRule: false,
  abandonRequestsRule: false,
};

/** dash.js's default rules, its default rules with BOLA alone, and its rules for low latency. */
const DASHJS_OWN: Readonly<Record<string, Pick<BrowserAlgorithm, 'rules' | 'catchUp'>>> = {
  dynamic: {},
  'bola-e': { rules: { throughputRule: false } },
  l2a: { rules: { ...NO_RULES, l2ARule: true } },
  lolp: { rules: { ...NO_RULES, loLPRule: true }, catchUp: 'lolp' },
};

export const BROWSER_ALGORITHMS: readonly string[] = [...ALGORITHM_NAMES, ...Object.keys(DASHJS_OWN)];

/** Names of the other players' own ABR, each with its player. */
const OTHERS_OWN: Readonly<Record<string, PlayerName>> = { hls: 'hls', shaka: 'shaka' };

/** Returns a name as in results: `<name>@<player>`, without `@dash`. `player` is the default. */
export function nameInPlayer(given: string, player: PlayerName): string {
  const { name, player: used = player } = splitPlayer(given);
  return used === 'dash' ? name : `${name}@${used}`;
}

/**
 * The algorithm of a name: `dynamic`, `bola-e`, `l2a`, `lolp`, a controller of abr/ or a file, or these with a catch-up
 * (`<controller>:lolp-catch-up`) or a forecaster (`<controller>@<forecaster>`). With `@hls` or `@shaka` at the end it
 * plays in that player; `hls@hls` and `shaka@shaka` are the players' own ABR. Does not check that the file exists.
 */
export function browserAlgorithm(name: string, field = '--algorithms'): BrowserAlgorithm {
  const { controller, forecaster, catchUp, player = 'dash' } = splitAlgorithm(name, field);
  const own = DASHJS_OWN[controller];
  const ofPlayer = own || catchUp ? 'dash' : OTHERS_OWN[controller];
  if (ofPlayer !== undefined && ofPlayer !== player) {
    throw new InputError(field, `--player ${ofPlayer} for ${controller}${catchUp ? ' with a catch-up' : ''}`, name);
  }
  if (OTHERS_OWN[controller] !== undefined && forecaster === undefined) return { player };
  if (own !== undefined && forecaster === undefined) return { player, catchUp: catchUp ?? 'default', ...own };
  if (!isOwnAlgorithm(controller) && !ALGORITHM_NAMES.includes(controller)) {
    throw unknownName(field, BROWSER_ALGORITHMS, name, ', or a file (./mine.ts)');
  }
  return { player, controller, ...(forecaster !== undefined && { forecaster }), ...(catchUp && { catchUp }) };
}
