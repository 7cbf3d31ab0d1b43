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
  #newestMs: number;
  readonly #current: CurrentState;
  #second: SimulatedSecond | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly location = undefined;

  constructor(private readonly options: Options) {
    this.#newestMs = Math.floor(this.options.clock.utcMs() / PERIOD_MS) * PERIOD_MS - HISTORY_MS;
    this.#current = new CurrentState(options);
  }

  start(): void {
    this.#timer = setInterval(() => this.#advance(), PERIOD_MS);
    this.#advance();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  reply(): DishReply {
    const { latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps } = this.#second ?? {};
    return {
      ...this.#current.reply(),
      hardware: 'simulated',
      ...defined({ latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps }),
    };
  }

  #advance(): void {
    const { script, onSecond } = this.options;
    const lastMs = Math.floor(this.options.clock.utcMs() / PERIOD_MS) * PERIOD_MS;
    this.#newestMs = Math.max(Math.min(this.#newestMs, lastMs), lastMs - HISTORY_MS);
    while (this.#newestMs < lastMs) {
      this.#newestMs += PERIOD_MS;
      this.#second = script.at(this.#newestMs);
      const { outage, ...second } = this.#second;
      onSecond({ ...second, ...(second.atMs < lastMs && { fromHistory: true }) });
    }
    if (this.#second !== undefined) this.#current.show({ outage: this.#second.outage, second: this.#second });
  }
}
