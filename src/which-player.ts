/** Tells a page that has confused players and entries what it has passed. */

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

/** What was expected, and if it can be told, what `value` is instead. `own`: the entry's player. */
export function expectedPlayer(own: (typeof PLAYERS)[number][0], value: unknown, expected: string): string {
  const [name, , entry] = playerNamed(value) || [];
  if (name && name !== own) return `${expected} (this is ${name}: use ${entry})`;
  return typeof value === 'function' ? `${expected} (this is a class or a function: pass what it makes)` : expected;
}
