import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import { evaluateNetwork } from '../../predictor/forecast/quantile-network.ts';
import { SHIPPED_MODEL } from '../../predictor/forecast/shipped-model.ts';
import { cardMarkdown, type DescribedModel } from './model-card.ts';

const folder = new URL('../../predictor/models/', import.meta.url);
const text = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const described: DescribedModel = JSON.parse(text('built-in.json'));

describe('the shipped model', () => {
  test('is the one beside its card (else: npm run ship-model)', () => {
    expect(described).toMatchObject(SHIPPED_MODEL);
    expect(Object.keys(SHIPPED_MODEL)).toEqual(['name', 'stepEndsSeconds', 'levels', 'rankCorrelation', 'layers']);
  });

  test('has a card, the same for programs and for people', () => {
    const { data, leftOut, fit } = described.card;
    expect(fit.scoresAreHeldOut).toBe(true);
    expect(data.length).toBeGreaterThan(0);
    for (const { licences } of [...data, ...leftOut]) expect(licences).not.toEqual([]);
    expect(cardMarkdown(described)).toBe(text('built-in.md'));
  });

  test('gives the same outputs as in training', () => {
    const { layers, stepEndsSeconds, levels } = parseModel(described);
    const values = new Float64Array(stepEndsSeconds.length * levels.length);
    for (const { features, logRatios } of described.card.fit.golden) {
      evaluateNetwork(layers, levels.length, Float64Array.from(features), values);
      for (const [i, value] of values.entries()) expect(Math.abs(value - logRatios[i]!)).toBeLessThan(1e-4);
    }
  });
});
