/** The first choice of a session, while nothing has been measured. */

import type { Decision, PlayerState } from '../controller.ts';
import { highestWithin, sizesAt } from './ladder.ts';

/** The first picture comes within this time, if the link is as fast as browser or player assume. */
const FIRST_PICTURE_SECONDS = 1;

/**
 * The player's own first choice, the highest bitrate within the rate that it assumes; lower if its segment would take
 * over a second. The browser may know a faster link than the player assumes.
 */
export function firstChoice(state: PlayerState): Pick<Decision, 'representation' | 'reason'> {
  const { assumed } = state;
  const playerBps = assumed?.playerBps || 0;
  const mostBits = FIRST_PICTURE_SECONDS * Math.max(playerBps, assumed?.browserBps || 0);
  const sizesBits = sizesAt(state, 0);
  let representation = highestWithin(state.ladderBps, playerBps);
  while (representation > 0 && sizesBits[representation]! > mostBits) representation--;
  const why = representation > 0 ? `the player assumes ${playerBps / 1e6} Mbit/s` : 'lowest';
  return { representation, reason: `nothing measured yet: ${why}` };
}
