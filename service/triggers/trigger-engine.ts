/** Looks at metrics second by second and says which triggers fire. */

import { type Comparison, METRICS, type Metric, type Statistic, type Trigger } from './config.ts';

export type MetricValues = { readonly [Name in Metric]?: number | undefined };

/** As it goes out as an event and to the webhook. */
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
  /** Number of the newest window, and whether it still counts seconds. */
  window: number;
  isOpen: boolean;
  values: number[];
  /** Of closed windows, newest last; those without a value are left out. */
  past: number[];
  /** Windows in a row for which it held. */
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
   * The metrics of the second that ended at `atSeconds` of an even clock; each metric in order of time. Triggers of metrics
   * that are not among the values are left alone; one whose value is undefined was not known in that second.
   */
  observe(values: MetricValues, { atSeconds, atMs }: { atSeconds: number; atMs: number }): FiredTrigger[] {
    return this.#watches.flatMap((watch) => {
      const { trigger } = watch;
      if (!(trigger.metric in values)) return [];
      const value = values[trigger.metric];
      // The second belongs to the window that it ends in.
      const window = Math.ceil(atSeconds / trigger.windowSeconds - 1e-6);
      const fired: FiredTrigger[] = [];
      if (window > watch.window) {
        // The last second of the one before did not come.
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
    const value = METRICS[trigger.metric] === 'max' ? Math.max(...values) : statistic('mean', values);
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

/** Undefined while there are not enough windows to compare with. */
function thresholdNow({ threshold }: Trigger, past: readonly number[]): number | undefined {
  if (typeof threshold === 'number') return threshold;
  return past.length < threshold.windows ? undefined : threshold.times * statistic(threshold.of, past);
}

function statistic(of: Statistic, values: readonly number[]): number {
  if (of === 'mean') return values.reduce((sum, value) => sum + value, 0) / values.length;
  const sorted = [...values].sort((a, b) => a - b);
  if (of === 'min') return sorted[0]!;
  if (of === 'max') return sorted.at(-1)!;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function compare(value: number, comparison: Comparison, threshold: number): boolean {
  if (comparison === '>') return value > threshold;
  if (comparison === '>=') return value >= threshold;
  return comparison === '<' ? value < threshold : value <= threshold;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(3)));
}
