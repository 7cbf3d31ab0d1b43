/** Outages and obstruction per minute of the last hour, on the session clock. */

import type { HistoryReply } from '../api/wire.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import { OUTAGE_DROP_RATE } from './current-state.ts';

const MINUTES = 60;

/** Obstructed seconds do not count as outage. */
type Minute = Omit<HistoryReply['lastHour'][number], 'startMs'> & { startSeconds: number };

export class LastHour {
  private readonly _minutes = new Map<number, Minute>();

  /** `atSeconds` is the end of the second. The dish's history does not say whether a second was obstructed. */
  observe(atSeconds: number, { dropRate, obstructed = false }: TelemetrySecond): void {
    if (dropRate === undefined && !obstructed) return;
    const number = Math.ceil(atSeconds / 60) - 1;
    const startSeconds = number * 60;
    const empty = { startSeconds, observedSeconds: 0, outageSeconds: 0, obstructedSeconds: 0 };
    const minute = this._minutes.get(number) ?? empty;
    minute.observedSeconds++;
    if (obstructed) minute.obstructedSeconds++;
    else if (dropRate! >= OUTAGE_DROP_RATE) minute.outageSeconds++;
    this._minutes.set(number, minute);
    for (const old of this._minutes.keys()) if (old <= number - MINUTES) this._minutes.delete(old);
  }

  /** Returns the observed minutes of the last hour, oldest first. */
  minutes(nowSeconds: number): Minute[] {
    return [...this._minutes.values()].filter(({ startSeconds }) => startSeconds > nowSeconds - (MINUTES + 1) * 60);
  }
}
