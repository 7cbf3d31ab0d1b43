import { expect, test } from '@jest/globals';
import { PassiveCapacity } from './passive-capacity.ts';

test('counts seconds near the greatest usage, and none while players report', () => {
  const passive = new PassiveCapacity();
  const never = Number.NEGATIVE_INFINITY;
  expect(passive.observe(1, 1e6, never)).toEqual({ kind: 'idle', startSeconds: 0, endSeconds: 1 });
  expect(passive.observe(2, 90e6, never)).toMatchObject({ kind: 'throughput', bits: 90e6 });
  expect(passive.observe(3, 30e6, never)).toMatchObject({ kind: 'idle' });
  expect(passive.observe(4, 60e6, never)).toMatchObject({ kind: 'throughput', startSeconds: 3, endSeconds: 4 });
  expect(passive.observe(5, 95e6, 4.8)).toBeUndefined();
  // The maximum is forgotten after three minutes.
  expect(passive.observe(200, 30e6, never)).toMatchObject({ kind: 'throughput' });
});
