/** The file form of a built-in forecaster's model, which `leo-abr train` writes: its unpacking, and its check. */

import {
  check,
  requireArray,
  requireAscending,
  requireCorrelation,
  requireObject,
  requireText,
} from '../../abr/errors.ts';
import { FEATURES } from '../link/features.ts';
import type { Layer } from './quantile-network.ts';

/** The form of a model's outputs. */
export interface ModelOutline {
  /** As in a forecast: ascending, > 0. */
  stepEndsSeconds: readonly number[];
  /** As in a forecast: an odd number of quantile levels, ascending, in (0, 1). */
  levels: readonly number[];
  /** Correlation of the ranks of adjacent steps, measured on unseen sessions: 0 to below 1. */
  rankCorrelation: number;
}

const MODEL_FORMAT = 'leo-abr quantile networks';
const MODEL_VERSION = 2;

/** Numbers as multiples of a unit. */
interface PackedNumbers {
  unit: number;
  /** Little-endian 16-bit integers in base64. */
  steps: string;
}

interface LayerFile {
  /** One character per weight, `[input][output]`: (a base64 digit - 31) x the scale of the input. */
  weights: string;
  /** Per input. */
  scales: PackedNumbers;
  /** Per output. */
  biases: PackedNumbers;
}

export interface PackedModel extends ModelOutline {
  /** For logs and the model card. */
  name: string;
  /** Each a chain of layers; the model is their mean. */
  networks: readonly (readonly LayerFile[])[];
}

export interface ModelFile extends PackedModel {
  format: typeof MODEL_FORMAT;
  version: typeof MODEL_VERSION;
  /** Names of `FEATURES`, in their order. */
  features: readonly string[];
}

/** An unpacked model. */
export interface Model extends ModelOutline {
  name: string;
  networks: readonly (readonly Layer[])[];
}

const WEIGHT_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const MIDDLE_DIGIT = 31;

/** Unpacks a model that `parseModel` accepts. */
export function unpackModel({ name, stepEndsSeconds, levels, rankCorrelation, networks }: PackedModel): Model {
  const layers = networks.map((network) => network.map(unpackLayer));
  return { name, stepEndsSeconds, levels, rankCorrelation, networks: layers };
}

function unpackLayer(file: LayerFile): Layer {
  const scales = unpackNumbers(file.scales);
  const biases = unpackNumbers(file.biases);
  const weights = Float32Array.from(
    file.weights,
    (digit, i) => (WEIGHT_DIGITS.indexOf(digit) - MIDDLE_DIGIT) * scales[Math.floor(i / biases.length)]!,
  );
  return { weights, biases };
}

function unpackNumbers({ unit, steps }: PackedNumbers): Float32Array {
  const bytes = Uint8Array.from(atob(steps), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) => unit * view.getInt16(2 * i, true));
}

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
  const isWhole = typeof weights === 'string' && weights.length === inputs * outputs && /^[A-Za-z0-9+]*$/.test(weights);
  check(isWhole, `${where}.weights`, `${inputs} x ${outputs} digits of base64 but the last`, weights);
  return outputs;
}

/** Checks packed numbers; returns their number. */
function countNumbers(value: unknown, where: string): number {
  const { unit, steps } = requireObject(value, where);
  check(Number.isFinite(unit) && (unit as number) > 0, `${where}.unit`, 'a finite number above 0', unit);
  const isBase64 = typeof steps === 'string' && /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2,3}={1,2})?$/.test(steps);
  const bytes = isBase64 && steps.length % 4 === 0 ? atob(steps).length : Number.NaN;
  check(bytes % 2 === 0, `${where}.steps`, '16-bit integers in base64', steps);
  return bytes / 2;
}
