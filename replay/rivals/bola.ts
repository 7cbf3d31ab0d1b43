/**
 * BOLA chooses the representation by buffer level (Spiteri, Urgaonkar, Sitaraman: "BOLA: near-optimal bitrate
 * adaptation for online videos", INFOCOM'16, arXiv 1601.06748). This is the paper's algorithm 2 for finite videos
 * without its pauses. dash-js/ has dash.js's later form.
 *
 * With R_r the bitrate and u_r = ln(R_r / R_0) the utility of representation r, BOLA chooses the r with the largest
 *
 *   (Vp * (u_r + gp) - buffer level) / R_r
 *
 * Vp is the value at which this score of the top representation is 0 when the buffer has room for one more segment.
 */

import type { Controller, Decision, PlayerState } from '../../abr/controller.ts';
import { highestWithin } from '../../abr/state/facts.ts';
import { ewmaThroughputBps } from './ewma-throughput.ts';

/** Weight of uninterrupted playback against utility, gamma * p: the paper's 5. */
const GP = 5;
/** Buffer target at the start and the end of a video. */
const LEAST_TARGET_SEGMENTS = 3;
/** Replaces an infinite buffer cap. */
const MAX_TARGET_SECONDS = 3600;

export class Bola implements Controller {
  readonly name = 'bola';

  decide(state: PlayerState): Decision {
    const { ladderBps, bufferLevelSeconds, previousBitrateBps } = state;
    if (!(ladderBps[ladderBps.length - 1]! > ladderBps[0]!)) return this._decision(0, 'one bitrate');
    const choice = bolaChoice(ladderBps, { vp: vpOf(state), gp: GP }, bufferLevelSeconds);
    const reason = `buffer level ${bufferLevelSeconds.toFixed(1)} s`;
    // BOLA-O: the buffer level alone does not raise the bitrate above the sustainable one.
    const previous = previousBitrateBps === undefined ? 0 : highestWithin(ladderBps, previousBitrateBps);
    // A player at rate 2 consumes twice the bitrate.
    const throughputBps = (ewmaThroughputBps(state.downloads) || 0) / state.playbackRate;
    const held = Math.max(previous, highestWithin(ladderBps, throughputBps));
    return choice > held ? this._decision(held, `${reason}, held by throughput`) : this._decision(choice, reason);
  }

  private _decision(representation: number, reason: string): Decision {
    return { representation, controller: this.name, reason };
  }
}

/** Vp in seconds. The buffer target is half of what has been played or, in the second half of the video, is left. */
function vpOf({ segmentIndex, segmentsRemaining, segmentSeconds, bufferCapSeconds, ladderBps }: PlayerState): number {
  const segments = Math.max(Math.min(segmentIndex, segmentsRemaining) / 2, LEAST_TARGET_SEGMENTS);
  const targetSeconds = Math.min(bufferCapSeconds, segments * segmentSeconds, MAX_TARGET_SECONDS);
  const roomSeconds = Math.max(targetSeconds - segmentSeconds, 0);
  return roomSeconds / (bolaUtility(ladderBps, ladderBps.length - 1) + GP);
}

/** BOLA's utility of each representation: ln(R_r / R_0). */
export function bolaUtility(ladderBps: readonly number[], representation: number): number {
  return Math.log(ladderBps[representation]! / ladderBps[0]!);
}

/** The representation with the highest score; the highest of equal representations. `vp` is in seconds. */
export function bolaChoice(
  ladderBps: readonly number[],
  { vp, gp }: { vp: number; gp: number },
  levelSeconds: number,
): number {
  let best = 0;
  let bestScore = Number.NEGATIVE_INFINITY;
  ladderBps.forEach((bitrateBps, r) => {
    const score = (vp * (bolaUtility(ladderBps, r) + gp) - levelSeconds) / bitrateBps;
    if (score >= bestScore) {
      best = r;
      bestScore = score;
    }
  });
  return best;
}
