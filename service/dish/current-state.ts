/** The state of a dish, its beginning and its cause. */

import type { DishReply, DishStateName } from '../api/wire.ts';
import { type Clock, utcMsOf } from '../clock.ts';
import { defined, type TelemetrySecond } from '../telemetry.ts';
import type { OutageCause } from './device-api.ts';
import type { StatusReading } from './read-answers.ts';

/** If a second loses at least this share of pings, it is an outage, even if the dish reports no outage. */
export const OUTAGE_DROP_RATE = 0.99;
const ASLEEP: readonly (OutageCause | undefined)[] = ['SLEEPING', 'STOWED'];

export class CurrentState {
  state: DishStateName = 'connecting';
  private _sinceMonotonicMs: number;
  private _detail: string | undefined;

  constructor(private readonly _options: { clock: Clock; onStateChange(): void }) {
    this._sinceMonotonicMs = _options.clock.monotonicMs();
  }

  reply(): Pick<DishReply, 'state' | 'sinceMs' | 'detail'> {
    const sinceMs = utcMsOf(this._sinceMonotonicMs, this._options.clock);
    return { state: this.state, sinceMs, ...defined({ detail: this._detail }) };
  }

  show({ outage, second }: Pick<StatusReading, 'outage'> & { second: TelemetrySecond }): void {
    const detail = outage?.toLowerCase().replaceAll('_', ' ');
    if (outage === 'BOOTING') this.enter('rebooting', detail);
    else if (ASLEEP.includes(outage)) this.enter('asleep', detail);
    else if (second.obstructed === true) this.enter('obstructed', detail);
    else if (outage !== undefined) this.enter('outage', detail);
    else if ((second.dropRate ?? 0) >= OUTAGE_DROP_RATE) this.enter('outage', 'no pings come back');
    else this.enter('online', undefined);
  }

  enter(state: DishStateName, detail: string | undefined): void {
    this._detail = detail;
    if (state === this.state) return;
    this.state = state;
    this._sinceMonotonicMs = this._options.clock.monotonicMs();
    this._options.onStateChange();
  }
}
