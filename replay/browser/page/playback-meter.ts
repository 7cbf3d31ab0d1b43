/** Events detect a stall late. The lag of `currentTime`, which is exact, gives the stall's start and duration. */

import type { PositionRecord, StallRecord } from '../record/session-record.ts';

/** Smaller movements of the playhead, and smaller changes of its lag, are jitter. */
const JITTER_SECONDS = 0.005;
/** If the playhead moves this much further than its rate allows, somebody set it. */
const JUMP_SECONDS = 0.1;
/** A longer seek forward goes to the live edge. Before it, dash.js seeks to the end of its buffer. */
const LIVE_JUMP_SECONDS = 1;

export class PlaybackMeter {
  readonly stalls: StallRecord[] = [];
  /** From each position the playhead moves at its rate until the next position, except in stalls. */
  readonly positions: PositionRecord[] = [];
  jumps = 0;
  /** Media that seeks skipped or repeated. */
  jumpedSeconds = 0;
  /** When the playhead began to move, on the session's clock. */
  startedAtSeconds: number | undefined;
  private startPosition: number;
  private position: number;
  private rate: number;
  private sampledAtSeconds = 0;
  /** Media that was due since the start, without stalls. */
  private dueSeconds = 0;
  private lagSeconds = 0;
  /** The lag when the playhead last moved at full speed. */
  private steadyLagSeconds = 0;
  private waiting = false;
  private frozenAt = 0;

  constructor(private readonly element: Pick<HTMLMediaElement, 'currentTime' | 'playbackRate'>) {
    this.startPosition = element.currentTime;
    this.position = this.startPosition;
    this.rate = element.playbackRate || 1;
  }

  waitedSeconds(nowSeconds: number): number {
    if (this.startedAtSeconds === undefined) return nowSeconds;
    const stalled = this.stalls.reduce((sum, stall) => sum + stall.endSeconds - stall.startSeconds, 0);
    return this.startedAtSeconds + stalled + this.ongoingStallSeconds(nowSeconds);
  }

  onWaiting(nowSeconds: number): void {
    this.sample(nowSeconds);
    if (this.startedAtSeconds === undefined || this.waiting) return;
    this.waiting = true;
    this.frozenAt = this.position;
  }

  /** Call it often, and at every event of the element. */
  sample(nowSeconds: number): void {
    const { position: before, rate } = this;
    const due = (nowSeconds - this.sampledAtSeconds) * rate;
    this.position = this.element.currentTime;
    this.rate = this.element.playbackRate || rate;
    this.sampledAtSeconds = nowSeconds;
    let moved = this.position - before;
    const isJump = moved < -JUMP_SECONDS || moved > due + JUMP_SECONDS;
    const isLiveJump = moved > due + LIVE_JUMP_SECONDS;
    if (isJump) {
      this.startPosition += moved;
      if (this.startedAtSeconds !== undefined) this.jumpedSeconds += Math.abs(moved);
      moved = 0;
    }
    if (this.startedAtSeconds === undefined) {
      const played = this.position - this.startPosition;
      if (played < JITTER_SECONDS) return;
      this.dueSeconds = played;
      this.startedAtSeconds = nowSeconds - played / rate;
      this.isAt(this.startedAtSeconds, this.startPosition);
      return;
    }
    this.dueSeconds += due;
    if (isJump) {
      if (isLiveJump) this.jumps++;
      this.isAt(nowSeconds, this.position);
    }
    const lag = this.lagAt(nowSeconds);
    if (this.waiting && moved >= JITTER_SECONDS) {
      // Playback resumed this long ago.
      const endSeconds = nowSeconds - moved / rate;
      this.endStall(endSeconds, (lag - this.steadyLagSeconds) / rate);
      this.isAt(endSeconds, before);
      this.waiting = false;
      this.lagSeconds = this.lagAt(nowSeconds);
      return;
    }
    const isSteady = !this.waiting && moved >= JITTER_SECONDS && Math.abs(lag - this.lagSeconds) < JITTER_SECONDS;
    if (isSteady) {
      this.steadyLagSeconds = lag;
      const { atSeconds, mediaSeconds, rate: lastRate } = this.positions.at(-1)!;
      const expected = mediaSeconds + (nowSeconds - atSeconds) * lastRate;
      const differs = Math.abs(expected - this.position) > JITTER_SECONDS;
      if (differs || this.rate !== lastRate) this.isAt(nowSeconds, this.position);
    }
    this.lagSeconds = lag;
  }

  end(nowSeconds: number): void {
    this.sample(nowSeconds);
    this.endStall(nowSeconds, this.ongoingStallSeconds(nowSeconds));
  }

  /** Time that the playhead lost without a `waiting` event. */
  unaccountedSeconds(): number {
    return this.startedAtSeconds === undefined ? 0 : this.steadyLagSeconds;
  }

  private ongoingStallSeconds(nowSeconds: number): number {
    return this.waiting ? (this.lagAt(nowSeconds) - this.steadyLagSeconds) / this.rate : 0;
  }

  private endStall(endSeconds: number, lostSeconds: number): void {
    // A `waiting` event without lost time is no stall.
    if (lostSeconds < JITTER_SECONDS) return;
    const startSeconds = endSeconds - lostSeconds;
    this.stalls.push({ startSeconds, endSeconds, mediaSeconds: this.frozenAt });
    this.dueSeconds -= lostSeconds * this.rate;
    // A jump during the stall has left a position.
    while (this.positions.at(-1)!.atSeconds > startSeconds) this.positions.pop();
  }

  private isAt(atSeconds: number, mediaSeconds: number): void {
    this.positions.push({ atSeconds, mediaSeconds, rate: this.rate });
  }

  /** Media that is due minus played media. */
  private lagAt(nowSeconds: number): number {
    const due = this.dueSeconds + (nowSeconds - this.sampledAtSeconds) * this.rate;
    return due - (this.position - this.startPosition);
  }
}

export function meterOf(video: HTMLVideoElement, nowSeconds: () => number, signal?: AbortSignal): PlaybackMeter {
  const meter = new PlaybackMeter(video);
  const listen = (type: string, listener: () => void) => video.addEventListener(type, listener, signal && { signal });
  for (const type of ['timeupdate', 'playing', 'ended', 'pause', 'ratechange', 'seeking']) {
    listen(type, () => meter.sample(nowSeconds()));
  }
  listen('waiting', () => meter.onWaiting(nowSeconds()));
  // Shaka Player lets a stalled element wait at rate 0.
  listen('ratechange', () => {
    if (video.playbackRate === 0) meter.onWaiting(nowSeconds());
  });
  return meter;
}
