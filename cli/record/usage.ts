/**
 * Pieces of recordings from a dish's telemetry. It knows what was used and not what there was; the seconds that the
 * service takes for capacity are taken here too: those near the greatest usage of the last minutes, while no player tells.
 */

import { tracesFromSamples } from '../../replay/formats/samples.ts';
import type { Trace } from '../../replay/trace.ts';
import type { PassiveCapacity, TelemetrySecond } from '../../service/index.ts';

export const USAGE_DATASET = 'recorded-usage';

export interface UsageOptions {
  /** Where the telemetry was read from; pieces of one file are of one `name`. */
  file: string;
  /** Of the dish, in order of time. */
  seconds: readonly TelemetrySecond[];
  /** When players told, by UTC in ms, in any order. */
  told: readonly { fromMs: number; toMs: number }[];
  capacity: PassiveCapacity;
}

/** None where no second counts. */
export function usagePieces({ file, seconds, told, capacity }: UsageOptions): Trace[] {
  const first = seconds[0];
  if (first === undefined) return [];
  const firstMs = first.atMs - 1000;
  const intervals = [...told].sort((a, b) => a.fromMs - b.fromMs);
  let next = 0;
  let toldUntilMs = Number.NEGATIVE_INFINITY;
  const ratesBps = seconds.map(({ atMs, downlinkUsageBps }) => {
    for (; next < intervals.length && intervals[next]!.fromMs <= atMs; next++) {
      toldUntilMs = Math.max(toldUntilMs, intervals[next]!.toMs);
    }
    if (downlinkUsageBps === undefined) return Number.NaN;
    const lastToldSeconds = Math.min(toldUntilMs, atMs) / 1000;
    const observation = capacity.observe(atMs / 1000, downlinkUsageBps, lastToldSeconds);
    return observation?.kind === 'throughput' ? observation.bits : Number.NaN;
  });
  if (!ratesBps.some((rate) => rate > 0)) return [];
  return tracesFromSamples(
    {
      timesSeconds: Float64Array.from(seconds, ({ atMs }) => (atMs - 1000 - firstMs) / 1000),
      ratesBps: Float64Array.from(ratesBps),
      rttSeconds: Float64Array.from(seconds, ({ latencyMs = Number.NaN }) => latencyMs / 1000),
      loss: Float64Array.from(seconds, ({ dropRate = Number.NaN }) => dropRate),
    },
    {
      name: 'usage',
      file,
      metadata: {
        dataset: USAGE_DATASET,
        recordingGroup: '',
        startUtcMs: firstMs,
        other: { source: 'leo-abr serve: usage that the dish showed, where it was near its greatest' },
      },
    },
  );
}
