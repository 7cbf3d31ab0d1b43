/** The media element: buffer, startup and stalls. */

import type { Stall } from '../../../abr/qoe/session-qoe.ts';

/** Shorter waits are rounding errors. */
const ROUNDING_SECONDS = 1e-9;

export class Playback {
  nowSeconds = 0;
  bufferLevelSeconds = 0;
  /** From the first append on. */
  started = false;
  startupSeconds = 0;
  stallSeconds = 0;
  readonly stalls: Stall[] = [];
  playbackRate = 1;
  private _stalled = false;

  /** The element stalls at `stallLevelSeconds` of buffer and resumes with the next append. */
  constructor(private readonly _stallLevelSeconds: number) {}

  /** Second at which startup and stalls will have taken `budgetSeconds` in all, without another append. */
  waitedAtSeconds(budgetSeconds: number): number {
    const waitedSeconds = this.startupSeconds + this.stallSeconds;
    return this.nowSeconds + this._playableSeconds() + budgetSeconds - waitedSeconds;
  }

  advanceTo(seconds: number): void {
    const elapsed = seconds - this.nowSeconds;
    if (!(elapsed > 0)) return;
    this.nowSeconds = seconds;
    if (!this.started) {
      this.startupSeconds += elapsed;
      return;
    }
    const playable = this._playableSeconds();
    if (elapsed <= playable + ROUNDING_SECONDS) {
      this.bufferLevelSeconds -= Math.min(elapsed, playable);
      return;
    }
    this.bufferLevelSeconds -= playable;
    this.stallSeconds += elapsed - playable;
    if (!this._stalled) this.stalls.push({ startSeconds: seconds - elapsed + playable, endSeconds: seconds });
    this.stalls.at(-1)!.endSeconds = seconds;
    this._stalled = true;
  }

  append(seconds: number): void {
    this.bufferLevelSeconds += seconds;
    this.started = true;
    this._stalled = false;
  }

  private _playableSeconds(): number {
    return this.started ? Math.max(0, this.bufferLevelSeconds - this._stallLevelSeconds) : 0;
  }
}
