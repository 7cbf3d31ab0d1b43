/** Evaluates triggers, second by second. */

import { median } from '../../abr/quantile.ts';
import { type Comparison, METRICS, type Metric, type Statistic, type Trigger } from './config.ts';

export type MetricValues = { readonly [Name in Metric]?: number | undefined };

export interface FiredTrigger {
  name: string;
  atMs: number;
  metric: Metric;
  value: number;
  threshold: number;
  message: string;
}

interface Watch {
  trigger: Trigger;
  /** Number of the newest window, and whether it is still open. */
  window: number;
  isOpen: boolean;
  values: number[];
  /** Aggregates of closed windows with values, newest last. */
  past: number[];
  /** Consecutive windows in which the comparison held. */
  held: number;
  silentUntilSeconds: number;
}

export class TriggerEngine {
  readonly #watches: Watch[];

  constructor(triggers: readonly Trigger[]) {
    this.#watches = triggers.map((trigger) => ({
      trigger,
      window: Number.NEGATIVE_INFINITY,
      isOpen: false,
      values: [],
      past: [],
      held: 0,
      silentUntilSeconds: Number.NEGATIVE_INFINITY,
    }));
  }

  /**
   * Observes the second that ended at `atSeconds` of an even clock, which must ascend per metric. A metric whose value
   * is undefined was unknown in this second; triggers of absent metrics are not evaluated.
   */
  observe(values: MetricValues, { atSeconds, atMs }: { atSeconds: number; atMs: number }): FiredTrigger[] {
    return this.#watches.flatMap((watch) => {
      const { trigger } = watch;
      if (!(trigger.metric in values)) return [];
      const value = values[trigger.metric];
      const window = Math.ceil(atSeconds / trigger.windowSeconds - 1e-6);
      const fired: FiredTrigger[] = [];
      if (window > watch.window) {
        // Still open if the last second of the previous window is missing.
        if (watch.isOpen) fired.push(...this.#close(watch, { atSeconds, atMs }));
        if (window > watch.window + 1) watch.held = 0;
        watch.window = window;
        watch.isOpen = true;
      }
      if (value !== undefined && Number.isFinite(value)) watch.values.push(value);
      const isLast = Math.ceil((atSeconds + 1) / trigger.windowSeconds - 1e-6) > window;
      if (isLast) fired.push(...this.#close(watch, { atSeconds, atMs }));
      return fired;
    });
  }

  #close(watch: Watch, { atSeconds, atMs }: { atSeconds: number; atMs: number }): FiredTrigger[] {
    const { trigger, values, past } = watch;
    watch.isOpen = false;
    if (values.length === 0) {
      watch.held = 0;
      return [];
    }
    const value = statistic(METRICS[trigger.metric], values);
    watch.values = [];
    const threshold = thresholdNow(trigger, past);
    if (typeof trigger.threshold !== 'number') {
      past.push(value);
      if (past.length > trigger.threshold.windows) past.shift();
    }
    const holds = threshold !== undefined && compare(value, trigger.comparison, threshold);
    watch.held = holds ? watch.held + 1 : 0;
    if (threshold === undefined || watch.held < trigger.forWindows || atSeconds < watch.silentUntilSeconds) return [];
    watch.silentUntilSeconds = atSeconds + trigger.holdOffSeconds;
    const { name, metric, comparison } = trigger;
    const message = `${metric} ${shown(value)} ${comparison} ${shown(threshold)}`;
    return [{ name, atMs, metric, value, threshold, message }];
  }
}

/** Undefined until there are enough past windows. */
function thresholdNow({ threshold }: Trigger, past: readonly number[]): number | undefined {
  if (typeof threshold === 'number') return threshold;
  return past.length < threshold.windows ? undefined : threshold.times * statistic(threshold.of, past);
}

function statistic(of: Statistic, values: readonly number[]): number {
  if (of === 'min') return Math.min(...values);
  if (of === 'max') return Math.max(...values);
  return of === 'median' ? median(values) : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function compare(value: number, comparison: Comparison, threshold: number): boolean {
  if (comparison === '>') return value > threshold;
  if (comparison === '>=') return value >= threshold;
  return comparison === '<' ? value < threshold : value <= threshold;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(3)));
}
