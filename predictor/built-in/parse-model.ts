/** Checks the file form of a built-in forecaster's model. Not part of the plugin, whose own model has been checked. */

import { InputError } from '../../abr/errors.ts';
import { FEATURES } from '../features.ts';
import { requireAscending, requireNonEmptyArray, requireObject, requireRankCorrelation } from '../json-checks.ts';
import {
  MIDDLE_DIGIT,
  MODEL_FORMAT,
  MODEL_VERSION,
  type Model,
  type ModelFile,
  unpackModel,
  WEIGHT_DIGITS,
} from './model-file.ts';

/** Checks and unpacks a model. @throws {InputError} whose field starts with `where` */
export function parseModel(value: unknown, where = 'model'): Model {
  const file = requireObject(value, where);
  const outputs = checkHeader(file, where);
  requireNonEmptyArray(file['networks'], `${where}.networks`).forEach((network, n) => {
    const at = `${where}.networks[${n}]`;
    let inputs = FEATURES.length;
    requireNonEmptyArray(network, at).forEach((layer, l, layers) => {
      inputs = checkLayer(layer, inputs, `${at}[${l}]`);
      if (l === layers.length - 1 && inputs !== outputs) {
        throw new InputError(`${at}[${l}].biases`, `one per step and level (${outputs})`, inputs);
      }
    });
  });
  return unpackModel(value as ModelFile);
}

/** Checks everything but the networks; returns a network's number of outputs. */
function checkHeader(file: Record<string, unknown>, where: string): number {
  const fail = (field: string, expected: string, got: unknown): never => {
    throw new InputError(`${where}.${field}`, expected, got);
  };
  if (file['format'] !== MODEL_FORMAT) fail('format', JSON.stringify(MODEL_FORMAT), file['format']);
  if (file['version'] !== MODEL_VERSION) fail('version', `${MODEL_VERSION}`, file['version']);
  const name = file['name'];
  if (typeof name !== 'string' || name === '') fail('name', 'a name', name);
  const features = requireNonEmptyArray(file['features'], `${where}.features`);
  if (features.length !== FEATURES.length) fail('features', `${FEATURES.length} names`, features);
  FEATURES.forEach((feature, i) => {
    if (features[i] !== feature.name) fail(`features[${i}]`, JSON.stringify(feature.name), features[i]);
  });
  const stepEnds = requireAscending(file['stepEndsSeconds'], `${where}.stepEndsSeconds`, Number.POSITIVE_INFINITY);
  const levels = requireAscending(file['levels'], `${where}.levels`, 1);
  if (levels.length % 2 === 0) fail('levels', 'an odd number of levels', levels);
  requireRankCorrelation(file['rankCorrelation'], `${where}.rankCorrelation`);
  return stepEnds.length * levels.length;
}

/** Checks a layer with `inputs` inputs; returns its number of outputs. */
function checkLayer(value: unknown, inputs: number, where: string): number {
  const { weights, scales, biases } = requireObject(value, where);
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

/** Checks packed numbers; returns their number. */
function countNumbers(value: unknown, where: string): number {
  const { unit, steps } = requireObject(value, where);
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
