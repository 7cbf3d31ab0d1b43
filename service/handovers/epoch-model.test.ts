import { describe, expect, test } from '@jest/globals';
import { seededRandom } from '../../replay/random.ts';
import { EpochModel } from './epoch-model.ts';

/** Observes one epoch; a bad one loses the pings of its third to fifth second. */
function epoch(model: EpochModel, index: number, { bad = false, latencyMs = 30, seconds = 15 } = {}) {
  for (let i = 0; i < seconds; i++) {
    const isLost = bad && i >= 2 && i < 5;
    model.observe({ atMs: i, dropRate: isLost ? 1 : 0, latencyMs: isLost ? undefined : latencyMs }, index);
  }
}

describe('the model of degraded epochs', () => {
  test('gives no probability before the fifth epoch', () => {
    const model = new EpochModel();
    for (let i = 0; i < 4; i++) epoch(model, i);
    expect(model.nextDegradedProbability()).toBeUndefined();
    epoch(model, 4);
    expect(model.nextDegradedProbability()).toBeLessThan(0.1);
  });

  test('classifies by lost pings, latency and obstruction', () => {
    const model = new EpochModel();
    for (let i = 0; i < 6; i++) epoch(model, i);
    expect(model.isDegraded).toBe(false);
    epoch(model, 6, { bad: true });
    expect(model.isDegraded).toBe(true);
    epoch(model, 7, { latencyMs: 70 });
    expect(model.isDegraded).toBe(true);
    epoch(model, 8);
    expect(model.isDegraded).toBe(false);
    for (let i = 0; i < 3; i++) model.observe({ atMs: 0, obstructed: true }, 9);
    expect(model.isDegraded).toBe(true);
  });

  test('does not count the lost pings of a normal handover', () => {
    const model = new EpochModel();
    for (let i = 0; i < 6; i++) epoch(model, i);
    model.observe({ atMs: 0, dropRate: 0.4, latencyMs: 80 }, 6);
    expect(model.isDegraded).toBe(false);
  });

  test('learns that degraded epochs come in runs', () => {
    const model = new EpochModel();
    for (let i = 0; i < 60; i++) epoch(model, i, { bad: Math.floor(i / 6) % 5 === 0 });
    epoch(model, 60, { bad: true });
    const afterBad = model.nextDegradedProbability()!;
    for (let i = 61; i < 66; i++) epoch(model, i);
    const afterGood = model.nextDegradedProbability()!;
    expect(afterBad).toBeGreaterThan(0.5);
    expect(afterGood).toBeLessThan(0.15);
  });

  test('estimates the probability of independent epochs', () => {
    const random = seededRandom(4);
    const model = new EpochModel();
    let sum = 0;
    for (let i = 0; i < 600; i++) {
      epoch(model, i, { bad: random() < 0.25 });
      if (i >= 100) sum += model.nextDegradedProbability()! / 500;
    }
    expect(sum).toBeGreaterThan(0.2);
    expect(sum).toBeLessThan(0.3);
  });

  test('ignores epochs with few seconds, and seconds of older epochs', () => {
    const model = new EpochModel();
    for (let i = 0; i < 6; i++) epoch(model, i, { seconds: 5 });
    expect(model.epochs).toBe(0);
    epoch(model, 7);
    epoch(model, 3, { bad: true });
    expect(model.isDegraded).toBe(false);
  });
});
