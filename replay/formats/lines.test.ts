import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll } from '../../abr/property.fixture.ts';
import { decimalOf } from './lines.ts';

test('equals Number for every finite number in any notation', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    between(0, 1e6).map((value) => value.toFixed(6)),
    fc.integer().map(String),
  );
  forAll([number], { seed: 1, numRuns: 2000 }, (text) => {
    expect(decimalOf(text)).toBe(Number(text));
  });
});

test.each(['', '-', '.', '1.2.3', '0x10', 'Infinity', 'NaN', '1e', '1e999', '1 2', 'abc'])(
  '%j is no number',
  (text) => {
    expect(decimalOf(text)).toBeNaN();
  },
);
