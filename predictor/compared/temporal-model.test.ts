import { describe, expect, test } from '@jest/globals';
import { withValue } from '../with-value.fixture.ts';
import { SECONDS_SEEN, type SeenSeconds } from './compared-model.ts';
import { GOLDEN, TEMPORAL_FILE } from './temporal-model.fixture.ts';
import { parseTemporalModel } from './temporal-model.ts';

/** As many as are looked back on, of which the last ones have been. */
function padded(values: readonly number[]): Float64Array {
  const all = new Float64Array(SECONDS_SEEN).fill(Number.NaN);
  all.set(values, SECONDS_SEEN - values.length);
  return all;
}

function seenOf({ ratios, ages }: { ratios: readonly number[]; ages: readonly number[] }): SeenSeconds {
  return { ratios: padded(ratios), ages: padded(ages) };
}

describe('parseTemporalModel', () => {
  test('gives what the Python that trained it gave', () => {
    const model = parseTemporalModel(TEMPORAL_FILE);
    expect(model).toMatchObject({ kind: 'temporal network', name: 'made up', rankCorrelation: 0.6 });
    expect(new Set(GOLDEN.map(({ ages }) => ages.length))).toEqual(new Set([0, 20, SECONDS_SEEN]));
    const values = new Float64Array(model.stepEndsSeconds.length * model.levels.length);
    for (const golden of GOLDEN) {
      model.evaluate(Float64Array.from(golden.features), seenOf(golden), values);
      const worst = Math.max(...golden.logRatios.map((value, i) => Math.abs(value - values[i]!)));
      expect(worst).toBeLessThan(1e-4);
    }
  });

  test('sees single seconds, how old they are, and where in the epoch', () => {
    const model = parseTemporalModel(TEMPORAL_FILE);
    const { features, ratios, ages } = GOLDEN[2]!;
    const given = (change: { features?: number[]; ratios?: number[]; ages?: number[] }) => {
      const values = new Float64Array(model.stepEndsSeconds.length * model.levels.length);
      const moment = { features, ratios, ages, ...change };
      model.evaluate(Float64Array.from(moment.features), seenOf(moment), values);
      return [...values];
    };
    const plain = given({});
    expect(given({ ratios: [ratios[0]! + 1, ...ratios.slice(1)] })).not.toEqual(plain);
    expect(given({ ages: ages.map((age) => age + 5) })).not.toEqual(plain);
    expect(given({ features: [...features.slice(0, -1), 0] })).not.toEqual(plain);
    // Those of `LinkHistory` that it makes itself of the seconds.
    expect(given({ features: [...features.slice(0, 4), features[4]! + 1, ...features.slice(5)] })).toEqual(plain);
  });

  test.each<[string, unknown, string]>([
    ['format', 'x', 'fold.json.format: expected "leo-abr temporal network (sessions)", got "x"'],
    ['version', 2, 'fold.json.version: expected 1, got 2'],
    ['widths', [4, 4], 'fold.json.widths: expected a product of 64, got 16'],
    ['widths.1', 0.5, 'fold.json.widths[1]: expected a whole number above 0, got 0.5'],
    ['channels', ['ratio'], 'fold.json.channels: expected 6 names, got an array of 1'],
    ['moment.0', 'rain', 'fold.json.moment[0]: expected "observed", got "rain"'],
    ['networks', [], 'fold.json.networks: expected an array with something in it, got an empty array'],
    ['networks.1', [{}], 'fold.json.networks[1]: expected 5 layers, got an array of 1'],
    ['networks.0.2.weights', 'AAAAAA==', 'fold.json.networks[0][2].weights: expected 16 x 4 numbers, got 1'],
    ['networks.0.2.weights', 'AAAA', 'fold.json.networks[0][2].weights: expected 32-bit numbers of 4 bytes, got 3'],
    ['networks.0.2.biases', '', 'fold.json.networks[0][2].biases: expected at least one number, got 0'],
    ['networks.0.3.biases', 'AADAfw==', 'fold.json.networks[0][3].biases[0]: expected a finite number, got NaN'],
    ['networks.0.3.biases', 1, 'fold.json.networks[0][3].biases: expected base64, got 1'],
    ['levels', [0.5], 'fold.json.networks[0][4].biases: expected one per step and level (3), got 9'],
  ])('says what is wrong with %s', (path, value, message) => {
    expect(() => parseTemporalModel(withValue(TEMPORAL_FILE, path, value), 'fold.json')).toThrow(message);
  });
});
