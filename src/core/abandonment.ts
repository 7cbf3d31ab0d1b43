/** Reconsiders the video download in flight at every tick. */

import type { Decisions } from './decisions.ts';
import type { LifeCycle } from './life-cycle.ts';
import type { PlayerPort } from './player-port.ts';
import type { ActiveDownload } from './session.ts';
import type { Ticking } from './ticker.ts';

/** A player that has not requested the segment again within this time will not do so. */
const ANSWER_WITHIN_MS = 1000;

export function createAbandonment(
  port: Pick<PlayerPort, 'abandon'>,
  life: LifeCycle,
  decisions: Pick<Decisions, 'reconsider'>,
): Ticking {
  const clockMs = () => performance.now();
  let abandoned: { download: ActiveDownload; atMs: number } | undefined;
  const active = () => life.session().active;

  return {
    isNeeded: () => active() !== undefined,
    tick() {
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
    },
  };
}
