/**
 * A link that is slower than the session has seen. Forecasts then expect it to recover soon, because outages of
 * satellites do. With less than a segment buffered, a request must also be in time if the link stays as it is.
 */

import type { Download, InFlight, PlayerState } from '../../controller.ts';
import { lastIndexAtMost } from '../../state/facts.ts';
import { rateOf } from '../mpc-l.ts';
import type { ResolvedMpcLOptions } from '../options.ts';
import { LinkPaths } from './link-paths.ts';
import { LiveOutcomes } from './live-outcomes.ts';

/** A rate is new if all earlier rates are higher by this factor. */
const NEW_FACTOR = 2;
/** If the link carries less than this share of the lowest bitrate, nothing is in time. */
const LEAST_SHARE = 0.25;
/** Stalls that differ by this are the same. */
const SAME_SECONDS = 0.1;
/** Shorter evidence may be of a dip. It only counts if the lowest bitrate would be late after a further wait. */
const SURE_SECONDS = 0.6;
const WAIT_SECONDS = 0.3;
const IN_TIME_SECONDS = 0.35;

export class SlowedLink {
  private readonly _paths = new LinkPaths(1);

  constructor(private readonly _options: ResolvedMpcLOptions) {}

  /** The running download shows a new, lower rate, below its bitrate. */
  isSlowed(state: PlayerState, { recent, bitrateBps }: InFlight): boolean {
    return recent !== undefined && recent.bps < bitrateBps && isNew(state, recent.bps);
  }

  /** The lowest bitrate of the next segment that would be late; `Infinity` if none. */
  ceilingBps(state: PlayerState): number {
    const { downloads, ladderBps } = state;
    const newest = downloads[downloads.length - 1];
    if (!newest || !isNew(state, rateOf(newest))) return Number.POSITIVE_INFINITY;
    const outcomes = this._outcomes(state, rateOf(newest));
    const stalls = ladderBps.map((_, r) => outcomes.stallSeconds(outcomes.newRequest(r)));
    return ladderBps[highestInTime(stalls) + 1] ?? Number.POSITIVE_INFINITY;
  }

  /** The representation to load instead of a download that would be late; -1 to keep it. */
  replacement(state: PlayerState, inFlight: InFlight): number {
    const { ladderBps, bufferLevelSeconds, segmentSeconds } = state;
    const current = lastIndexAtMost(ladderBps, inFlight.bitrateBps);
    if (bufferLevelSeconds > segmentSeconds || current < 1 || !this.isSlowed(state, inFlight)) return -1;
    const { bps, seconds } = inFlight.recent!;
    const outcomes = this._outcomes(state, bps);
    const running = outcomes.running(inFlight, current);
    const stalls = ladderBps.slice(0, current).map((_, r) => outcomes.stallSeconds(outcomes.newRequest(r, running)));
    if (seconds < SURE_SECONDS) {
      const later = this._outcomes({ ...state, bufferLevelSeconds: bufferLevelSeconds - WAIT_SECONDS }, bps);
      const isLastMoment = later.stallSeconds(later.newRequest(0, running)) > IN_TIME_SECONDS;
      if (stalls[0]! > IN_TIME_SECONDS || !isLastMoment) return -1;
    }
    const best = highestInTime(stalls);
    const gainSeconds = outcomes.stallSeconds(running) - stalls[best]!;
    return gainSeconds >= this._options.tuning.liveLateSeconds ? best : -1;
  }

  private _outcomes(state: PlayerState, bps: number): LiveOutcomes {
    this._paths.sample({ cumulativeBits: (seconds) => bps * seconds });
    return new LiveOutcomes(state, this._options, this._paths);
  }
}

/** The highest representation that stalls no longer than the lowest. */
function highestInTime(stalls: readonly number[]): number {
  let best = 0;
  while (stalls[best + 1]! <= stalls[0]! + SAME_SECONDS) best++;
  return best;
}

/** Whether the link was faster before, and never as slow except now. */
function isNew({ downloads, ladderBps }: PlayerState, bps: number): boolean {
  const isAsSlow = (download: Download) => rateOf(download) < NEW_FACTOR * bps;
  let before = downloads.length;
  while (before > 0 && isAsSlow(downloads[before - 1]!)) before--;
  return bps >= LEAST_SHARE * ladderBps[0]! && before > 0 && !downloads.slice(0, before).some(isAsSlow);
}
