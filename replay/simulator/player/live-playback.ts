/** The media element in a live stream: buffer, startup and stalls, catch-up and jumps to the live edge. */

import type { Stall } from '../../../abr/qoe/session-qoe.ts';
import { type CatchUp, catchUpRate, DEFAULT_PLAYBACK_RATES, MAX_DRIFT_SECONDS } from '../../catch-up.ts';
import type { PlaybackPiece } from '../../evaluation/figures/live-metrics.ts';
import type { LinkTransfer } from '../../link/shared-link.ts';
import type { LiveStream } from '../../scenarios.ts';

/** If playback is stalled, dash.js leaves a position that is further than this outside the time-shift buffer. */
const EXPIRY_SLACK_SECONDS = 0.25;

/** Media that reaches the buffer this long after the end of a transfer, which may move. */
export interface Append {
  transfer: Readonly<LinkTransfer>;
  responseSeconds: number;
  appendSeconds: number;
  untilMediaSeconds: number;
}

function atSeconds({ transfer, responseSeconds, appendSeconds }: Append): number {
  return transfer.endSeconds + responseSeconds + appendSeconds;
}

export interface LivePlaybackOptions {
  live: LiveStream;
  stallLevelSeconds: number;
  catchUp: CatchUp;
  /** Called when the first picture is shown. */
  begun(atSeconds: number): void;
}

export class LivePlayback {
  nowSeconds = 0;
  /** The picture's second of media; before the first picture, the second at which playback will begin. */
  positionSeconds = 0;
  bufferedUntilSeconds = 0;
  playbackRate = 1;
  started = false;
  startupSeconds = 0;
  stallSeconds = 0;
  readonly stalls: Stall[] = [];
  jumps = 0;
  readonly history: PlaybackPiece[] = [];
  private _isStalled = false;
  private _appends: Append[] = [];
  private _recordedJumps = 0;
  /** Whether `setRate` sets the rate, not the catch-up. */
  private _isRateSet = false;
  /** Playback waits by a rate of 0. */
  private _isHeld = false;

  constructor(private readonly _options: LivePlaybackOptions) {}

  get bufferLevelSeconds(): number {
    return Math.max(0, this.bufferedUntilSeconds - this.positionSeconds);
  }

  /** From the capture of the picture to now. */
  get latencySeconds(): number {
    return this.nowSeconds + this._options.live.timeShiftSeconds - this.positionSeconds;
  }

  /** Moves playback to this latency, or to the stream's start, and empties the buffer. */
  seekTo(latencySeconds: number): void {
    this.positionSeconds = Math.max(0, this.nowSeconds + this._options.live.timeShiftSeconds - latencySeconds);
    this.bufferedUntilSeconds = 0;
    this._appends = [];
  }

  expect(appends: readonly Append[]): void {
    this._appends.push(...appends);
  }

  /** Drops media that would reach the buffer later than this. */
  dropAppendsAfter(seconds: number): void {
    this._appends = this._appends.filter((append) => atSeconds(append) <= seconds);
  }

  advanceTo(seconds: number): void {
    while (this.nowSeconds < seconds) {
      const appendAt = this._nextAppendSeconds();
      const stallAt = this._stallsAtSeconds();
      const at = Math.min(seconds, appendAt, stallAt);
      this._move(at);
      if (at === appendAt) this._append(this._appends.shift()!);
      else if (at === stallAt) this._stall();
    }
  }

  /** Plays at this rate instead of the catch-up's, or waits at 0. `undefined` gives the rate back to the catch-up. */
  setRate(rate: number | undefined): void {
    this.playbackRate = rate || 1;
    this._isRateSet = rate !== undefined;
    const wasHeld = this._isHeld;
    this._isHeld = rate === 0;
    if (this._isHeld && this.started && !this._isStalled) this._stall();
    if (wasHeld) this._resume();
  }

  private _nextAppendSeconds(): number {
    const [append] = this._appends;
    return append === undefined ? Number.POSITIVE_INFINITY : atSeconds(append);
  }

  private _stallsAtSeconds(): number {
    if (!this.started || this._isStalled) return Number.POSITIVE_INFINITY;
    const playableSeconds = this.bufferLevelSeconds - this._options.stallLevelSeconds;
    return this.nowSeconds + Math.max(0, playableSeconds) / this.playbackRate;
  }

  private _move(seconds: number): void {
    const elapsed = Math.max(0, seconds - this.nowSeconds);
    const { latencySeconds, playbackRate: rate, _isStalled: isStalled } = this;
    this.nowSeconds = Math.max(this.nowSeconds, seconds);
    if (!this.started) {
      this.startupSeconds += elapsed;
      return;
    }
    if (isStalled) {
      this.stallSeconds += elapsed;
      this.stalls.at(-1)!.endSeconds = this.nowSeconds;
    } else this.positionSeconds += elapsed * rate;
    if (elapsed > 0) this._record({ seconds: elapsed, latencySeconds, rate, isStalled });
  }

  private _record(piece: PlaybackPiece): void {
    const last = this.history[this.history.length - 1];
    const { isStalled, rate, seconds } = piece;
    const isSame = this.jumps === this._recordedJumps && last?.isStalled === isStalled && last.rate === rate;
    if (isSame) last.seconds += seconds;
    else this.history.push(piece);
    this._recordedJumps = this.jumps;
  }

  private _append({ untilMediaSeconds }: Append): void {
    this.bufferedUntilSeconds = Math.max(this.bufferedUntilSeconds, untilMediaSeconds);
    this._resume();
  }

  /** Playback begins and resumes with the first chunk that it can play. */
  private _resume(): void {
    if (this._isHeld || this.bufferLevelSeconds <= this._options.stallLevelSeconds) return;
    if (!this.started) this._options.begun(this.nowSeconds);
    this.started = true;
    this._isStalled = false;
  }

  private _stall(): void {
    this._isStalled = true;
    this.stalls.push({ startSeconds: this.nowSeconds, endSeconds: this.nowSeconds });
  }

  /** Continues at this latency once media has arrived. */
  jump(latencySeconds: number): void {
    this.jumps++;
    this.seekTo(latencySeconds);
    if (!this._isStalled) this._stall();
  }

  /** Sets the rate at the element's `timeupdate`, except in stalls. Returns whether playback jumped. */
  catchUp(): boolean {
    if (this._isRateSet) return false;
    const { catchUp, live } = this._options;
    const { targetLatencySeconds, timeShiftSeconds, playbackRates: rates = DEFAULT_PLAYBACK_RATES } = live;
    const { depthSeconds = timeShiftSeconds } = live;
    const { latencySeconds, bufferLevelSeconds, playbackRate: presentRate, _isStalled: isStalled } = this;
    const isTooLate = isStalled
      ? latencySeconds > depthSeconds + EXPIRY_SLACK_SECONDS
      : latencySeconds - targetLatencySeconds > MAX_DRIFT_SECONDS;
    if (isTooLate) {
      this.jump(targetLatencySeconds);
      return true;
    }
    if (isStalled) return false;
    const situation = { latencySeconds, targetLatencySeconds, bufferLevelSeconds, rates, presentRate };
    this.playbackRate = catchUpRate(catchUp, situation);
    return false;
  }
}
