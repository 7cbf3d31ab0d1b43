import { expect, test } from '@jest/globals';
import { studentQuantile } from './student-t.ts';

// Tables of the t distribution, two-sided 95 % (one-sided 95 % for 5 degrees); 4.5 degrees by numerical integration.
test.each([
  [0.975, 1, 12.706],
  [0.975, 4.5, 2.6589],
  [0.95, 5, 2.015],
  [0.975, 30, 2.042],
  [0.975, 1e9, 1.96],
])('P(T <= t) = %d at %d degrees: t = %d', (level, degrees, t) => {
  expect(studentQuantile(level, degrees) / t).toBeCloseTo(1, 2);
});
