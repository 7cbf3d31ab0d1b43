import { expect, test } from '@jest/globals';
import { checkOptions, has, isPlain, SWITCH } from './checks.ts';

test.each([
  [{}, true],
  [Object.create(null), true],
  [null, false],
  [undefined, false],
  [[], false],
  [new Date(), false],
])('whether %p is an object of fields: %p', (value, expected) => {
  expect(isPlain(value)).toBe(expected);
  const check = () => checkOptions(value as object, {}, 'options.live');
  if (expected) expect(check).not.toThrow();
  else expect(check).toThrow('options.live: expected an object, got ');
});

test.each([
  [{ now: () => 0 }, true],
  [{ now: 0 }, false],
  [{}, false],
  [null, false],
  [Object.assign(() => {}, { now: () => 0 }), false],
])('whether %p is an object with the method: %p', (value, expected) => {
  expect(has(value, 'now')).toBe(expected);
});

test('an option may be undefined, but of no other type and name', () => {
  const check = (options: object) => () => checkOptions(options as { cmcd?: boolean }, { cmcd: SWITCH });
  expect(check({ cmcd: undefined })).not.toThrow();
  expect(check({ cmcd: 1 })).toThrow('options.cmcd: expected true or false, got 1');
  expect(check({ cmdc: true })).toThrow('options.cmdc: expected one of cmcd, got true');
});
