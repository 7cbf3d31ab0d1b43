/**
 * Reconsiders downloads while they are under way. dash.js asks its own abandonment rules at progress events only, so in an
 * outage never; this has a timer of its own. In a hidden tab browsers let timers fire once a second or more rarely, but not
 * progress events: there, these take the timer's place while bytes come.
 */

import type { AbrController, FragmentRequest } from 'dashjs';
import { periodOf } from './player.ts';
import type { Opinion } from './rule.ts';

const TICK_MS = 100;
/** At a progress event a download is reconsidered where that was not done for so long: the timer is slow. */
const LATE_TICK_MS = 2 * TICK_MS;
/** dash.js has repeated the segment well before this, or it will not. */
const ANSWER_WITHIN_MS = 1000;

export interface AbandonerOptions {
  clockMs: () => number;
  /** The video request under way. */
  activeRequest: () => FragmentRequest | undefined;
  /** What to load instead; undefined to go on. */
  reconsider: (request: FragmentRequest) => Opinion;
  /** dash.js's controller, as our rule was last given it; undefined where it cannot abandon at once. */
  abrController: () => AbrController | undefined;
  /** Called at each tick. */
  onTick: () => void;
  /** Runs a handler so that nothing of it is thrown. */
  guard: (handler: () => void) => void;
}

export interface Abandoner {
  /** To be called when a request was sent, and when one has ended. */
  update(): void;
  /** Bytes have come. */
  progressed(): void;
  stop(): void;
}

/** Watches as long as a request is under way. */
export function createAbandoner(options: AbandonerOptions): Abandoner {
  const { clockMs, activeRequest, reconsider, abrController, onTick, guard } = options;
  let timer: ReturnType<typeof setInterval> | undefined;
  let tickedMs = 0;
  let given: { request: FragmentRequest; atMs: number } | undefined;

  function tick(): void {
    tickedMs = clockMs();
    onTick();
    const request = activeRequest();
    const controller = abrController();
    if (request === undefined || controller === undefined) return;
    if (given?.request === request && clockMs() - given.atMs < ANSWER_WITHIN_MS) return;
    const opinion = reconsider(request);
    if (opinion === undefined || opinion.representation.id === request.representation!.id) return;
    given = { request, atMs: clockMs() };
    const { representation, message } = opinion;
    controller.setPlaybackQuality('video', periodOf(request), representation, { forceAbandon: true, message });
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    given = undefined;
  }

  return {
    update() {
      if (activeRequest() === undefined) stop();
      else if (timer === undefined) {
        tickedMs = clockMs();
        timer = setInterval(() => guard(tick), TICK_MS);
      }
    },
    progressed() {
      if (timer === undefined || clockMs() - tickedMs < LATE_TICK_MS) return;
      tickedMs = clockMs();
      // Not within dash.js's own handling of the event.
      queueMicrotask(() => guard(tick));
    },
    stop,
  };
}
