/** How a browser plays an algorithm. */

import { InputError, unknownName } from '../../abr/errors.ts';
import { type Algorithm, BROWSER_ALGORITHMS, type PlayerName, parseAlgorithm } from '../algorithms.ts';
import type { CatchUp } from '../catch-up.ts';

/** With `ownOf`, the player plays without the plugin. */
export interface BrowserAlgorithm extends Algorithm {
  player: PlayerName;
  /** Whether dash.js's rules are active, by name. Default: dash.js's own settings. */
  rules?: Readonly<Record<string, boolean>>;
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
const DASHJS_OWN: Readonly<Record<string, { rules?: Readonly<Record<string, boolean>>; catchUp?: CatchUp }>> = {
  dynamic: {},
  'bola-e': { rules: { throughputRule: false } },
  l2a: { rules: { ...NO_RULES, l2ARule: true } },
  lolp: { rules: { ...NO_RULES, loLPRule: true }, catchUp: 'lolp' },
};

/**
 * The algorithm of a name in dash.js, or with `@hls` or `@shaka` in that player; `hls@hls` and `shaka@shaka` are the
 * players' own ABR. `catchUp` is undefined if the controller sets the rate. Does not check that a file exists.
 */
export function browserAlgorithm(name: string, field = '--algorithms'): BrowserAlgorithm {
  const algorithm = parseAlgorithm(name, field);
  const { controller, isOwn, ownOf, catchUp, player = 'dash' } = algorithm;
  if (!isOwn && ownOf === undefined && !BROWSER_ALGORITHMS.includes(controller))
    throw unknownName(field, BROWSER_ALGORITHMS, name, ', or a file (./mine.ts)');
  const ofPlayer = catchUp ? 'dash' : ownOf;
  if (ofPlayer !== undefined && ofPlayer !== player) {
    throw new InputError(field, `--player ${ofPlayer} for ${controller}${catchUp ? ' with a catch-up' : ''}`, name);
  }
  if (ownOf !== 'dash') return { ...algorithm, player };
  const own = DASHJS_OWN[controller]!;
  return { ...algorithm, ...own, player, catchUp: catchUp ?? own.catchUp ?? 'default' };
}
