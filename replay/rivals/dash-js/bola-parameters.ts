/**
 * BOLA's parameters and thresholds in dash.js 5.2.1 (src/streaming/rules/abr/BolaRule.js). Its utilities are ln(R_r /
 * R_0) + 1. The score subtracts the 1 but the thresholds do not, so they are Vp above the buffer levels at which scores
 * are equal or 0. So a placeholder, and the choice with it, may exceed what the throughput sustains.
 */

import { bolaChoice, bolaUtility } from '../bola.ts';

/** Up to this buffer level BOLA prefers the lowest representation (`MINIMUM_BUFFER_S`). */
export const MINIMUM_BUFFER_SECONDS = 10;
/** Least room for each representation above that level (`MINIMUM_BUFFER_PER_BITRATE_LEVEL_S`). */
const SECONDS_PER_REPRESENTATION = 2;
/** Replaces an infinite buffer cap. */
const MAX_TARGET_SECONDS = 3600;

export class BolaParameters {
  /** Seconds of buffer per unit of utility. */
  readonly vp: number;
  /** Weight of uninterrupted playback against utility. */
  readonly gp: number;

  /** Requires at least two different bitrates. */
  constructor(
    private readonly _ladderBps: readonly number[],
    bufferCapSeconds: number,
  ) {
    const leastSeconds = MINIMUM_BUFFER_SECONDS + SECONDS_PER_REPRESENTATION * _ladderBps.length;
    const targetSeconds = Math.max(Math.min(bufferCapSeconds, MAX_TARGET_SECONDS), leastSeconds);
    this.gp = (this._utility(_ladderBps.length - 1) - 1) / (targetSeconds / MINIMUM_BUFFER_SECONDS - 1);
    this.vp = MINIMUM_BUFFER_SECONDS / this.gp;
  }

  choiceAt(levelSeconds: number): number {
    return bolaChoice(this._ladderBps, this, levelSeconds);
  }

  /** `_minBufferLevelForRepresentation`, in seconds. */
  lowestLevelFor(representation: number): number {
    const [bps, utility] = [this._ladderBps[representation]!, this._utility(representation)];
    let level = 0;
    for (let r = 0; r < representation; r++) {
      const lowerBps = this._ladderBps[r]!;
      if (lowerBps === bps) continue;
      const crossing = (bps * this._utility(r) - lowerBps * utility) / (bps - lowerBps);
      level = Math.max(level, this.vp * (this.gp + crossing));
    }
    return level;
  }

  /** `_maxBufferLevelForRepresentation`, in seconds. */
  highestLevelFor(representation: number): number {
    return this.vp * (this._utility(representation) + this.gp);
  }

  private _utility(representation: number): number {
    return bolaUtility(this._ladderBps, representation) + 1;
  }
}
