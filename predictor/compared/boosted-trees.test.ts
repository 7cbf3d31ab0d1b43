import { describe, expect, test } from '@jest/globals';
import { FEATURES } from '../link-history.ts';
import { withValue } from '../with-value.fixture.ts';
import { GOLDEN, TREES_FILE } from './boosted-trees.fixture.ts';
import { parseBoostedTrees } from './boosted-trees.ts';
import type { SeenSeconds } from './compared-model.ts';

const NOTHING_SEEN: SeenSeconds = { ratios: new Float64Array(), ages: new Float64Array() };

function floats(...values: number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString('base64');
}

describe('parseBoostedTrees', () => {
  test('gives what XGBoost gave', () => {
    const model = parseBoostedTrees(TREES_FILE);
    expect(model).toMatchObject({
      kind: 'boosted trees',
      name: 'made up',
      rankCorrelation: 0.6,
      levels: [0.1, 0.5, 0.9],
    });
    const values = new Float64Array(6);
    for (const { features, logRatios } of GOLDEN) {
      model.evaluate(Float64Array.from(features), NOTHING_SEEN, values);
      expect(Math.max(...logRatios.map((value, i) => Math.abs(value - values[i]!)))).toBeLessThan(1e-5);
    }
  });

  test('goes right where a feature is as large as the threshold, in single precision, and sorts levels', () => {
    // Of depth 1: below 0.1 the leaf -1, else 1; the levels' bases are upside down.
    const tree = { features: 'AA==', thresholds: floats(0.1), leaves: floats(-1, 1) };
    const outputs = [3, 2, 1, 0, 0, 0].map((base) => ({ base, ...tree }));
    const model = parseBoostedTrees({ ...TREES_FILE, depth: 1, outputs });
    const of = (feature: number) => {
      const values = new Float64Array(6);
      model.evaluate(new Float64Array(FEATURES.length).fill(feature), NOTHING_SEEN, values);
      return [...values];
    };
    expect(of(0.0999)).toEqual([0, 1, 2, -1, -1, -1]);
    expect(of(0.1)).toEqual([2, 3, 4, 1, 1, 1]);
  });

  test.each<[string, unknown, string]>([
    ['format', 'x', 'fold.json.format: expected "leo-abr boosted trees", got "x"'],
    ['version', 2, 'fold.json.version: expected 1, got 2'],
    ['depth', 0, 'fold.json.depth: expected a whole number from 1 to 12, got 0'],
    ['outputs', [], 'fold.json.outputs: expected an array with something in it, got an empty array'],
    ['outputs.1', 5, 'fold.json.outputs[1]: expected an object, got 5'],
    ['outputs.1.base', null, 'fold.json.outputs[1].base: expected a finite number, got null'],
    ['outputs.1.features', 'AAA=', 'fold.json.outputs[1].features: expected a multiple of 7 bytes'],
    ['outputs.1.features', Buffer.alloc(28, 27).toString('base64'), 'features[0]: expected below 27, got 27'],
    ['outputs.1.thresholds', '?', 'fold.json.outputs[1].thresholds: expected base64, got "?"'],
    ['outputs.1.leaves', floats(1), 'fold.json.outputs[1].leaves: expected 32 floats, got 1'],
    ['outputs.1.leaves', floats(...new Array(32).fill(Number.NaN)), 'leaves[0]: expected a finite number, got NaN'],
  ])('refuses a wrong %s (%j)', (path, value, message) => {
    expect(() => parseBoostedTrees(withValue(TREES_FILE, path, value), 'fold.json')).toThrow(message);
  });
});
