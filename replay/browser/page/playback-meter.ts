/**
 * Measures startup and stalls of a media element. Its events (`waiting`, `playing`) are late, but `currentTime` is
 * exact: during playback it advances one second per second. So events detect a stall, and the lag of `currentTime`
 * behind the clock gives its start and duration.
 */

import type { StallRecord } from '../session-record.ts';

/** Smaller movements of the playhead, and smaller changes of its lag, are jitter. */
const JITTER_SECONDS = 0.005;

export class PlaybackMeter {
  readonly stalls: StallRecord[] = [];
  /** When the playhead began to move, on the session's clock. */
  startedAtSeconds: number | undefined;
  private readonly startPosition: number;
  private position: number;
  private lagSeconds = 0;
  /** The lag when the playhead last moved at full speed. */
  private steadyLagSeconds = 0;
  private waiting = false;

  constructor(private readonly element: Pick<HTMLMediaElement, 'currentTime'>) {
    this.startPosition = element.currentTime;
    this.position = this.startPosition;
  }

  /** Total time of startup and stalls so far. */
  waitedSeconds(nowSeconds: number): number {
    if (this.startedAtSeconds === undefined) return nowSeconds;
    const since = this.waiting ? this.lagAt(nowSeconds) - this.steadyLagSeconds : 0;
    return this.startedAtSeconds + this.stalledSeconds() + since;
  }

  onWaiting(nowSeconds: number): void {
    this.sample(nowSeconds);
    if (this.startedAtSeconds !== undefined) this.waiting = true;
  }

  /** Call it often, and at every event of the element. */
  sample(nowSeconds: number): void {
    const before = this.position;
    this.position = this.element.currentTime;
    if (this.startedAtSeconds === undefined) {
      const played = this.position - this.startPosition;
      if (played >= JITTER_SECONDS) this.startedAtSeconds = nowSeconds - played;
      return;
    }
    const lag = this.lagAt(nowSeconds);
    const moved = this.position - before;
    if (this.waiting && moved >= JITTER_SECONDS) {
      // Playback resumed `moved` seconds ago.
      const endSeconds = nowSeconds - moved;
      const lostSeconds = lag - this.steadyLagSeconds;
      // A `waiting` without lost time is no stall.
      if (lostSeconds >= JITTER_SECONDS) {
        this.stalls.push({ startSeconds: endSeconds - lostSeconds, endSeconds, mediaSeconds: before });
      }
      this.waiting = false;
      this.lagSeconds = this.lagAt(nowSeconds);
      return;
    }
    const isSteady = moved >= JITTER_SECONDS && Math.abs(lag - this.lagSeconds) < JITTER_SECONDS;
    if (!this.waiting && isSteady) this.steadyLagSeconds = lag;
    this.lagSeconds = lag;
  }

  /** Time that the playhead lost without a `waiting` event. */
  unaccountedSeconds(): number {
    return this.startedAtSeconds === undefined ? 0 : this.steadyLagSeconds;
  }

  /** Elapsed time since the start minus played media and stalls. */
  private lagAt(nowSeconds: number): number {
    return nowSeconds - this.startedAtSeconds! - (this.position - this.startPosition) - this.stalledSeconds();
  }

  private stalledSeconds(): number {
    return this.stalls.reduce((sum, stall) => sum + stall.endSeconds - stall.startSeconds, 0);
  }
}
