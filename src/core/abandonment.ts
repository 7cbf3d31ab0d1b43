/**
 * Reconsiders the video download in flight ten times a second. A timer of its own does this, because no event of a player
 * occurs in an outage. Browsers slow timers down in a hidden tab, but not progress events: there they take its place.
 */

import type { Decisions } from './decisions.ts';
import type { Downloads } from './downloads.ts';
import type { PlayerPort } from './player-port.ts';

const TICK_MS = 100;
/** If the timer is this late, progress events trigger the check. */
const LATE_TICK_MS = 2 * TICK_MS;
/** A player that has not repeated the segment by now will not do so. */
const ANSWER_WITHIN_MS = 1000;

export interface AbandonmentOptions {
  port: Pick<PlayerPort, 'canAbandon' | 'abandon'>;
  downloads: Pick<Downloads, 'active'>;
  decisions: Pick<Decisions, 'reconsider'>;
  /** Called at each tick. */
  onTick: () => void;
  /** Runs `action` so that it throws nothing. */
  guard: (action: () => void) => void;
}

/** Ticks as long as a video download is in flight. */
export function createAbandonment({ port, downloads, decisions, onTick, guard }: AbandonmentOptions) {
  const clockMs = () => performance.now();
  let timer: ReturnType<typeof setInterval> | undefined;
  let tickedMs = 0;
  let abandoned: { request: object; atMs: number } | undefined;

  function tick(): void {
    tickedMs = clockMs();
    onTick();
    const active = downloads.active();
    if (active === undefined || !port.canAbandon()) return;
    const { request, segment } = active;
    if (abandoned?.request === request && clockMs() - abandoned.atMs < ANSWER_WITHIN_MS) return;
    const choice = decisions.reconsider();
    if (choice === undefined || choice.representationId === segment.representation.id) return;
    abandoned = { request, atMs: clockMs() };
    port.abandon(choice);
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    abandoned = undefined;
  }

  return {
    /** A download has begun or ended. */
    update() {
      if (downloads.active() === undefined) stop();
      else if (timer === undefined) {
        tickedMs = clockMs();
        timer = setInterval(() => guard(tick), TICK_MS);
      }
    },
    /** Bits have arrived. */
    progressed() {
      if (timer === undefined || clockMs() - tickedMs < LATE_TICK_MS) return;
      tickedMs = clockMs();
      // The player finishes handling its own event first.
      queueMicrotask(() => guard(tick));
    },
    stop,
  };
}
