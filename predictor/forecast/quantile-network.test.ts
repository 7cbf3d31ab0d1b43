import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Layer, QuantileNetworks } from './quantile-network.ts';

function layer(outputs: number, weights: number[], biases: number[]): Layer {
  expect(weights.length % outputs).toBe(0);
  return { weights: Float32Array.from(weights), biases: Float32Array.from(biases) };
}

test('leaky layers, then a median and sums of softplus around it', () => {
  // Two inputs, two hidden, one step of three levels.
  const networks = new QuantileNetworks(
    [[layer(2, [1, 0, 0, 1], [0.5, 0]), layer(3, [1, 0, 2, 0, 1, 0], [0, 0.25, 0])]],
    3,
  );
  const values = new Float64Array(3);
  networks.evaluate(Float64Array.of(1, -2), values);
  // Hidden: 1.5 and 0.1 * -2; outputs: 1.5, 0.05, 3.
  const softplus = (x: number) => Math.log(1 + Math.exp(x));
  expect(values[0]).toBeCloseTo(0.05 - softplus(1.5), 6);
  expect(values[1]).toBeCloseTo(0.05, 6);
  expect(values[2]).toBeCloseTo(0.05 + softplus(3), 6);
});

test('is the mean of its networks, and never crosses', () => {
  const number = fc.double({ min: -20, max: 20, noNaN: true });
  const network = fc
    .tuple(fc.array(number, { minLength: 6, maxLength: 6 }), fc.array(number, { minLength: 10, maxLength: 10 }))
    .map(([weights, biases]) => [layer(2, weights, [0, 0]), layer(10, [...biases, ...weights, 1, 2, 3, 4], biases)]);
  fc.assert(
    fc.property(network, network, fc.array(number, { minLength: 3, maxLength: 3 }), (a, b, inputs) => {
      const features = Float64Array.from(inputs);
      const [first, second, both] = [[a], [b], [a, b]].map((networks) => {
        const values = new Float64Array(10);
        new QuantileNetworks(networks, 5).evaluate(features, values);
        return values;
      }) as [Float64Array, Float64Array, Float64Array];
      both.forEach((value, i) => {
        expect(value).toBeCloseTo((first[i]! + second[i]!) / 2, 6);
        if (i % 5 > 0) expect(value).toBeGreaterThanOrEqual(both[i - 1]!);
      });
    }),
    { seed: 3, numRuns: 300 },
  );
});
