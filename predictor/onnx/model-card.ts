/**
 * The model card in the metadata of an ONNX file (JSON): inputs and outputs with order and unit, training data and
 * scores.
 */

import { InputError } from '../../abr/errors.ts';
import { FEATURES } from '../features.ts';
import { requireAscending, requireNonEmptyArray, requireObject, requireRankCorrelation } from '../json-checks.ts';
import type { ModelOutline } from '../model-outline.ts';

export const CARD_FORMAT = 'leo-abr forecaster';
export const CARD_SCHEMA = 1;
/** Key of the card in the metadata of an ONNX file. */
export const CARD_KEY = 'leo_abr_card';
/** Unit of the output: rates are relative to the session's own, so that the model is scale-free. */
export const OUTPUT_UNIT = 'ln(rate / reference rate)';

export interface ModelCard {
  format: typeof CARD_FORMAT;
  schema: typeof CARD_SCHEMA;
  /** Forecasts of the model have the source `model:<name>`. */
  name: string;
  /** The training program. */
  tool: { name: string; version: string };
  /** A float32 tensor `[batch, features]`. */
  input: {
    name: string;
    /** In the tensor's order: names of `FEATURES`, their meaning and unit, and the value for "unknown". */
    features: readonly { name: string; meaning: string; unknown?: number }[];
  };
  /** A float32 tensor `[batch, steps, levels]`, ascending along the levels, with the median in the middle. */
  output: { name: string; unit: typeof OUTPUT_UNIT } & Pick<ModelOutline, 'stepEndsSeconds' | 'levels'>;
  rankCorrelation: ModelOutline['rankCorrelation'];
  /** The training data, and their licences. */
  data: readonly { dataset: string; licences: readonly string[] }[];
  /** The training, and scores on unseen data, for people. */
  training: Readonly<Record<string, unknown>>;
  scores: Readonly<Record<string, unknown>>;
  /** An example that is evaluated when the model is loaded, to detect a broken file or runtime. */
  check: { features: readonly number[]; quantiles: readonly number[] };
}

/** Parses a card from JSON. @throws {InputError} */
export function parseModelCard(json: string): ModelCard {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new InputError('card', 'JSON', json);
  }
  return checkModelCard(value);
}

/** Validates a card. @throws {InputError} */
export function checkModelCard(value: unknown): ModelCard {
  const card = requireObject(value, 'card');
  exactly(card['format'], 'card.format', CARD_FORMAT);
  exactly(card['schema'], 'card.schema', CARD_SCHEMA);
  text(card['name'], 'card.name');
  const tool = requireObject(card['tool'], 'card.tool');
  for (const field of ['name', 'version']) text(tool[field], `card.tool.${field}`);

  const input = requireObject(card['input'], 'card.input');
  text(input['name'], 'card.input.name');
  const features = requireNonEmptyArray(input['features'], 'card.input.features').map((feature, i) => {
    const where = `card.input.features[${i}]`;
    const { name, meaning } = requireObject(feature, where);
    text(meaning, `${where}.meaning`);
    if (!FEATURES.some((known) => known.name === name)) {
      throw new InputError(`${where}.name`, 'a feature of this version of leo-abr', name);
    }
    return name;
  });
  if (new Set(features).size < features.length) throw new InputError('card.input.features', 'each name once', features);

  const output = requireObject(card['output'], 'card.output');
  text(output['name'], 'card.output.name');
  exactly(output['unit'], 'card.output.unit', OUTPUT_UNIT);
  const stepEnds = requireAscending(output['stepEndsSeconds'], 'card.output.stepEndsSeconds', 3600);
  const levels = requireAscending(output['levels'], 'card.output.levels', 1);
  if (levels.length % 2 === 0 || levels[levels.length >> 1] !== 0.5) {
    throw new InputError('card.output.levels', 'an odd number of levels with 0.5 in the middle', levels.join(', '));
  }
  requireRankCorrelation(card['rankCorrelation'], 'card.rankCorrelation');

  requireNonEmptyArray(card['data'], 'card.data').forEach((source, i) => {
    const { dataset, licences } = requireObject(source, `card.data[${i}]`);
    text(dataset, `card.data[${i}].dataset`);
    requireNonEmptyArray(licences, `card.data[${i}].licences`).forEach((licence, k) => {
      text(licence, `card.data[${i}].licences[${k}]`);
    });
  });
  requireObject(card['training'], 'card.training');
  requireObject(card['scores'], 'card.scores');
  const check = requireObject(card['check'], 'card.check');
  numbers(check['features'], 'card.check.features', features.length);
  numbers(check['quantiles'], 'card.check.quantiles', stepEnds.length * levels.length);
  return card as unknown as ModelCard;
}

function text(value: unknown, where: string): void {
  if (typeof value !== 'string' || value === '') throw new InputError(where, 'text', value);
}

function exactly(value: unknown, where: string, expected: string | number): void {
  if (value !== expected) throw new InputError(where, JSON.stringify(expected), value);
}

function numbers(value: unknown, where: string, count: number): void {
  const list = requireNonEmptyArray(value, where);
  if (list.length !== count) throw new InputError(where, `${count} numbers`, value);
  list.forEach((number, i) => {
    if (!Number.isFinite(number)) throw new InputError(`${where}[${i}]`, 'a finite number', number);
  });
}
