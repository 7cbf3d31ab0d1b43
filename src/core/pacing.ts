/** Asks a controller that has `pace` for the playback rate of a live stream, ten times a second, and sets it. */

import { type Controller, type LiveState, type Pace, RATE_HELD_SECONDS } from '../../abr/controller.ts';
import { countRate } from '../../abr/off-rate.ts';
import type { Events } from './events.ts';
import type { LifeCycle } from './life-cycle.ts';
import type { LiveOptions } from './options.ts';
import type { LivePosition, PlayerPort, RatePort } from './player-port.ts';
import { playerState } from './player-state.ts';
import { inFlightOf } from './session.ts';
import type { Ticking } from './ticker.ts';

/** Smaller differences of rates, and of latencies in seconds, count as none. */
const SAME = 0.005;
/** The rate changes, and a new target is reported, at most once in this time. */
const CHANGE_MS = 1000 * RATE_HELD_SECONDS;
/** After a jump, the player loads a segment before it plays on. */
const JUMP_MS = 5000;
/** Timers are late in a hidden tab: there the rate is 1, unless playback is later than this. */
const HIDDEN_LATE_SECONDS = 1;

export interface Pacing extends Ticking {
  /** Gives the rate back to the player. */
  release(): void;
}

export function createPacing(
  player: RatePort,
  port: Pick<PlayerPort, 'situation'>,
  life: LifeCycle,
  events: Events,
): Pacing {
  /** The rate that was set; undefined while the player sets it. */
  let held: { rate: number; atMs: number } | undefined;
  let emitted: { rate: number; targetSeconds: number; atMs: number } | undefined;
  let jumpedMs = Number.NEGATIVE_INFINITY;
  let failed: Controller | undefined;

  function release(): void {
    life.session().lastPace = undefined;
    emitted = undefined;
    if (held === undefined) return;
    held = undefined;
    player.setPlaybackRate(undefined);
  }

  /** Returns false where the rate is the player's. */
  function hold(): boolean {
    const session = life.session();
    const controller = life.controller();
    const isAsked = session.started && controller.pace && controller !== failed;
    const situation = isAsked ? port.situation(false) : undefined;
    if (!situation?.live?.isCaughtUp) return false;
    const { playback, period } = situation;
    const present = playback.playbackRate;
    const nowSeconds = life.nowSeconds();
    const inFlight = inFlightOf(session, nowSeconds);
    const isViewers = held !== undefined && !isSame(present, held.rate) && present !== 1;
    const isElsewhere = inFlight && period.id !== session.active?.segment.period.id;
    if (playback.isPaused || isViewers || isElsewhere) return true;

    session.offRate = countRate(nowSeconds, present, session.offRate);
    const state = playerState(life, situation, inFlight);
    const forecast = life.forecast(state);
    const live = state.live!;
    const pace = events.attempt('controller-failed', 'the controller set no pace', () =>
      checked(controller.pace!(state, inFlight, forecast), live),
    );
    if (pace === undefined) {
      failed = controller;
      return false;
    }
    session.lastPace = pace;
    const { targetLatencySeconds: targetSeconds } = pace;
    const nowMs = performance.now();
    const isJump = pace.jump && nowMs - jumpedMs >= JUMP_MS;
    const isTimely = !globalThis.document?.hidden || live.latencySeconds > targetSeconds + HIDDEN_LATE_SECONDS;
    const rate = pace.jump || !isTimely ? 1 : onStep(pace.playbackRate, player.rateStep);
    const isDue = !held || rate === 1 || nowMs - held.atMs >= CHANGE_MS;
    const isKept = held && isSame(rate, held.rate) && isSame(rate, present);
    if (!held || (isDue && !isKept)) {
      held = { rate, atMs: nowMs };
      player.setPlaybackRate(rate);
    }
    if (isJump) {
      jumpedMs = nowMs;
      player.jumpToLive(targetSeconds);
    }
    const isNewTarget =
      !emitted || (!isSame(targetSeconds, emitted.targetSeconds) && nowMs - emitted.atMs >= CHANGE_MS);
    if (isJump || isNewTarget || !isSame(held.rate, emitted!.rate)) {
      emitted = { rate: held.rate, targetSeconds, atMs: nowMs };
      events.pace({ session: session.number, pace, playbackRate: held.rate, state, inFlight, forecast });
    }
    return true;
  }

  return {
    isNeeded: () => held !== undefined || (life.session().isLive && life.controller().pace !== undefined),
    tick() {
      if (!life.guard(hold)) release();
    },
    release,
  };
}

const isSame = (a: number, b: number) => Math.abs(a - b) < SAME;

/** The rate of a whole number of steps from 1 that is nearest towards 1. */
const onStep = (rate: number, step: number | undefined) =>
  step === undefined ? rate : 1 + Math.trunc((rate - 1) / step) * step;

/** What `LiveState` has of the player's limits and of the options. `isTargetChosen`: by the viewer. */
export function limited(
  { minPlaybackRate, maxPlaybackRate, maxLatencySeconds = 0, targetLatencySeconds }: LiveOptions,
  { rateStep }: Pick<RatePort, 'rateStep'>,
  player: Pick<LivePosition, 'playbackRates' | 'maxLatencySeconds'> & {
    targetSeconds: number;
    isTargetChosen: boolean;
  },
): Pick<LivePosition, 'playbackRates' | 'maxLatencySeconds' | 'isTargetFree'> {
  const { min, max } = player.playbackRates;
  return {
    playbackRates: { min: onStep(minPlaybackRate ?? min, rateStep), max: onStep(maxPlaybackRate ?? max, rateStep) },
    // The viewer may have chosen a later target.
    maxLatencySeconds: maxLatencySeconds > player.targetSeconds ? maxLatencySeconds : player.maxLatencySeconds,
    ...(targetLatencySeconds === 'auto' && !player.isTargetChosen && { isTargetFree: true }),
  };
}

/** A controller of the page may return anything. */
function checked(pace: Pace, { playbackRates: { min, max } }: LiveState): Pace {
  const { playbackRate: rate, targetLatencySeconds: target }: Partial<Pace> = pace ?? {};
  const isValid = rate! >= min - SAME && rate! <= max + SAME && target! > 0 && target! < Number.POSITIVE_INFINITY;
  if (!isValid) throw new Error(`expected a rate from ${min} to ${max} and a latency, got ${rate} and ${target} s`);
  return { ...pace, playbackRate: Math.max(min, Math.min(max, rate!)) };
}
