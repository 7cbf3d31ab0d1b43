/** Tells a page that has confused players and entries what it has passed. */

import { InputError } from '../abr/errors.ts';

/** A method that no other player has, and the entry for the player. */
const PLAYERS = [
  ['dash.js', 'addABRCustomRule', 'leo-abr'],
  ['hls.js', 'loadSource', 'leo-abr/hls'],
  ['Shaka Player', 'getNetworkingEngine', 'leo-abr/shaka'],
] as const;

/** Which player this is, or makes if it is a class. */
export function playerNamed(value: unknown) {
  const player = (typeof value === 'function' ? value.prototype : value) as Record<string, unknown> | null | undefined;
  return PLAYERS.find(([, method]) => typeof player?.[method] === 'function');
}

/** The error of a wrong argument: says which other player it is. `own`: the entry's. */
export function wrongPlayer(own: string, field: string, expected: string, value: unknown): InputError {
  const [name, , entry] = playerNamed(value) || [];
  const hint = name && name !== own ? ` (this is ${name}: use ${entry})` : '';
  return new InputError(field, expected + hint, value);
}
