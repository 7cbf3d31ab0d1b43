import { expect, test } from '@jest/globals';
import { InputError } from '../../abr/errors.ts';
import { parseModel } from './model-file.ts';
import { SHIPPED_FILE } from './shipped-file.fixture.ts';
import { withValue } from './with-value.fixture.ts';

test('unpacks the shipped model', () => {
  const model = parseModel(SHIPPED_FILE);
  const widths = model.layers.map((rows) => rows.map((row) => row.length));
  const outputs = model.levels.length * model.stepEndsSeconds.length;
  for (const [l, row] of widths.entries()) {
    expect(new Set(row)).toEqual(new Set([(widths[l + 1]?.length ?? outputs + 2) - 2]));
  }
  expect(model.layers.flat().every((row) => row.every(Number.isFinite))).toBe(true);
});

test('reads weights as steps of the scale of their input', () => {
  const inputs = SHIPPED_FILE.features.length + 2;
  // Scales of 2 ** 0, 2 ** -1 and 2 ** 0; weights of 1, -31, 31 and 0.
  const scales = 'AE'.padEnd(inputs, 'A');
  const layers = [{ weights: 'gA+'.padEnd(inputs * 63, 'f'), scales }];
  const [rows] = parseModel({ ...SHIPPED_FILE, layers }).layers;
  expect([...rows![0]!.slice(0, 4)]).toEqual([1, -31, 31, 0]);
  const moved = [{ weights: 'f'.repeat(63) + layers[0]!.weights.slice(0, -63), scales }];
  const second = parseModel({ ...SHIPPED_FILE, layers: moved });
  expect([...second.layers[0]![1]!.slice(0, 3)]).toEqual([0.5, -15.5, 15.5]);
});

test.each<[string, unknown, string]>([
  ['format', 'onnx', 'fold.json.format: expected "leo-abr quantile network", got "onnx"'],
  ['version', 2, 'fold.json.version: expected 4, got 2'],
  ['name', '', 'fold.json.name: expected a name, got ""'],
  ['features', ['level-1s'], 'fold.json.features: expected an array of 13, got an array of 1'],
  ['features.0', 'level-1s', 'fold.json.features[0]: expected "level-0.4s", got "level-1s"'],
  ['stepEndsSeconds.1', 1, 'fold.json.stepEndsSeconds[1]: expected a number above 1 and below Infinity, got 1'],
  ['levels', [0.1, 0.9], 'fold.json.levels: expected an odd number of levels, got an array of 2'],
  ['rankCorrelation', '0.7', 'fold.json.rankCorrelation: expected a number from 0 to below 1, got "0.7"'],
  ['layers', [], 'fold.json.layers: expected an array that is not empty, got an empty array'],
  ['layers.1', null, 'fold.json.layers[1]: expected an object, got null'],
  ['layers.0.weights', 'AAAA', 'fold.json.layers[0].weights: expected 15 x '],
  ['layers.0.weights', 7, 'fold.json.layers[0].weights: expected 15 x '],
  ['layers.0.weights', `/${SHIPPED_FILE.layers[0]!.weights.slice(1)}`, 'weights: expected 15 x '],
  ['layers.0.scales', '*'.repeat(15), 'fold.json.layers[0].scales: expected 15 digits of base64'],
  ['layers.1.scales', 7, 'fold.json.layers[1].scales: expected'],
  ['stepEndsSeconds', [1, 2], 'layers[2]: expected an output per step and level (14), got 63'],
])('says what is wrong with %s', (path, value, message) => {
  const parse = () => parseModel(withValue(SHIPPED_FILE, path, value), 'fold.json');
  expect(parse).toThrow(InputError);
  expect(parse).toThrow(message);
});

test('rejects other values', () => {
  expect(() => parseModel([])).toThrow('model: expected an object, got an empty array');
});
