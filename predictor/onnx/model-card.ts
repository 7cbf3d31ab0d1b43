/**
 * The model card inside an ONNX file: what goes in and comes out of the model, in which order and unit, what it learnt from
 * and how well it does. The file's metadata hold it as JSON; it is checked here before anything relies on it.
 */

import { InputError } from '../../abr/errors.ts';
import { FEATURES } from '../link-history.ts';

export const CARD_FORMAT = 'leo-abr forecaster';
export const CARD_SCHEMA = 1;
/** Key of the card in the metadata of an ONNX file. */
export const CARD_KEY = 'leo_abr_card';
/** Of every output: rates are relative to the session's own, so that a link twice as fast gives the same numbers. */
export const OUTPUT_UNIT = 'ln(rate / reference rate)';

export interface ModelCard {
  format: typeof CARD_FORMAT;
  schema: typeof CARD_SCHEMA;
  /** Forecasts of the model have the source `model:<name>`. */
  name: string;
  /** What made the model. */
  tool: { name: string; version: string };
  /** A float32 tensor `[batch, features]`. */
  input: {
    name: string;
    /** In the tensor's order: names of `FEATURES`, what they are and in which unit, and what stands for "not known". */
    features: readonly { name: string; meaning: string; unknown?: number }[];
  };
  /** A float32 tensor `[batch, steps, levels]`, ascending along the levels. */
  output: {
    name: string;
    unit: typeof OUTPUT_UNIT;
    /** As in a forecast. */
    stepEndsSeconds: readonly number[];
    /** As in a forecast; an odd number of them, the median in the middle. */
    levels: readonly number[];
  };
  /** As in a forecast. */
  rankCorrelation: number;
  /** What the model learnt from, and under which licences that is. */
  data: readonly { dataset: string; licences: readonly string[] }[];
  /** How it was trained, and how well it does on data that it has not seen; for people. */
  training: Readonly<Record<string, unknown>>;
  scores: Readonly<Record<string, unknown>>;
  /** An input and what comes of it: whoever loads the model compares, so that a broken file or runtime is found out. */
  check: { features: readonly number[]; quantiles: readonly number[] };
}

/** Reads a card from its JSON. Throws an `InputError` that says field, expectation and what came. */
export function parseModelCard(json: string): ModelCard {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new InputError('card', 'JSON', json);
  }
  return checkModelCard(value);
}

/** The value as a card, where it is one. Throws an `InputError` otherwise. */
export function checkModelCard(value: unknown): ModelCard {
  const card = object(value, 'card');
  exactly(card['format'], 'card.format', CARD_FORMAT);
  exactly(card['schema'], 'card.schema', CARD_SCHEMA);
  text(card['name'], 'card.name');
  const tool = object(card['tool'], 'card.tool');
  for (const field of ['name', 'version']) text(tool[field], `card.tool.${field}`);

  const input = object(card['input'], 'card.input');
  text(input['name'], 'card.input.name');
  const features = array(input['features'], 'card.input.features').map((feature, i) => {
    const where = `card.input.features[${i}]`;
    const { name, meaning } = object(feature, where);
    text(meaning, `${where}.meaning`);
    if (!FEATURES.some((known) => known.name === name)) {
      throw new InputError(`${where}.name`, 'a feature that this version of leo-abr has', name);
    }
    return name;
  });
  if (new Set(features).size < features.length) throw new InputError('card.input.features', 'each name once', features);

  const output = object(card['output'], 'card.output');
  text(output['name'], 'card.output.name');
  exactly(output['unit'], 'card.output.unit', OUTPUT_UNIT);
  const stepEnds = ascending(output['stepEndsSeconds'], 'card.output.stepEndsSeconds', 3600);
  const levels = ascending(output['levels'], 'card.output.levels', 1);
  if (levels.length % 2 === 0 || levels[levels.length >> 1] !== 0.5) {
    throw new InputError('card.output.levels', 'an odd number of levels with 0.5 in the middle', levels.join(', '));
  }
  const rankCorrelation = card['rankCorrelation'];
  if (typeof rankCorrelation !== 'number' || !(rankCorrelation >= 0 && rankCorrelation < 1)) {
    throw new InputError('card.rankCorrelation', 'a number from 0 to below 1', rankCorrelation);
  }

  array(card['data'], 'card.data').forEach((source, i) => {
    const { dataset, licences } = object(source, `card.data[${i}]`);
    text(dataset, `card.data[${i}].dataset`);
    array(licences, `card.data[${i}].licences`).forEach((licence, k) => {
      text(licence, `card.data[${i}].licences[${k}]`);
    });
  });
  object(card['training'], 'card.training');
  object(card['scores'], 'card.scores');
  const check = object(card['check'], 'card.check');
  numbers(check['features'], 'card.check.features', features.length);
  numbers(check['quantiles'], 'card.check.quantiles', stepEnds.length * levels.length);
  return card as unknown as ModelCard;
}

function object(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InputError(where, 'an object', value);
  }
  return value as Record<string, unknown>;
}

function array(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new InputError(where, 'an array with something in it', value);
  return value;
}

function text(value: unknown, where: string): void {
  if (typeof value !== 'string' || value === '') throw new InputError(where, 'text', value);
}

function exactly(value: unknown, where: string, expected: string | number): void {
  if (value !== expected) throw new InputError(where, JSON.stringify(expected), value);
}

function numbers(value: unknown, where: string, count: number): void {
  const list = array(value, where);
  if (list.length !== count) throw new InputError(where, `${count} numbers`, value);
  list.forEach((number, i) => {
    if (!Number.isFinite(number)) throw new InputError(`${where}[${i}]`, 'a finite number', number);
  });
}

/** Ascending, above 0 and below `limit`. */
function ascending(value: unknown, where: string, limit: number): readonly number[] {
  const list = array(value, where) as readonly number[];
  list.forEach((number, i) => {
    const least = i === 0 ? 0 : list[i - 1]!;
    if (typeof number !== 'number' || !(number > least && number < limit)) {
      throw new InputError(`${where}[${i}]`, `a number above ${least} and below ${limit}`, number);
    }
  });
  return list;
}
