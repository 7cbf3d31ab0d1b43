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
  private _startPosition: number;
  private _position: number;
  private _rate: number;
  private _sampledAtSeconds = 0;
  /** Media that was due since the start, without stalls. */
  private _dueSeconds = 0;
  private _lagSeconds = 0;
  /** The lag when the playhead last moved at full speed. */
  private _steadyLagSeconds = 0;
  private _waiting = false;
  private _frozenAt = 0;

  constructor(private readonly _element: Pick<HTMLMediaElement, 'currentTime' | 'playbackRate'>) {
    this._startPosition = _element.currentTime;
    this._position = this._startPosition;
    this._rate = _element.playbackRate || 1;
  }

  waitedSeconds(nowSeconds: number): number {
    if (this.startedAtSeconds === undefined) return nowSeconds;
    const stalled = this.stalls.reduce((sum, stall) => sum + stall.endSeconds - stall.startSeconds, 0);
    return this.startedAtSeconds + stalled + this._ongoingStallSeconds(nowSeconds);
  }

  onWaiting(nowSeconds: number): void {
    this.sample(nowSeconds);
    if (this.startedAtSeconds === undefined || this._waiting) return;
    this._waiting = true;
    this._frozenAt = this._position;
  }

  /** Call it often, and at every event of the element. */
  sample(nowSeconds: number): void {
    const { _position: before, _rate: rate } = this;
    const due = (nowSeconds - this._sampledAtSeconds) * rate;
    this._position = this._element.currentTime;
    this._rate = this._element.playbackRate || rate;
    this._sampledAtSeconds = nowSeconds;
    let moved = this._position - before;
    const isJump = moved < -JUMP_SECONDS || moved > due + JUMP_SECONDS;
    const isLiveJump = moved > due + LIVE_JUMP_SECONDS;
    if (isJump) {
      this._startPosition += moved;
      if (this.startedAtSeconds !== undefined) this.jumpedSeconds += Math.abs(moved);
      moved = 0;
    }
    if (this.startedAtSeconds === undefined) {
      const played = this._position - this._startPosition;
      if (played < JITTER_SECONDS) return;
      this._dueSeconds = played;
      this.startedAtSeconds = nowSeconds - played / rate;
      this._isAt(this.startedAtSeconds, this._startPosition);
      return;
    }
    this._dueSeconds += due;
    if (isJump) {
      if (isLiveJump) this.jumps++;
      this._isAt(nowSeconds, this._position);
    }
    const lag = this._lagAt(nowSeconds);
    if (this._waiting && moved >= JITTER_SECONDS) {
      // Playback resumed this long ago.
      const endSeconds = nowSeconds - moved / rate;
      this._endStall(endSeconds, (lag - this._steadyLagSeconds) / rate);
      this._isAt(endSeconds, before);
      this._waiting = false;
      this._lagSeconds = this._lagAt(nowSeconds);
      return;
    }
    const isSteady = !this._waiting && moved >= JITTER_SECONDS && Math.abs(lag - this._lagSeconds) < JITTER_SECONDS;
    if (isSteady) {
      this._steadyLagSeconds = lag;
      const { atSeconds, mediaSeconds, rate: lastRate } = this.positions.at(-1)!;
      const expected = mediaSeconds + (nowSeconds - atSeconds) * lastRate;
      const differs = Math.abs(expected - this._position) > JITTER_SECONDS;
      if (differs || this._rate !== lastRate) this._isAt(nowSeconds, this._position);
    }
    this._lagSeconds = lag;
  }

  end(nowSeconds: number): void {
    this.sample(nowSeconds);
    this._endStall(nowSeconds, this._ongoingStallSeconds(nowSeconds));
  }

  /** Time that the playhead lost without a `waiting` event. */
  unaccountedSeconds(): number {
    return this.startedAtSeconds === undefined ? 0 : this._steadyLagSeconds;
  }

  private _ongoingStallSeconds(nowSeconds: number): number {
    return this._waiting ? (this._lagAt(nowSeconds) - this._steadyLagSeconds) / this._rate : 0;
  }

  private _endStall(endSeconds: number, lostSeconds: number): void {
    // A `waiting` event without lost time is no stall.
    if (lostSeconds < JITTER_SECONDS) return;
    const startSeconds = endSeconds - lostSeconds;
    this.stalls.push({ startSeconds, endSeconds, mediaSeconds: this._frozenAt });
    this._dueSeconds -= lostSeconds * this._rate;
    // A jump during the stall has left a position.
    while (this.positions.at(-1)!.atSeconds > startSeconds) this.positions.pop();
  }

  private _isAt(atSeconds: number, mediaSeconds: number): void {
    this.positions.push({ atSeconds, mediaSeconds, rate: this._rate });
  }

  /** Media that is due minus played media. */
  private _lagAt(nowSeconds: number): number {
    const due = this._dueSeconds + (nowSeconds - this._sampledAtSeconds) * this._rate;
    return due - (this._position - this._startPosition);
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
