/** Checks the file form of a built-in forecaster's model. Not part of the plugin, whose own model has been checked. */

import {
  check,
  InputError,
  requireArray,
  requireAscending,
  requireCorrelation,
  requireObject,
  requireText,
} from '../../abr/errors.ts';
import { FEATURES } from '../link/features.ts';
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
  requireArray(file['networks'], `${where}.networks`).forEach((network, n) => {
    const at = `${where}.networks[${n}]`;
    let inputs = FEATURES.length;
    requireArray(network, at).forEach((layer, l, layers) => {
      inputs = checkLayer(layer, inputs, `${at}[${l}]`);
      const isRight = l < layers.length - 1 || inputs === outputs;
      check(isRight, `${at}[${l}].biases`, `one per step and level (${outputs})`, inputs);
    });
  });
  return unpackModel(value as ModelFile);
}

/** Checks everything but the networks; returns a network's number of outputs. */
function checkHeader(file: Record<string, unknown>, where: string): number {
  const { format, version, name, features } = file;
  check(format === MODEL_FORMAT, `${where}.format`, JSON.stringify(MODEL_FORMAT), format);
  check(version === MODEL_VERSION, `${where}.version`, `${MODEL_VERSION}`, version);
  requireText(name, `${where}.name`, 'a name');
  const names = requireArray(features, `${where}.features`);
  check(names.length === FEATURES.length, `${where}.features`, `${FEATURES.length} names`, names);
  for (const [i, feature] of FEATURES.entries()) {
    check(names[i] === feature.name, `${where}.features[${i}]`, JSON.stringify(feature.name), names[i]);
  }
  const stepEnds = requireAscending(file['stepEndsSeconds'], `${where}.stepEndsSeconds`, Number.POSITIVE_INFINITY);
  const levels = requireAscending(file['levels'], `${where}.levels`, 1);
  check(levels.length % 2 === 1, `${where}.levels`, 'an odd number of levels', levels);
  requireCorrelation(file['rankCorrelation'], `${where}.rankCorrelation`);
  return stepEnds.length * levels.length;
}

/** Checks a layer with `inputs` inputs; returns its number of outputs. */
function checkLayer(value: unknown, inputs: number, where: string): number {
  const { weights, scales, biases } = requireObject(value, where);
  const scaleCount = countNumbers(scales, `${where}.scales`);
  check(scaleCount === inputs, `${where}.scales`, `${inputs} numbers, one per input`, scaleCount);
  const outputs = countNumbers(biases, `${where}.biases`);
  check(outputs > 0, `${where}.biases`, 'at least one number', 0);
  const isWhole = typeof weights === 'string' && weights.length === inputs * outputs;
  check(isWhole, `${where}.weights`, `${inputs} x ${outputs} characters`, weights);
  const wrong = [...weights].findIndex((digit) => !WEIGHT_DIGITS.slice(0, 2 * MIDDLE_DIGIT + 1).includes(digit));
  check(wrong < 0, `${where}.weights[${wrong}]`, 'a digit of base64 but the last', weights[wrong]);
  return outputs;
}

/** Checks packed numbers; returns their number. */
function countNumbers(value: unknown, where: string): number {
  const { unit, steps } = requireObject(value, where);
  check(Number.isFinite(unit) && (unit as number) > 0, `${where}.unit`, 'a finite number above 0', unit);
  const bytes = base64Length(steps, `${where}.steps`);
  check(bytes % 2 === 0, `${where}.steps`, '16-bit integers of 2 bytes', bytes);
  return bytes / 2;
}

function base64Length(value: unknown, where: string): number {
  try {
    return atob(requireText(value, where, 'base64')).length;
  } catch {
    throw new InputError(where, 'base64', value);
  }
}
