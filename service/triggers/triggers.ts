/** Evaluates triggers with each second of the dish, even a late second, and with each handover. */

import { randomUUID } from 'node:crypto';
import type { FiredTrigger } from '../api/wire.ts';
import type { Metric, Trigger } from './config.ts';

export type MetricValues = { readonly [Name in Metric]?: number | boolean | undefined };

interface Watch {
  trigger: Trigger;
  /** Known values of the window and of the windows before it, oldest first. */
  samples: { atSeconds: number; value: number }[];
  firstSeconds: number | undefined;
  silentUntilSeconds: number;
}

/** The estimated ends of the dish's seconds are wrong by some tenths of a second. */
const SLACK_SECONDS = 0.5;

export class Triggers {
  private readonly _watches: Watch[];

  constructor(triggers: readonly Trigger[]) {
    this._watches = triggers.map((trigger) => {
      return { trigger, samples: [], firstSeconds: undefined, silentUntilSeconds: Number.NEGATIVE_INFINITY };
    });
  }

  /** Takes a second that ended at `atSeconds` of an even clock. Per metric, times must ascend. Undefined: unknown. */
  observe(values: MetricValues, { atSeconds, atMs }: { atSeconds: number; atMs: number }): FiredTrigger[] {
    return this._watches.flatMap((watch) => {
      const { name, metric, comparison, holdOffSeconds } = watch.trigger;
      const compared = compare(watch, values[metric], atSeconds);
      if (compared === undefined || !HOLDS[comparison](...compared) || atSeconds < watch.silentUntilSeconds) return [];
      watch.silentUntilSeconds = atSeconds + holdOffSeconds - SLACK_SECONDS;
      const [value, threshold] = compared;
      const message = `${metric} ${shown(value)} ${comparison} ${shown(threshold)}`;
      return [{ id: randomUUID(), name, atMs, metric, value, threshold, message }];
    });
  }
}

/** Returns the value and the threshold; undefined while either is unknown. */
function compare(watch: Watch, newest: number | boolean | undefined, atSeconds: number): [number, number] | undefined {
  const { trigger, samples } = watch;
  const { windowSeconds, threshold } = trigger;
  if (newest === undefined || Number.isNaN(newest)) return undefined;
  samples.push({ atSeconds, value: Number(newest) });
  watch.firstSeconds ??= atSeconds;
  const windowFrom = atSeconds - windowSeconds + SLACK_SECONDS;
  const pastFrom = typeof threshold === 'number' ? windowFrom : windowFrom - threshold.windows * windowSeconds;
  while (samples[0]!.atSeconds < pastFrom) samples.shift();
  if (watch.firstSeconds > pastFrom + 2 * SLACK_SECONDS) return undefined;
  const value = meanOf(samples.filter((sample) => sample.atSeconds >= windowFrom));
  if (typeof threshold === 'number') return [value, threshold];
  const past = samples.filter((sample) => sample.atSeconds < windowFrom);
  return past.length === 0 ? undefined : [value, threshold.times * meanOf(past)];
}

const HOLDS: Readonly<Record<Trigger['comparison'], (value: number, threshold: number) => boolean>> = {
  '>': (value, threshold) => value > threshold,
  '>=': (value, threshold) => value >= threshold,
  '<': (value, threshold) => value < threshold,
  '<=': (value, threshold) => value <= threshold,
};

function meanOf(samples: Watch['samples']): number {
  return samples.reduce((sum, { value }) => sum + value, 0) / samples.length;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(3)));
}
