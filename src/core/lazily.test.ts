import { expect, jest, test } from '@jest/globals';
import { lazily } from './lazily.ts';

test('a property is computed once, when it is first read or copied', () => {
  const compute = jest.fn(() => [1]);
  const target = lazily({ name: 'a' }, 'rows', compute);
  expect(compute).not.toHaveBeenCalled();
  expect({ ...target }).toEqual({ name: 'a', rows: [1] });
  expect(target.rows).toBe(target.rows);
  expect(compute).toHaveBeenCalledTimes(1);
});
