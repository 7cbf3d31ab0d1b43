/**
 * Asks a controller that has `pace` for the playback rate of a live stream, ten times a second or when its last answer
 * expires, and sets it.
 */

import { type Controller, type InFlight, type LiveState, type Pace, RATE_HELD_SECONDS } from '../../abr/controller.ts';
import type { Host } from '../host.ts';
import type { Events, Guard } from '../page/events.ts';
import { onStep, type RatePort, type Situation } from '../player-port.ts';
import type { Session } from '../session.ts';
import type { Input, Moment } from '../state.ts';

/** Smaller differences of rates, and of latencies in seconds, count as none. */
const SAME = 0.005;
/** The rate changes, and a new target is reported, at most once in this time. */
const CHANGE_MS = 1000 * RATE_HELD_SECONDS;
/** An answer is kept for at most this long: the viewer may seek or change the rate. */
const LONGEST_KEPT_SECONDS = 1;
const SOON_SECONDS = 0.5;
/** A timer's tick may be early by this. */
const EARLY_TICK_SECONDS = 0.02;
/** Time after a jump in which the player loads a segment before it plays on. */
const JUMP_MS = 5000;
/** Timers are late in a hidden tab, so its rate is 1, unless playback is later than this. */
const HIDDEN_LATE_SECONDS = 1;
/** Playback this far below its target may wait, and waits until it is this near. */
const FAR_BELOW_SECONDS = 0.5;
const REACHED_SECONDS = 0.05;
/** Before its first pace, it waits if its lowest rate would take longer to reach the target. */
const SLOW_SECONDS = 10;

/** What it needs of the flow. */
interface Paced {
  readonly session: Session;
  readonly controller: Controller;
  readonly guard: Guard;
  readonly events: Events;
  situation(): Situation | undefined;
  takeInput(situation: Situation, inFlight: InFlight | undefined): Input;
}

export class Pacing {
  /** The latest pace; undefined while the player sets the rate. */
  pace: Pace | undefined;
  /** Until then, the answer of this controller stands: its rate is set. */
  private _kept: { controller: Controller; untilSeconds: number } | undefined;
  /** The rate that was set; undefined while the player sets it. */
  private _held: { rate: number; atMs: number } | undefined;
  private _emitted: { rate: number; targetSeconds: number; atMs: number } | undefined;
  private _jumpedMs = Number.NEGATIVE_INFINITY;
  /** The controller that has set no usable pace: the rate stays the player's until another controller comes. */
  private _failed: Controller | undefined;
  private _isWaiting = false;

  constructor(
    private readonly _rate: RatePort,
    private readonly _flow: Paced,
    private readonly _host: Pick<Host, 'nowMs' | 'isHidden'>,
  ) {}

  /** In a live stream. */
  isNeeded(): boolean {
    return this._held !== undefined || this._flow.controller.pace !== undefined;
  }

  /** `kept`: at the same time, a download was reconsidered and kept; the rate is set on the same input. */
  tick(atSeconds: number, kept: Moment | undefined): void {
    if (!this._flow.guard(() => this._hold(atSeconds, kept))) this.release();
  }

  /** Gives the rate back to the player. */
  release(): void {
    this.pace = undefined;
    this._kept = undefined;
    this._emitted = undefined;
    this._isWaiting = false;
    if (this._held === undefined) return;
    this._held = undefined;
    this._rate.setPlaybackRate(undefined);
  }

