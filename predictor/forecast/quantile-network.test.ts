import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll } from '../../abr/property.fixture.ts';
import { evaluateNetwork } from './quantile-network.ts';

const layer = (...rows: number[][]) => rows.map((row) => Float32Array.from(row));

test('leaky layers, then a median and sums of softplus around it', () => {
  // Two inputs, two hidden, one step of three levels; biases are sums of the last two rows.
  const layers = [layer([1, 0], [0, 1], [0.25, 0], [0.25, 0]), layer([1, 0, 2], [0, 1, 0], [0, 0.5, 0], [0, -0.25, 0])];
  const values = new Float64Array(3);
  evaluateNetwork(layers, 3, Float64Array.of(1, -2), values);
  // Hidden: 1.5 and 0.1 * -2; outputs: 1.5, 0.05, 3.
  const softplus = (x: number) => Math.log(1 + Math.exp(x));
  expect(values[0]).toBeCloseTo(0.05 - softplus(1.5), 6);
  expect(values[1]).toBeCloseTo(0.05, 6);
  expect(values[2]).toBeCloseTo(0.05 + softplus(3), 6);
});

test('quantiles never cross', () => {
  const row = (length: number) => fc.array(between(-20, 20), { minLength: length, maxLength: length });
  const rows = (count: number, length: number) => fc.array(row(length), { minLength: count, maxLength: count });
  forAll([rows(5, 2), rows(4, 10), row(3)], { seed: 3, numRuns: 300 }, (first, last, inputs) => {
    const values = new Float64Array(10);
    evaluateNetwork([layer(...first), layer(...last)], 5, Float64Array.from(inputs), values);
    for (let i = 0; i < 10; i++) if (i % 5 > 0) expect(values[i]).toBeGreaterThanOrEqual(values[i - 1]!);
  });
});
