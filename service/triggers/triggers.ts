/** Evaluates triggers with each second of the dish, even a late one, and with each handover. */

import { randomUUID } from 'node:crypto';
import type { Comparison, Metric, Trigger } from './config.ts';

export type MetricValues = { readonly [Name in Metric]?: number | undefined };

export interface FiredTrigger {
  /** Unique, so that receivers can drop duplicates. */
  id: string;
  name: string;
  atMs: number;
  metric: Metric;
  value: number;
  threshold: number;
  message: string;
}

interface Sample {
  atSeconds: number;
  value: number;
}

interface Watch {
  trigger: Trigger;
  /** Known values of the window and of those before it, oldest first. */
  samples: Sample[];
  firstSeconds: number | undefined;
  /** Since when the comparison has held, by the end of the first window. */
  holdsFromSeconds: number | undefined;
  silentUntilSeconds: number;
}

/** The ends of the dish's seconds are estimated to some tenths of a second. */
const SLACK_SECONDS = 0.5;

export class Triggers {
  readonly #watches: Watch[];

  constructor(triggers: readonly Trigger[]) {
    this.#watches = triggers.map((trigger) => ({
      trigger,
      samples: [],
      firstSeconds: undefined,
      holdsFromSeconds: undefined,
      silentUntilSeconds: Number.NEGATIVE_INFINITY,
    }));
  }

  /** The second that ended at `atSeconds` of an even clock, which must ascend per metric; undefined values are unknown. */
  observe(values: MetricValues, { atSeconds, atMs }: { atSeconds: number; atMs: number }): FiredTrigger[] {
    return this.#watches.flatMap((watch) => {
      const { trigger } = watch;
      const { name, metric, comparison, windowSeconds, forWindows, holdOffSeconds } = trigger;
      if (!(metric in values)) return [];
      const compared = compare(watch, values[metric], atSeconds);
      if (compared?.holds !== true) watch.holdsFromSeconds = undefined;
      if (compared === undefined || !compared.holds) return [];
      watch.holdsFromSeconds ??= atSeconds;
      const heldSeconds = atSeconds - watch.holdsFromSeconds + SLACK_SECONDS;
      if (heldSeconds < (forWindows - 1) * windowSeconds || atSeconds < watch.silentUntilSeconds) return [];
      watch.silentUntilSeconds = atSeconds + holdOffSeconds - SLACK_SECONDS;
      const { value, threshold } = compared;
      const message = `${metric} ${shown(value)} ${comparison} ${shown(threshold)}`;
      return [{ id: randomUUID(), name, atMs, metric, value, threshold, message }];
    });
  }
}

/** Undefined while the second, or the threshold, is unknown. */
function compare(watch: Watch, newest: number | undefined, atSeconds: number) {
  const { trigger, samples } = watch;
  const { windowSeconds, threshold } = trigger;
  if (newest === undefined || !Number.isFinite(newest)) return undefined;
  samples.push({ atSeconds, value: newest });
  watch.firstSeconds ??= atSeconds;
  const windowFrom = atSeconds - windowSeconds + SLACK_SECONDS;
  const pastFrom = typeof threshold === 'number' ? windowFrom : windowFrom - threshold.windows * windowSeconds;
  while (samples[0]!.atSeconds < pastFrom) samples.shift();
  if (watch.firstSeconds > pastFrom + 2 * SLACK_SECONDS) return undefined;
  const value = meanOf(samples.filter((sample) => sample.atSeconds >= windowFrom));
  const past = samples.filter((sample) => sample.atSeconds < windowFrom);
  if (typeof threshold === 'number') return { value, threshold, holds: HOLDS[trigger.comparison](value, threshold) };
  if (past.length === 0) return undefined;
  const limit = threshold.times * meanOf(past);
  return { value, threshold: limit, holds: HOLDS[trigger.comparison](value, limit) };
}

const HOLDS: Readonly<Record<Comparison, (value: number, threshold: number) => boolean>> = {
  '>': (value, threshold) => value > threshold,
  '>=': (value, threshold) => value >= threshold,
  '<': (value, threshold) => value < threshold,
  '<=': (value, threshold) => value <= threshold,
};

function meanOf(samples: readonly Sample[]): number {
  return samples.reduce((sum, { value }) => sum + value, 0) / samples.length;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(3)));
}
