import { expect, test } from '@jest/globals';
import { InputError } from '../../abr/errors.ts';
import { withValue } from '../forecast/with-value.fixture.ts';
import { CARD } from './card.fixture.ts';
import { parseModelCard } from './model-card.ts';

test('parses a card, also with additional fields', () => {
  expect(parseModelCard(JSON.stringify(CARD))).toEqual(CARD);
  expect(parseModelCard(JSON.stringify(withValue(CARD, 'terminal', 'roof')))).toMatchObject({ terminal: 'roof' });
});

test.each<[string, unknown, string]>([
  ['format', 'onnx', 'card.format: expected "leo-abr forecaster", got "onnx"'],
  ['schema', 2, 'card.schema: expected 1, got 2'],
  ['name', '', 'card.name: expected text, got ""'],
  ['input.name', 3, 'card.input.name: expected text, got 3'],
  ['input.features', [], 'card.input.features: expected an array that is not empty'],
  ['input.features.2.name', 'rain', 'card.input.features[2].name: expected a feature of this version of leo-abr'],
  ['input.features.2.name', 'level-2s', 'card.input.features: expected each name once'],
  ['output.unit', 'bit/s', 'card.output.unit: expected "ln(rate / reference rate)", got "bit/s"'],
  ['output.stepEndsSeconds.1', 1, 'card.output.stepEndsSeconds[1]: expected a number above 1 and below 3600, got 1'],
  ['output.levels', [0.1, 0.5], 'card.output.levels: expected an odd number of levels with 0.5 in the middle'],
  ['rankCorrelation', 1, 'card.rankCorrelation: expected a number from 0 to below 1, got 1'],
  ['check.features', [1], 'card.check.features: expected an array of 13, got an array of 1'],
  ['check.quantiles.3', null, 'card.check.quantiles[3]: expected a finite number, got null'],
])('says what is wrong with %s', (path, value, message) => {
  const parse = () => parseModelCard(JSON.stringify(withValue(CARD, path, value)));
  expect(parse).toThrow(InputError);
  expect(parse).toThrow(message);
});

test.each(['', '{', 'null', '[]'])('rejects %j', (json) => {
  expect(() => parseModelCard(json)).toThrow(InputError);
});
