/** Checks the file form of a built-in forecaster's model. The plugin leaves this out: what it ships has been checked. */

import { InputError } from '../../abr/errors.ts';
import { FEATURES } from '../link-history.ts';
import {
  MIDDLE_DIGIT,
  MODEL_FORMAT,
  MODEL_VERSION,
  type Model,
  type ModelFile,
  unpackModel,
  WEIGHT_DIGITS,
} from './model-file.ts';

/** Checks and unpacks a model; throws an `InputError` whose field starts with `where` for anything that is not one. */
export function parseModel(value: unknown, where = 'model'): Model {
  const file = object(value, where);
  const outputs = checkHeader(file, where);
  array(file['networks'], `${where}.networks`).forEach((network, n) => {
    const at = `${where}.networks[${n}]`;
    let inputs = FEATURES.length;
    array(network, at).forEach((layer, l, layers) => {
      inputs = checkLayer(layer, inputs, `${at}[${l}]`);
      if (l === layers.length - 1 && inputs !== outputs) {
        throw new InputError(`${at}[${l}].biases`, `one per step and level (${outputs})`, inputs);
      }
    });
  });
  return unpackModel(value as ModelFile);
}

/** Checks everything but the networks; returns how many numbers a network puts out. */
function checkHeader(file: Record<string, unknown>, where: string): number {
  const fail = (field: string, expected: string, got: unknown): never => {
    throw new InputError(`${where}.${field}`, expected, got);
  };
  if (file['format'] !== MODEL_FORMAT) fail('format', JSON.stringify(MODEL_FORMAT), file['format']);
  if (file['version'] !== MODEL_VERSION) fail('version', `${MODEL_VERSION}`, file['version']);
  const name = file['name'];
  if (typeof name !== 'string' || name === '') fail('name', 'a name', name);
  const features = array(file['features'], `${where}.features`);
  if (features.length !== FEATURES.length) fail('features', `${FEATURES.length} names`, features);
  FEATURES.forEach((feature, i) => {
    if (features[i] !== feature.name) fail(`features[${i}]`, JSON.stringify(feature.name), features[i]);
  });
  const stepEndsSeconds = ascending(file['stepEndsSeconds'], `${where}.stepEndsSeconds`, Number.POSITIVE_INFINITY);
  const levels = ascending(file['levels'], `${where}.levels`, 1);
  if (levels.length % 2 === 0) fail('levels', 'an odd number of levels', levels);
  const rankCorrelation = file['rankCorrelation'];
  if (typeof rankCorrelation !== 'number' || !(rankCorrelation >= 0 && rankCorrelation < 1)) {
    fail('rankCorrelation', 'a number from 0 to below 1', rankCorrelation);
  }
  return stepEndsSeconds.length * levels.length;
}

/** Checks a layer of so many inputs; returns the number of its outputs. */
function checkLayer(value: unknown, inputs: number, where: string): number {
  const { weights, scales, biases } = object(value, where);
  const scaleCount = countNumbers(scales, `${where}.scales`);
  if (scaleCount !== inputs) throw new InputError(`${where}.scales`, `${inputs} numbers, one per input`, scaleCount);
  const outputs = countNumbers(biases, `${where}.biases`);
  if (outputs === 0) throw new InputError(`${where}.biases`, 'at least one number', 0);
  if (typeof weights !== 'string' || weights.length !== inputs * outputs) {
    throw new InputError(`${where}.weights`, `${inputs} x ${outputs} characters`, weights);
  }
  const wrong = [...weights].findIndex((digit) => !WEIGHT_DIGITS.slice(0, 2 * MIDDLE_DIGIT + 1).includes(digit));
  if (wrong >= 0) throw new InputError(`${where}.weights[${wrong}]`, 'a digit of base64 but the last', weights[wrong]);
  return outputs;
}

/** Checks packed numbers; returns how many they are. */
function countNumbers(value: unknown, where: string): number {
  const { unit, steps } = object(value, where);
  if (typeof unit !== 'number' || !(unit > 0 && unit < Number.POSITIVE_INFINITY)) {
    throw new InputError(`${where}.unit`, 'a finite number above 0', unit);
  }
  const bytes = base64Length(steps, `${where}.steps`);
  if (bytes % 2 !== 0) throw new InputError(`${where}.steps`, '16-bit integers of 2 bytes', bytes);
  return bytes / 2;
}

function base64Length(value: unknown, where: string): number {
  if (typeof value !== 'string') throw new InputError(where, 'base64', value);
  try {
    return atob(value).length;
  } catch {
    throw new InputError(where, 'base64', value);
  }
}

/** Throws an `InputError` unless the value is an object. */
function object(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InputError(where, 'an object', value);
  }
  return value as Record<string, unknown>;
}

/** Throws an `InputError` unless the value is an array that is not empty. */
function array(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new InputError(where, 'an array with something in it', value);
  return value;
}

/** Finite numbers, ascending, above 0 and below `limit`. */
function ascending(value: unknown, where: string, limit: number): number[] {
  let least = 0;
  return array(value, where).map((number, i) => {
    if (typeof number !== 'number' || !(number > least && number < limit)) {
      const below = limit === Number.POSITIVE_INFINITY ? '' : ` and below ${limit}`;
      throw new InputError(`${where}[${i}]`, `a finite number above ${least}${below}`, number);
    }
    least = number;
    return number;
  });
}
