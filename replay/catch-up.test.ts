import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll } from '../abr/property.fixture.ts';
import { type CatchUp, type CatchUpSituation, catchUpRate } from './catch-up.ts';

const LATENCIES = { latencySeconds: 2, targetLatencySeconds: 2 };
const RATES = { rates: { min: 0.9, max: 1.2 }, presentRate: 1 };
const SITUATION: CatchUpSituation = { ...LATENCIES, ...RATES, bufferLevelSeconds: 1 };
const rateOf = (catchUp: CatchUp, change: Partial<CatchUpSituation>) =>
  catchUpRate(catchUp, { ...SITUATION, ...change });

const LATE = 1 - 0.2 + 0.4 / (1 + Math.exp(-1));
const EARLY = 1 - 0.1 + 0.2 / (1 + Math.exp(1));

test.each<[string, CatchUp, Partial<CatchUpSituation>, number]>([
  ['keeps 1 at the target', 'default', {}, 1],
  ['has a steepness of 5 per second', 'default', { latencySeconds: 2.2 }, LATE],
  ['has other bounds below 1', 'default', { latencySeconds: 1.8 }, EARLY],
  ['is 1 with an empty buffer', 'default', { latencySeconds: 5, bufferLevelSeconds: 0.3, presentRate: 1.2 }, 1],
  ['reaches its bound with a little buffer', 'default', { latencySeconds: 5, bufferLevelSeconds: 0.31 }, 1.2],
  ['leaves out small changes', 'default', { latencySeconds: 2.01 }, 1],
  ['makes a small change to 1', 'default', { presentRate: 1.001 }, 1],
  ['is below 1 with little buffer, however late', 'lolp', { latencySeconds: 5, bufferLevelSeconds: 0.3 }, EARLY],
  ['catches up with more', 'lolp', { latencySeconds: 5, bufferLevelSeconds: 0.5 }, 1.2],
  ['is 1 within 2 % of the target', 'lolp', { latencySeconds: 2.039, presentRate: 1.2 }, 1],
])('the rate %s (%s, %j)', (_, catchUp, change, rate) => {
  expect(rateOf(catchUp, change)).toBeCloseTo(rate, rate === 1.2 ? 5 : 12);
});

test('the rate leaves 1 just beyond these limits', () => {
  expect(rateOf('default', { latencySeconds: 2.02 })).toBeGreaterThan(1);
  expect(rateOf('lolp', { latencySeconds: 2.041, presentRate: 1.2 })).toBeGreaterThan(1);
});

test('every law stays within the bounds of the rate', () => {
  const latencies = { latencySeconds: between(0, 60), targetLatencySeconds: between(0.6, 20) };
  const situation = fc.record({ ...latencies, bufferLevelSeconds: between(0, 20) });
  forAll([fc.constantFrom<CatchUp[]>('default', 'lolp'), situation], {}, (catchUp, change) => {
    const rate = rateOf(catchUp, change);
    expect(rate).toBeGreaterThanOrEqual(0.9);
    expect(rate).toBeLessThanOrEqual(1.2);
  });
});
