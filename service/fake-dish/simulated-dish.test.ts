import { expect, test } from '@jest/globals';
import { syntheticDish } from './simulated-dish.ts';

test('a simulated dish has a base latency per epoch and occasional outages', () => {
  const dish = syntheticDish({ seed: 3 });
  const start = Date.UTC(2026, 0, 1, 12, 0, 12);
  let obstructed = 0;
  for (let epoch = 0; epoch < 400; epoch++) {
    const seconds = Array.from({ length: 15 }, (_, i) => dish.at(start + epoch * 15_000 + (i + 1) * 1000));
    const levels = seconds.slice(1).flatMap(({ latencyMs }) => latencyMs ?? []);
    expect(Math.max(...levels) - Math.min(...levels)).toBeLessThan(4.01);
    if (seconds.some((second) => second.obstructed)) obstructed++;
    for (const { latencyMs } of seconds) if (latencyMs !== undefined) expect(latencyMs).toBeGreaterThan(15);
  }
  expect(obstructed).toBeGreaterThan(2);
  expect(obstructed).toBeLessThan(40);
});

test('the household always plays, so the link is never unobserved for long', () => {
  const dish = syntheticDish({ seed: 1 });
  const start = Date.UTC(2026, 0, 1);
  const isBusy = Array.from({ length: 3600 }, (_, second) => dish.at(start + second * 1000).downlinkUsageBps > 1e7);
  const pauses = isBusy
    .map((busy) => (busy ? 'x' : '.'))
    .join('')
    .split('x');
  expect(Math.max(...pauses.map(({ length }) => length))).toBeLessThan(20);
});

test('limits the usage to the capacity of a trace, in phase', () => {
  const startUtcMs = Date.UTC(2026, 0, 1, 12, 0, 12);
  const steps = { wrapSeconds: 30, stepEndsSeconds: [15, 30], ratesBps: [2e7, 9e7], rttSeconds: [0.05, 0.03] };
  const capacity = { startUtcMs, ...steps };
  const dish = syntheticDish({ seed: 5, capacity });
  for (const [seconds, rate, latency] of [
    [1, 2e7, 50],
    [16, 9e7, 30],
    [31, 2e7, 50],
    [-14, 9e7, 30],
  ] as const) {
    const second = dish.at(startUtcMs + seconds * 1000);
    expect(second.downlinkUsageBps).toBeLessThanOrEqual(rate);
    if (!second.obstructed) expect(second.latencyMs).toBe(latency);
  }
});
