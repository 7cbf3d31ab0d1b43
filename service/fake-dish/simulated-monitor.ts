/** Watches a simulated dish, as `DishMonitor` watches a real dish, but without a network. */

import type { DishReply } from '../api/wire.ts';
import { CurrentState } from '../dish/current-state.ts';
import type { DishMonitorOptions } from '../dish/dish-monitor.ts';
import { defined } from '../telemetry.ts';
import type { DishScript, SimulatedSecond } from './simulated-dish.ts';

type Options = Pick<DishMonitorOptions, 'clock' | 'onSecond' | 'onStateChange'> & { script: DishScript };

const PERIOD_MS = 1000;
const HISTORY_MS = 900_000;

export class SimulatedMonitor {
  private _newestMs: number;
  private readonly _current: CurrentState;
  private _second: SimulatedSecond | undefined;
  private _timer: NodeJS.Timeout | undefined;
  readonly location = undefined;

  constructor(private readonly _options: Options) {
    this._newestMs = Math.floor(this._options.clock.utcMs() / PERIOD_MS) * PERIOD_MS - HISTORY_MS;
    this._current = new CurrentState(_options);
  }

  start(): void {
    this._timer = setInterval(() => this._advance(), PERIOD_MS);
    this._advance();
  }

  close(): void {
    clearInterval(this._timer);
  }

  reply(): DishReply {
    const { latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps } = this._second ?? {};
    return {
      ...this._current.reply(),
      hardware: 'simulated',
      ...defined({ latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps }),
    };
  }

  private _advance(): void {
    const { script, onSecond } = this._options;
    const lastMs = Math.floor(this._options.clock.utcMs() / PERIOD_MS) * PERIOD_MS;
    this._newestMs = Math.max(Math.min(this._newestMs, lastMs), lastMs - HISTORY_MS);
    while (this._newestMs < lastMs) {
      this._newestMs += PERIOD_MS;
      this._second = script.at(this._newestMs);
      const { outage, ...second } = this._second;
      onSecond({ ...second, ...(second.atMs < lastMs && { fromHistory: true }) });
    }
    if (this._second !== undefined) this._current.show({ outage: this._second.outage, second: this._second });
  }
}
