import { expect, test } from '@jest/globals';
import { normal, seededRandom } from '../../abr/random.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { PredictionService } from '../prediction-service.ts';
import { ChangeDetector } from './change-detector.ts';

test('finds latency steps within a second, with few false alarms', () => {
  const random = seededRandom(2);
  const detector = new ChangeDetector();
  const found: number[] = [];
  const steps = new Set<number>();
  let baseMs = 30;
  for (let second = 0; second < 3000; second++) {
    if (second % 60 === 0 && second > 0) {
      steps.add(second);
      baseMs = baseMs > 35 ? 30 : 42;
    }
    const evidence = detector.observe({ atMs: second * 1000, latencyMs: baseMs + normal(random) }, second);
    for (const { atMs, kind } of evidence) if (kind === 'latency-step') found.push(atMs / 1000);
  }
  const right = found.filter((at) => [...steps].some((step) => Math.abs(step - at) <= 1));
  expect(right.length).toBeGreaterThanOrEqual(steps.size * 0.9);
  expect(found.length - right.length).toBeLessThan(6);
});

test('reports the start of ping loss and keeps the newest evidence', () => {
  const detector = new ChangeDetector();
  const found = [0, 0.02, 0.4, 1, 0, 0.3].flatMap((dropRate, i) => detector.observe({ atMs: i * 1000, dropRate }, i));
  expect(found.map(({ atMs, detail }) => [atMs, detail])).toEqual([
    [2000, '40 % of the pings lost'],
    [5000, '30 % of the pings lost'],
  ]);
  expect(detector.list()[0]).toEqual(found[1]);
  for (let i = 0; i < 100; i++) detector.observe({ atMs: 10_000 + i, dropRate: i % 2 }, 10 + i);
  expect(detector.list()).toHaveLength(20);
});

test('finds steps after the system clock was set, with times of the new clock', () => {
  const clock = new ManualClock();
  const service = new PredictionService({ clock, version: '0' });
  const pass = (seconds: number, latencyMs: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1);
      service.observeTelemetry({ atMs: clock.utcMs(), latencyMs });
    }
  };
  pass(20, 30);
  pass(10, 50);
  clock.leap(-3600);
  pass(20, 50);
  pass(20, 40);
  // The clock is set between a step and the pings that confirm it.
  pass(1, 30);
  clock.leap(3600);
  pass(10, 30);
  const { evidence } = service.handovers();
  expect(evidence.map(({ kind }) => kind)).toEqual(new Array(3).fill('latency-step'));
  expect(Math.abs(evidence[0]!.atMs - (clock.utcMs() - 10_000))).toBeLessThanOrEqual(1000);
});