  /** Returns false where the rate is the player's. */
  private _hold(nowSeconds: number, kept: Moment | undefined): boolean {
    const { session, controller, events } = this._flow;
    // An answer that would soon expire is renewed on the input of a download that was reconsidered.
    const keptSeconds = this._kept && this._kept.controller === controller ? this._kept.untilSeconds - nowSeconds : 0;
    if (keptSeconds > (kept ? SOON_SECONDS : 0)) return true;
    this._kept = undefined;
    const { started, live: stream } = session;
    const isAsked = controller.pace && controller !== this._failed;
    const situation = isAsked ? (kept ? kept.situation : this._flow.situation()) : undefined;
    if (situation && !situation.live) stream.isPlaying = false;
    if (!situation?.live?.isPaceable) return false;
    const { playback, period } = situation;
    if (stream.goesBack(situation.live, playback.isPaused)) return false;
    const inFlight = kept ? kept.inFlight : session.inFlight(nowSeconds);
    const held = this._held;
    const isViewers = held && !isSame(playback.playbackRate, held.rate) && playback.playbackRate !== 1;
    const isInOtherPeriod = inFlight && period.id !== session.active?.segment.period.id;
    const isPaused = playback.isPaused && started;
    if (isPaused || isViewers || isInOtherPeriod) return started || held !== undefined;
    const nowMs = this._host.nowMs();
    if (this._mustWait(situation)) {
      // At each tick, because a player that has buffered sets the rate to 1.
      this._setRate(0, nowMs);
      return true;
    }
    // The next rate need not wait.
    if (held?.rate === 0) this._setRate(1, nowMs - CHANGE_MS);
    if (!started) return false;

    stream.played(nowSeconds, playback.playbackRate);
    const { state, forecast } = kept ? kept.input : this._flow.takeInput(situation, inFlight);
    const live = state.live!;
    const pace = events.attempt('controller-failed', 'the controller set no pace', () =>
      checked(controller.pace!(state, inFlight, forecast), live),
    );
    // The page has ended the source meanwhile, in a forecaster or its controller.
    if (session !== this._flow.session) return false;
    if (pace === undefined) {
      this._failed = controller;
      return false;
    }
    this.pace = pace;
    const isJump = pace.jump && nowMs - this._jumpedMs >= JUMP_MS;
    const waitsMs = this._set(pace, playback.playbackRate, live.latencySeconds, nowMs);
    const mostSeconds = waitsMs > 0 ? waitsMs / 1000 : LONGEST_KEPT_SECONDS;
    const keepsForSeconds = Math.min(mostSeconds, pace.keepsForSeconds || 0);
    const untilSeconds = nowSeconds + keepsForSeconds - EARLY_TICK_SECONDS;
    if (!pace.jump) this._kept = { controller, untilSeconds };
    if (isJump) {
      this._jumpedMs = nowMs;
      this._rate.jumpToLive(pace.targetLatencySeconds);
    }
    if (isJump || this._isNews(pace, nowMs)) {
      const { rate } = this._held!;
      this._emitted = { rate, targetSeconds: pace.targetLatencySeconds, atMs: nowMs };
      events.emit('pace', { session: session.number, pace, playbackRate: rate, state, inFlight, forecast });
    }
    return true;
  }

  /**
   * Far below its target, as in a stream that has just begun, playback would stall for each chunk. Instead it waits once
   * for the buffer that the target promises, at the start or with less than a chunk or two to play.
   */
  private _mustWait(situation: Situation): boolean {
    const { bufferLevelSeconds } = situation.playback;
    const { latencySeconds, targetLatencySeconds, firstChunkSeconds, playbackRates } = situation.live!;
    const missingSeconds = targetLatencySeconds - latencySeconds;
    const existsSeconds = Math.max(bufferLevelSeconds, latencySeconds - firstChunkSeconds);
    const chunkSeconds = this._flow.session.live.chunkSeconds(situation);
    const isShort = existsSeconds < chunkSeconds + Math.min(chunkSeconds, FAR_BELOW_SECONDS);
    const isSlow = !this.pace && missingSeconds > SLOW_SECONDS * (1 - playbackRates.min);
    // A buffer longer than the target latency means that the stream's time is wrong.
    this._isWaiting = this._isWaiting
      ? missingSeconds > REACHED_SECONDS && bufferLevelSeconds < targetLatencySeconds
      : missingSeconds > FAR_BELOW_SECONDS && (isShort || isSlow);
    return this._isWaiting;
  }

  /**
   * Sets the rate, at most once in `CHANGE_MS` except to 1. Returns how long the pace's rate still has to wait.
   * `presentRate`: the rate that plays now.
   */
  private _set(pace: Pace, presentRate: number, latencySeconds: number, nowMs: number): number {
    const held = this._held;
    const isLate = latencySeconds > pace.targetLatencySeconds + HIDDEN_LATE_SECONDS;
    const isTimely = !this._host.isHidden() || isLate;
    const rate = pace.jump || !isTimely ? 1 : onStep(pace.playbackRate, this._rate.rateStep);
    if (held && isSame(rate, held.rate) && isSame(rate, presentRate)) return 0;
    const waitsMs = held && rate !== 1 ? held.atMs + CHANGE_MS - nowMs : 0;
    if (waitsMs > 0) return waitsMs;
    this._setRate(rate, nowMs);
    return 0;
  }

  private _setRate(rate: number, atMs: number): void {
    this._held = { rate, atMs };
    this._rate.setPlaybackRate(rate);
  }

  /** The rate or the target differs from the last event's. */
  private _isNews({ targetLatencySeconds }: Pace, nowMs: number): boolean {
    const emitted = this._emitted;
    if (!emitted || !isSame(this._held!.rate, emitted.rate)) return true;
    return !isSame(targetLatencySeconds, emitted.targetSeconds) && nowMs - emitted.atMs >= CHANGE_MS;
  }
}

const isSame = (a: number, b: number) => Math.abs(a - b) < SAME;

/** A controller of the page may return anything. */
function checked(pace: Pace, { playbackRates: { min, max } }: LiveState): Pace {
  const { playbackRate: rate, targetLatencySeconds: target }: Partial<Pace> = pace || {};
  const isValid = rate! >= min - SAME && rate! <= max + SAME && target! > 0 && target! < Number.POSITIVE_INFINITY;
  if (!isValid) throw new Error(`expected a rate from ${min} to ${max} and a latency, got ${rate} and ${target} s`);
  return { ...pace, playbackRate: Math.max(min, Math.min(max, rate!)) };
}
