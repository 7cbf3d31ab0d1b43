import { describe, expect, test } from '@jest/globals';
import { InputError } from '../../abr/errors.ts';
import { parseModel } from './model-file.ts';
import { SHIPPED_FILE } from './shipped-file.fixture.ts';
import { withValue } from './with-value.fixture.ts';

describe('parseModel', () => {
  test('unpacks the shipped model', () => {
    const model = parseModel(SHIPPED_FILE);
    expect(model.networks.length).toBeGreaterThan(0);
    for (const network of model.networks) {
      expect(network[network.length - 1]!.biases.length).toBe(model.levels.length * model.stepEndsSeconds.length);
      for (const { weights, biases } of network) {
        expect(weights.every(Number.isFinite)).toBe(true);
        expect(biases.every(Number.isFinite)).toBe(true);
      }
    }
  });

  test.each<[string, unknown, string]>([
    ['format', 'onnx', 'fold.json.format: expected "leo-abr quantile networks", got "onnx"'],
    ['version', 1, 'fold.json.version: expected 2, got 1'],
    ['name', '', 'fold.json.name: expected a name, got ""'],
    ['features', ['level-1s'], 'fold.json.features: expected 27 names, got an array of 1'],
    ['features.0', 'level-1s', 'fold.json.features[0]: expected "level-0.4s", got "level-1s"'],
    ['stepEndsSeconds.1', 1, 'fold.json.stepEndsSeconds[1]: expected a number above 1 and below Infinity, got 1'],
    ['levels', [0.1, 0.9], 'fold.json.levels: expected an odd number of levels, got an array of 2'],
    ['levels.6', 1, 'fold.json.levels[6]: expected a number above 0.9 and below 1, got 1'],
    ['rankCorrelation', '0.7', 'fold.json.rankCorrelation: expected a number from 0 to below 1, got "0.7"'],
    ['networks', [], 'fold.json.networks: expected an array that is not empty, got an empty array'],
    ['networks.0.1', null, 'fold.json.networks[0][1]: expected an object, got null'],
    ['networks.0.0.weights', 'AAAA', 'fold.json.networks[0][0].weights: expected 27 x '],
    ['networks.0.0.weights', 7, 'fold.json.networks[0][0].weights: expected 27 x '],
    ['networks.0.0.weights', `/${SHIPPED_FILE.networks[0]![0]!.weights.slice(1)}`, 'weights: expected 27 x '],
    ['networks.0.0.scales', 'AAAA', 'fold.json.networks[0][0].scales: expected an object, got "AAAA"'],
    ['networks.0.0.scales.unit', 0, 'fold.json.networks[0][0].scales.unit: expected a finite number above 0, got 0'],
    [
      'networks.0.0.scales.steps',
      '*',
      'fold.json.networks[0][0].scales.steps: expected 16-bit integers in base64, got "*"',
    ],
    ['networks.0.0.biases.steps', 'AAAA', 'fold.json.networks[0][0].biases.steps: expected 16-bit integers in base64'],
    ['networks.0.1.scales.steps', 'AAAAAA==', 'fold.json.networks[0][1].scales: expected'],
    ['stepEndsSeconds', [1, 2], 'biases: expected one per step and level (14), got'],
  ])('says what is wrong with %s', (path, value, message) => {
    const parse = () => parseModel(withValue(SHIPPED_FILE, path, value), 'fold.json');
    expect(parse).toThrow(InputError);
    expect(parse).toThrow(message);
  });

  test('rejects other values', () => {
    expect(() => parseModel([])).toThrow('model: expected an object, got an empty array');
  });
});
