import { describe, expect, test } from '@jest/globals';
import type { Trace } from '../../replay/trace.ts';
import {
  HISTORY_SECONDS,
  latencySeries,
  type PointSeries,
  pointScores,
  pointTables,
  simplePredictions,
  throughputSeries,
} from './point-scores.ts';

function traceOf(stepSeconds: number, rates: number[], rtt?: number[]): Trace {
  return {
    name: 'made-up',
    stepEndsSeconds: Float64Array.from(rates, (_, i) => (i + 1) * stepSeconds),
    ratesBps: Float64Array.from(rates),
    durationSeconds: rates.length * stepSeconds,
    ...(rtt && { rttSeconds: Float64Array.from(rtt) }),
    metadata: { dataset: 'set', recordingGroup: 'group', startUtcMs: Date.UTC(2025, 0, 1, 0, 0, 20) },
  };
}

describe('series', () => {
  test('are means of seconds', () => {
    const trace = traceOf(
      0.5,
      Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? 1e6 : 3e6)),
    );
    const [series] = throughputSeries([trace], new Map([[trace, 'set udp']]));
    expect(series).toMatchObject({ dataset: 'set udp', group: 'group', kind: 'throughput', epochSecond: 5 });
    expect(series!.values.length).toBe(50);
    for (const value of series!.values) expect(value).toBeCloseTo(2, 12);
  });

  test('end at a hole, and are left out if too short', () => {
    const rates = Array.from({ length: 60 }, () => 1e6);
    const rttUntil = (end: number) => rates.map((_, i) => (i < end ? 0.04 : Number.NaN));
    expect(latencySeries([traceOf(1, rates, rttUntil(50))])[0]!.values).toEqual(Array.from({ length: 50 }, () => 40));
    expect(latencySeries([traceOf(1, rates, rttUntil(30)), traceOf(1, rates)])).toEqual([]);
  });
});

describe('scores', () => {
  const series: PointSeries = {
    dataset: 'set',
    group: 'group',
    kind: 'throughput',
    epochSecond: null,
    values: [...Array.from({ length: HISTORY_SECONDS }, () => 10), 10, 20, 0, 10.5],
  };

  test('of the simple estimators equal those by hand', () => {
    const predictions = simplePredictions(series);
    expect(predictions['last value']).toEqual([10, 10, 20, 0]);
    expect(predictions['harmonic mean (5 s)']!.map((value) => Math.round(value * 100) / 100)).toEqual([
      10, 10, 11.11, 0,
    ]);
    expect(predictions['EWMA']!.map((value) => Math.round(value * 100) / 100)).toEqual([10, 10, 13, 9.1]);
    const { throughput, latency } = pointScores(
      [series],
      Object.fromEntries(Object.entries(predictions).map(([name, list]) => [name, [list]])),
    );
    // The second without any throughput has no percentage.
    expect(throughput['set']!['last value']).toEqual({
      forecasts: 4,
      mape: (0 + 0.5 + 1) / 3,
      rmse: Math.sqrt((0 + 100 + 400 + 10.5 ** 2) / 4),
      within5: 1 / 3,
      within10: 1 / 3,
    });
    expect(throughput['pooled']).toEqual(throughput['set']);
    expect(latency).toEqual({});
  });

  test('become a table per data set', () => {
    const tables = pointTables(pointScores([series], { perfect: [series.values.slice(HISTORY_SECONDS)] }));
    expect(tables.map(({ caption }) => caption)).toEqual([
      'throughput, set: 4 forecasts',
      'throughput, pooled: 4 forecasts',
    ]);
    expect(tables[0]!.rows).toEqual([['perfect', '0.0 %', '0.00 Mbit/s', '100.0 %', '100.0 %']]);
  });
});
