/** Reconsiders the video download in flight at every tick. */

import type { Decisions } from './decisions.ts';
import type { Forecasting } from './forecasting.ts';
import type { PlayerPort } from './player-port.ts';
import type { Session } from './session.ts';
import type { SessionClock } from './session-clock.ts';
import type { Ticking } from './ticker.ts';
import type { VideoDownload } from './video-download.ts';

/** A player that has not requested the segment again within this time will not do so. */
const ANSWER_WITHIN_MS = 1000;

interface Parts {
  port: Pick<PlayerPort, 'abandon'>;
  session: Session;
  clock: SessionClock;
  forecasting: Forecasting | undefined;
  decisions: Pick<Decisions, 'reconsider'>;
}

export class Abandonment implements Ticking {
  #abandoned: { download: VideoDownload; atMs: number } | undefined;

  constructor(private readonly parts: Parts) {}

  isNeeded(): boolean {
    return this.parts.session.record.active !== undefined;
  }

  tick(): void {
    const { port, session, clock, forecasting, decisions } = this.parts;
    const nowSeconds = clock.nowSeconds();
    forecasting?.meter.advance(nowSeconds);
    const { active } = session.record;
    // A chunk that does not exist yet cannot be late.
    if (active === undefined || active.isWaiting(nowSeconds)) return;
    const nowMs = performance.now();
    if (this.#abandoned?.download === active && nowMs - this.#abandoned.atMs < ANSWER_WITHIN_MS) return;
    const choice = decisions.reconsider();
    if (choice === undefined || choice.representationId === active.segment.representation.id) return;
    this.#abandoned = { download: active, atMs: nowMs };
    port.abandon(choice);
  }
}
