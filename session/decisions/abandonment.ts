/** Reconsiders the video download in flight at every tick. */

import type { Forecasting } from '../forecasting/forecasting.ts';
import type { PlayerPort } from '../player-port.ts';
import type { Session } from '../requests/session.ts';
import type { Decisions } from './decisions.ts';
import type { Ticking } from './ticker.ts';

/** A player that has not requested the segment again within this time will not do so. */
const ANSWER_WITHIN_SECONDS = 1;

interface AbandonmentParts {
  port: Pick<PlayerPort, 'abandon'>;
  session: Session;
  forecasting: Pick<Forecasting, 'hasPageForecasters' | 'meter'> | undefined;
  decisions: Pick<Decisions, 'reconsider'>;
  /** Counts all bits that have arrived. */
  readArrived(): void;
}

export class Abandonment implements Ticking {
  constructor(private readonly _parts: AbandonmentParts) {}

  isNeeded(): boolean {
    return this._parts.session.record.active !== undefined;
  }

  readonly tick = (atSeconds: number): void => {
    const { port, session, forecasting, decisions, readArrived } = this._parts;
    if (forecasting?.hasPageForecasters) {
      readArrived();
      forecasting.meter.advance(atSeconds);
    }
    const { active: download } = session.record;
    // A chunk that does not exist yet cannot be late.
    if (!download || atSeconds < download.keptUntilSeconds || download.link.isWaiting(atSeconds)) return;
    // The origin is slow, not the link.
    if (download.firstByteAtSeconds === undefined && atSeconds < download.dueSeconds) return;
    const choice = decisions.reconsider(atSeconds);
    if (choice === undefined || choice.representationId === download.segment.representation.id) return;
    download.keptUntilSeconds = atSeconds + ANSWER_WITHIN_SECONDS;
    port.abandon(choice);
  };
}
