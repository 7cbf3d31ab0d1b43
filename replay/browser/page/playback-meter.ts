/**
 * Startup and stalls of a media element by its own clock. What the element announces (`waiting`, `playing`) comes late;
 * for how long its `currentTime` stood is exact, because it moves one second per second while it plays. So the events say
 * that there was a stall, and the lag of `currentTime` behind the clock says when and how long.
 */

import type { StallRecord } from '../session-record.ts';

/** What is read of the element. */
export interface Playhead {
  readonly currentTime: number;
}

/** Movements of the playhead, and changes of its lag, below this are jitter. */
const JITTER_SECONDS = 0.005;

export class PlaybackMeter {
  readonly stalls: StallRecord[] = [];
  /** Seconds of the session's clock at which the playhead began to move. */
  startedAtSeconds: number | undefined;
  private readonly element: Playhead;
  private readonly startPosition: number;
  private position: number;
  private lagSeconds = 0;
  /** The lag when the playhead was last seen to move at full speed. */
  private steadyLagSeconds = 0;
  private waiting = false;

  constructor(element: Playhead) {
    this.element = element;
    this.startPosition = element.currentTime;
    this.position = this.startPosition;
  }

  /** Waited in all by now, startup included. */
  waitedSeconds(nowSeconds: number): number {
    if (this.startedAtSeconds === undefined) return nowSeconds;
    const since = this.waiting ? this.lagAt(nowSeconds) - this.steadyLagSeconds : 0;
    return this.startedAtSeconds + this.stalledSeconds() + since;
  }

  /** The element says that it waits for data. */
  onWaiting(nowSeconds: number): void {
    this.sample(nowSeconds);
    if (this.startedAtSeconds !== undefined) this.waiting = true;
  }

  /** To be called often, and at every event of the element. */
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
      // It went on, `moved` seconds ago.
      const endSeconds = nowSeconds - moved;
      const lostSeconds = lag - this.steadyLagSeconds;
      // A `waiting` that cost no time was no stall.
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

  /** What the playhead lost without a `waiting`; 0 where every stop was announced. */
  unaccountedSeconds(): number {
    return this.startedAtSeconds === undefined ? 0 : this.steadyLagSeconds;
  }

  /** Elapsed since the start, less media played and stalls. */
  private lagAt(nowSeconds: number): number {
    return nowSeconds - this.startedAtSeconds! - (this.position - this.startPosition) - this.stalledSeconds();
  }

  private stalledSeconds(): number {
    return this.stalls.reduce((sum, stall) => sum + stall.endSeconds - stall.startSeconds, 0);
  }
}
