import { expect, test } from '@jest/globals';
import { checkOptions, has, isPlain } from './checks.ts';

test('only an object of fields has options', () => {
  expect([{}, Object.create(null)].map(isPlain)).toEqual([true, true]);
  for (const value of [null, undefined, [], new Date(), new Map(), new EventTarget()]) {
    expect(isPlain(value)).toBe(false);
    expect(() => checkOptions(value as object, {}, 'options.live')).toThrow('options.live: expected an object, got ');
  }
});

test('only an object has methods', () => {
  const others = [{ now: 0 }, {}, null, Object.assign(() => {}, { now: () => 0 })];
  expect([{ now: () => 0 }, ...others].map((value) => has(value, 'now'))).toEqual([true, ...Array(4).fill(false)]);
});
