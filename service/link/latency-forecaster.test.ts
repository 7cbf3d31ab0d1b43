import { describe, expect, test } from '@jest/globals';
import { normal, seededRandom } from '../../abr/random.ts';
import { LatencyForecaster } from './latency-forecaster.ts';

function forecastAfter(latencies: readonly number[]) {
  const forecaster = new LatencyForecaster();
  latencies.forEach((latencyMs, second) => {
    forecaster.observe(second, latencyMs);
  });
  return forecaster.latest(latencies.length - 1);
}

describe('latency forecasts', () => {
  test('a constant latency is a fixed point', () => {
    const { quantilesMs } = forecastAfter(new Array(60).fill(31))!;
    expect(quantilesMs.flat().every((value) => value === 31)).toBe(true);
  });

  test('are ascending quantiles that widen with the horizon', () => {
    const random = seededRandom(1);
    const values = Array.from({ length: 200 }, (_, i) => 30 + 8 * (Math.floor(i / 15) % 3) + normal(random));
    const { quantilesMs, levels } = forecastAfter(values)!;
    for (const row of quantilesMs) expect([...row].sort((a, b) => a - b)).toEqual(row);
    const spread = (row: readonly number[]) => row[levels.indexOf(0.9)]! - row[levels.indexOf(0.1)]!;
    expect(spread(quantilesMs[3]!)).toBeGreaterThan(spread(quantilesMs[0]!));
  });

  test('follow the newest ping in near steps, and the last minutes in far ones', () => {
    const { quantilesMs, levels } = forecastAfter([...new Array(100).fill(30), 60, 60])!;
    expect(quantilesMs.map((row) => row[levels.indexOf(0.5)])).toEqual([60, 60, 30, 30]);
  });

  test('are never below the least ping', () => {
    const { quantilesMs } = forecastAfter(Array.from({ length: 101 }, (_, i) => (i % 3 === 0 ? 100 : 30)))!;
    expect(Math.min(...quantilesMs.flat())).toBe(30);
  });

  test('are calibrated', () => {
    const random = seededRandom(9);
    const forecaster = new LatencyForecaster();
    let below = 0;
    let count = 0;
    for (let second = 0; second < 2000; second++) {
      const value = 30 + 3 * normal(random);
      const forecast = forecaster.latest(second - 1);
      if (forecast !== undefined && second > 60) {
        count++;
        if (value <= forecast.quantilesMs[3]![forecast.levels.indexOf(0.9)]!) below++;
      }
      forecaster.observe(second, value);
    }
    expect(below / count).toBeGreaterThan(0.85);
    expect(below / count).toBeLessThan(0.95);
  });

  test('need recent pings and ignore invalid ones', () => {
    expect(forecastAfter([30, 30, 30])).toBeUndefined();
    const forecaster = new LatencyForecaster();
    for (let i = 0; i < 10; i++) forecaster.observe(i, 30);
    for (const wrong of [Number.NaN, -1, 0, 1e9]) forecaster.observe(10, wrong);
    forecaster.observe(5, 99);
    expect(
      forecaster
        .latest(10)!
        .quantilesMs.flat()
        .every((value) => value === 30),
    ).toBe(true);
    expect(forecaster.latest(30)).toBeUndefined();
  });
});
