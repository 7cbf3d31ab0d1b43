/**
 * Pieces of recordings from dish telemetry. Telemetry has the usage of the link, not its capacity. Like the service,
 * this takes usage for capacity only near the highest usage of the last minutes, while no player reports.
 */

import { tracesFromSamples } from '../../replay/formats/samples.ts';
import type { Trace } from '../../replay/trace.ts';
import type { PassiveCapacity, TelemetrySecond } from '../../service/index.ts';

export const USAGE_DATASET = 'recorded-usage';

export interface UsageOptions {
  file: string;
  /** Ascending in time. */
  seconds: readonly TelemetrySecond[];
  /** UTC intervals of player reports, in any order. */
  reported: readonly { fromMs: number; toMs: number }[];
  capacity: PassiveCapacity;
}

/** Empty if no second counts as capacity. */
export function usagePieces({ file, seconds, reported, capacity }: UsageOptions): Trace[] {
  const first = seconds[0];
  if (first === undefined) return [];
  const firstMs = first.atMs - 1000;
  const intervals = [...reported].sort((a, b) => a.fromMs - b.fromMs);
  let next = 0;
  let reportedUntilMs = Number.NEGATIVE_INFINITY;
  const ratesBps = seconds.map(({ atMs, downlinkUsageBps }) => {
    for (; next < intervals.length && intervals[next]!.fromMs <= atMs; next++) {
      reportedUntilMs = Math.max(reportedUntilMs, intervals[next]!.toMs);
    }
    if (downlinkUsageBps === undefined) return Number.NaN;
    const lastReportSeconds = Math.min(reportedUntilMs, atMs) / 1000;
    const observation = capacity.observe(atMs / 1000, downlinkUsageBps, lastReportSeconds);
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
