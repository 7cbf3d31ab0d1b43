/**
 * Reconsiders the video download in flight ten times a second, from a timer, because players emit no events in an
 * outage. Browsers throttle timers in hidden tabs but not progress events, which trigger the check there.
 */

import type { Decisions } from './decisions.ts';
import type { LifeCycle } from './life-cycle.ts';
import type { PlayerPort } from './player-port.ts';
import type { ActiveDownload } from './session.ts';

const TICK_MS = 100;
/** If the timer is this late, progress events trigger the check. */
const LATE_TICK_MS = 2 * TICK_MS;
/** A player that has not requested the segment again within this time will not do so. */
const ANSWER_WITHIN_MS = 1000;

export type Abandonment = ReturnType<typeof createAbandonment>;

/** The timer runs while a video download is in flight. */
export function createAbandonment(
  port: Pick<PlayerPort, 'abandon'>,
  life: LifeCycle,
  decisions: Pick<Decisions, 'reconsider'>,
) {
  const clockMs = () => performance.now();
  let timer: ReturnType<typeof setInterval> | undefined;
  let tickedMs = 0;
  let abandoned: { download: ActiveDownload; atMs: number } | undefined;
  const active = () => life.session().active;

  function tick(): void {
    tickedMs = clockMs();
    life.meter()?.advance(life.nowSeconds());
    const download = active();
    if (download === undefined) return;
    // Nothing is late that does not exist.
    if (download.live && download.live.nextChunkAtSeconds > life.nowSeconds()) return;
    if (abandoned?.download === download && clockMs() - abandoned.atMs < ANSWER_WITHIN_MS) return;
    const choice = decisions.reconsider();
    if (choice === undefined || choice.representationId === download.segment.representation.id) return;
    abandoned = { download, atMs: clockMs() };
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
      if (active() === undefined) stop();
      else if (timer === undefined) {
        tickedMs = clockMs();
        timer = setInterval(() => life.guard(tick), TICK_MS);
      }
    },
    /** Bits have arrived. */
    progressed() {
      if (timer === undefined || clockMs() - tickedMs < LATE_TICK_MS) return;
      tickedMs = clockMs();
      // The player finishes handling its own event first.
      queueMicrotask(() => life.guard(tick));
    },
    stop,
  };
}
