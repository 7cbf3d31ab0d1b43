/**
 * Reconsiders downloads while they are under way. dash.js asks its own abandonment rules at progress events only, so in an
 * outage never; this has a timer of its own. In a hidden tab browsers let timers fire once a second or more rarely: then a
 * download is reconsidered that much later.
 */

import type { AbrController, FragmentRequest } from 'dashjs';
import { periodOf } from './player.ts';
import type { Opinion } from './rule.ts';

const TICK_MS = 100;
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

/** Watches as long as a request is under way: to be called when one was sent and when one has ended. */
export function createAbandoner(options: AbandonerOptions): { update(): void; stop(): void } {
  const { clockMs, activeRequest, reconsider, abrController, onTick, guard } = options;
  let timer: ReturnType<typeof setInterval> | undefined;
  let given: { request: FragmentRequest; atMs: number } | undefined;

  function tick(): void {
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
      else timer ??= setInterval(() => guard(tick), TICK_MS);
    },
    stop,
  };
}
