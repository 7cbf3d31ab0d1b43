/** The file form of a model, which `leo-abr train` writes: its check and its unpacking. */

import {
  check,
  requireArray,
  requireAscending,
  requireCorrelation,
  requireObject,
  requireText,
} from '../../abr/errors.ts';
import { FEATURES } from '../link/features.ts';
import type { Layer, Model, ModelOutline } from './quantile-forecaster.ts';

const MODEL_FORMAT = 'leo-abr quantile network';
export const MODEL_VERSION = 4;

/** Digits are from base64. The last two inputs of a layer are always 1, so their weights add up to the biases. */
interface LayerFile {
  /** A digit per weight, `[input][output]`: (digit - 31) x the scale of the input. */
  weights: string;
  /** A digit per input: the scale is 2 ** (-digit / 4). */
  scales: string;
}

export interface ModelFile extends ModelOutline {
  format: typeof MODEL_FORMAT;
  version: typeof MODEL_VERSION;
  /** For logs and the model card. */
  name: string;
  /** Names of `FEATURES`, in their order. */
  features: readonly string[];
  layers: readonly LayerFile[];
}

const MIDDLE_DIGIT = 31;
/** The value of a digit of base64. */
const digitValue = (digit: string) => atob(`${digit}A==`).charCodeAt(0) >> 2;

/** Unpacks a valid model. */
export function unpackModel(file: ModelOutline & Pick<ModelFile, 'layers'>): Model {
  const { stepEndsSeconds, levels, rankCorrelation, layers } = file;
  return { stepEndsSeconds, levels, rankCorrelation, layers: layers.map(unpackLayer) };
}

function unpackLayer({ weights, scales }: LayerFile): Layer {
  const outputs = weights.length / scales.length;
  return Array.from(scales, (digit, input) => {
    const scale = 2 ** (-digitValue(digit) / 4);
    const row = weights.slice(input * outputs, (input + 1) * outputs);
    return Float32Array.from(row, (weight) => (digitValue(weight) - MIDDLE_DIGIT) * scale);
  });
}

/** @throws {InputError} whose field starts with `where` */
export function parseModel(value: unknown, where = 'model'): Model {
  const file = requireObject(value, where);
  const outputs = checkHeader(file, where);
  let inputs = FEATURES.length;
  requireArray(file['layers'], `${where}.layers`).forEach((layer, l, layers) => {
    inputs = checkLayer(layer, inputs, `${where}.layers[${l}]`);
    const isRight = l < layers.length - 1 || inputs === outputs;
    check(isRight, `${where}.layers[${l}]`, `an output per step and level (${outputs})`, inputs);
  });
  return unpackModel(value as ModelFile);
}

/** Checks everything except the layers. Returns the network's number of outputs. */
function checkHeader(file: Record<string, unknown>, where: string): number {
  const { format, version, name, features } = file;
  check(format === MODEL_FORMAT, `${where}.format`, JSON.stringify(MODEL_FORMAT), format);
  check(version === MODEL_VERSION, `${where}.version`, `${MODEL_VERSION}`, version);
  requireText(name, `${where}.name`, 'a name');
  const names = requireArray(features, `${where}.features`, FEATURES.length, FEATURES.length);
  for (const [i, feature] of FEATURES.entries()) {
    check(names[i] === feature.name, `${where}.features[${i}]`, JSON.stringify(feature.name), names[i]);
  }
  const stepEnds = requireAscending(file['stepEndsSeconds'], `${where}.stepEndsSeconds`, 3600);
  const levels = requireAscending(file['levels'], `${where}.levels`, 1);
  const isCentred = levels.length % 2 === 1 && levels.length > 1 && levels[levels.length >> 1] === 0.5;
  check(isCentred, `${where}.levels`, 'an odd number of levels, 3 or more, 0.5 in the middle', levels.join(', '));
  requireCorrelation(file['rankCorrelation'], `${where}.rankCorrelation`);
  return stepEnds.length * levels.length;
}

/** Checks a layer with `inputs` inputs and the two inputs that are 1. Returns its number of outputs. */
function checkLayer(value: unknown, inputs: number, where: string): number {
  const { weights, scales } = requireObject(value, where);
  const isScales = typeof scales === 'string' && scales.length === inputs + 2 && /^[A-Za-z0-9+/]*$/.test(scales);
  check(isScales, `${where}.scales`, `${inputs + 2} digits of base64`, scales);
  const outputs = typeof weights === 'string' ? weights.length / (inputs + 2) : 0;
  const isWhole = outputs > 0 && Number.isInteger(outputs) && /^[A-Za-z0-9+]*$/.test(weights as string);
  check(isWhole, `${where}.weights`, `${inputs + 2} x n digits of base64 but the last`, weights);
  return outputs;
}
