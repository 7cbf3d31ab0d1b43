import { describe, expect, test } from '@jest/globals';
import { DegradedEpoch } from './degraded-epoch.ts';

/** Observes one epoch; a bad one loses the pings of its third to fifth second. */
function observe(current: DegradedEpoch, index: number, { bad = false, latencyMs = 30, seconds = 15 } = {}) {
  for (let i = 0; i < seconds; i++) {
    const isLost = bad && i >= 2 && i < 5;
    current.observe({ atMs: i, dropRate: isLost ? 1 : 0, latencyMs: isLost ? undefined : latencyMs }, index);
  }
}

describe('an epoch', () => {
  test('is degraded by lost pings, latency or obstruction', () => {
    const epoch = new DegradedEpoch();
    for (let i = 0; i < 6; i++) observe(epoch, i);
    expect(epoch.isDegraded).toBe(false);
    observe(epoch, 6, { bad: true });
    expect(epoch.isDegraded).toBe(true);
    observe(epoch, 7, { latencyMs: 70 });
    expect(epoch.isDegraded).toBe(true);
    observe(epoch, 8);
    expect(epoch.isDegraded).toBe(false);
    for (let i = 0; i < 3; i++) epoch.observe({ atMs: 0, obstructed: true }, 9);
    expect(epoch.isDegraded).toBe(true);
  });

  test('is not degraded by the lost pings of a normal handover', () => {
    const epoch = new DegradedEpoch();
    for (let i = 0; i < 6; i++) observe(epoch, i);
    epoch.observe({ atMs: 0, dropRate: 0.4, latencyMs: 80 }, 6);
    expect(epoch.isDegraded).toBe(false);
  });

  test('is not compared with epochs of few pings, and ignores seconds of older epochs', () => {
    const epoch = new DegradedEpoch();
    for (let i = 0; i < 6; i++) observe(epoch, i, { seconds: 4 });
    observe(epoch, 7, { latencyMs: 70 });
    observe(epoch, 3, { bad: true });
    expect(epoch.isDegraded).toBe(false);
  });
});
