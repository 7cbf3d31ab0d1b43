/** The file form of a built-in forecaster's model, as `leo-abr train` writes it: checked here, and unpacked. */

import { InputError } from '../../abr/errors.ts';
import { FEATURES } from '../link-history.ts';
import type { Layer } from './quantile-network.ts';

export const MODEL_FORMAT = 'leo-abr quantile networks';
export const MODEL_VERSION = 2;

/** Numbers as multiples of a unit. */
export interface PackedNumbers {
  unit: number;
  /** Little-endian 16-bit integers in base64. */
  steps: string;
}

export interface LayerFile {
  /** One character per weight, `[input][output]`: a digit of base64, less 31, times the scale of the input. */
  weights: string;
  /** Per input. */
  scales: PackedNumbers;
  /** Per output. */
  biases: PackedNumbers;
}

export interface ModelFile {
  format: typeof MODEL_FORMAT;
  version: typeof MODEL_VERSION;
  /** For logs and the model card. */
  name: string;
  /** Names of `FEATURES`, in their order. */
  features: readonly string[];
  /** As in a forecast: ascending, > 0. */
  stepEndsSeconds: readonly number[];
  /** As in a forecast: an odd number of them, ascending, in (0, 1). */
  levels: readonly number[];
  /** Of the ranks of adjacent steps, measured on sessions that the model did not learn from: 0 to below 1. */
  rankCorrelation: number;
  /** Each a chain of layers; their mean is the model. */
  networks: readonly (readonly LayerFile[])[];
}

/** A model that is ready to be evaluated. */
export interface Model {
  name: string;
  stepEndsSeconds: readonly number[];
  levels: readonly number[];
  rankCorrelation: number;
  networks: readonly (readonly Layer[])[];
}

/** Reads a model; throws an `InputError` whose field starts with `where` for anything that is not one. */
export function parseModel(value: unknown, where = 'model'): Model {
  const file = object(value, where);
  const header = parseHeader(file, where);
  const outputs = header.stepEndsSeconds.length * header.levels.length;
  const networks = array(file['networks'], `${where}.networks`).map((network, n) => {
    const at = `${where}.networks[${n}]`;
    const layers = array(network, at);
    let inputs = FEATURES.length;
    return layers.map((value, l) => {
      const isLast = l === layers.length - 1;
      const layer = parseLayer(value, inputs, `${at}[${l}]`);
      inputs = layer.biases.length;
      if (isLast && inputs !== outputs) {
        throw new InputError(`${at}[${l}].biases`, `one per step and level (${outputs})`, inputs);
      }
      return layer;
    });
  });
  return { ...header, networks };
}

/** Checks everything but the networks. */
function parseHeader(file: Record<string, unknown>, where: string): Omit<Model, 'networks'> {
  const fail = (field: string, expected: string, got: unknown): never => {
    throw new InputError(`${where}.${field}`, expected, got);
  };
  if (file['format'] !== MODEL_FORMAT) fail('format', JSON.stringify(MODEL_FORMAT), file['format']);
  if (file['version'] !== MODEL_VERSION) fail('version', `${MODEL_VERSION}`, file['version']);
  const name = file['name'];
  if (typeof name !== 'string' || name === '') return fail('name', 'a name', name);
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
    return fail('rankCorrelation', 'a number from 0 to below 1', rankCorrelation);
  }
  return { name, stepEndsSeconds, levels, rankCorrelation };
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const MIDDLE_DIGIT = 31;

function parseLayer(value: unknown, inputs: number, where: string): Layer {
  const file = object(value, where);
  const scales = packedNumbers(file['scales'], `${where}.scales`);
  if (scales.length !== inputs)
    throw new InputError(`${where}.scales`, `${inputs} numbers, one per input`, scales.length);
  const biases = packedNumbers(file['biases'], `${where}.biases`);
  if (biases.length === 0) throw new InputError(`${where}.biases`, 'at least one number', 0);
  const digits = file['weights'];
  if (typeof digits !== 'string' || digits.length !== inputs * biases.length) {
    throw new InputError(`${where}.weights`, `${inputs} x ${biases.length} characters`, digits);
  }
  const weights = Float32Array.from(digits, (digit, i) => {
    // A character that is none has index -1: one below the first.
    const step = DIGITS.indexOf(digit) - MIDDLE_DIGIT;
    if (Math.abs(step) > MIDDLE_DIGIT) {
      throw new InputError(`${where}.weights[${i}]`, 'a digit of base64 but the last', digit);
    }
    return step * scales[Math.floor(i / biases.length)]!;
  });
  return { weights, biases };
}

function packedNumbers(value: unknown, where: string): Float32Array {
  const { unit, steps } = object(value, where);
  if (typeof unit !== 'number' || !(unit > 0 && unit < Number.POSITIVE_INFINITY)) {
    throw new InputError(`${where}.unit`, 'a finite number above 0', unit);
  }
  const bytes = base64Bytes(steps, `${where}.steps`);
  if (bytes.length % 2 !== 0) throw new InputError(`${where}.steps`, '16-bit integers of 2 bytes', bytes.length);
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) => unit * view.getInt16(2 * i, true));
}

function base64Bytes(value: unknown, where: string): Uint8Array<ArrayBuffer> {
  if (typeof value !== 'string') throw new InputError(where, 'base64', value);
  try {
    return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
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
