/** Watches a simulated dish as `DishMonitor` watches a real one, without network. */

import type { DishReply } from '../api/wire.ts';
import { type Clock, utcMsOf } from '../clock.ts';
import { type DishMonitorOptions, stateOf } from '../dish/dish-monitor.ts';
import { defined } from '../telemetry.ts';
import type { DishScript, SimulatedSecond } from './simulated-dish.ts';

export interface SimulatedMonitorOptions extends Pick<DishMonitorOptions, 'clock' | 'onSecond' | 'onStateChange'> {
  script: DishScript;
}

const PERIOD_MS = 1000;
const HISTORY_MS = 900_000;

export class SimulatedMonitor {
  readonly #options: SimulatedMonitorOptions;
  readonly #clock: Clock;
  /** The dish's own clock does not follow steps of the machine's. */
  readonly #utcOffsetMs: number;
  /** Ends of the newest second and of the first one, by the dish's clock. */
  #newestMs: number;
  #state: DishReply['state'] = 'connecting';
  #detail: string | undefined;
  #sinceMs: number;
  #second: SimulatedSecond | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly location = undefined;

  constructor(options: SimulatedMonitorOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#utcOffsetMs = this.#clock.utcMs() - this.#clock.monotonicMs();
    this.#newestMs = Math.floor(this.#clock.utcMs() / PERIOD_MS) * PERIOD_MS - HISTORY_MS;
    this.#sinceMs = this.#clock.monotonicMs();
  }

  start(): void {
    this.#timer = setInterval(() => this.#advance(), PERIOD_MS);
    this.#advance();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  reply(): DishReply {
    const { latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps } = this.#second ?? {};
    return {
      state: this.#state,
      sinceMs: utcMsOf(this.#sinceMs, this.#clock),
      hardware: 'simulated',
      ...defined({ detail: this.#detail, latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps }),
    };
  }

  #advance(): void {
    const { script, onSecond, onStateChange } = this.#options;
    const dishMs = this.#clock.monotonicMs() + this.#utcOffsetMs;
    const leapMs = this.#clock.utcMs() - dishMs;
    const lastMs = Math.floor(dishMs / PERIOD_MS) * PERIOD_MS;
    this.#newestMs = Math.max(this.#newestMs, lastMs - HISTORY_MS);
    while (this.#newestMs < lastMs) {
      this.#newestMs += PERIOD_MS;
      this.#second = script.at(this.#newestMs);
      const { atMs, outage, ...second } = this.#second;
      onSecond({ ...second, atMs: Math.round(atMs + leapMs), ...(atMs < lastMs && { fromHistory: true }) });
    }
    if (this.#second === undefined) return;
    const { state, detail } = stateOf({ outage: this.#second.outage, second: this.#second }, false);
    this.#detail = detail;
    if (state === this.#state) return;
    this.#state = state;
    this.#sinceMs = this.#clock.monotonicMs();
    onStateChange();
  }
}
