/** The file form of a built-in forecaster's model, which `leo-abr train` writes, and its unpacking. */

import type { ModelOutline } from './model-outline.ts';
import type { Layer } from './quantile-network.ts';

export const MODEL_FORMAT = 'leo-abr quantile networks';
export const MODEL_VERSION = 2;

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

export const WEIGHT_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
export const MIDDLE_DIGIT = 31;

/** Unpacks a model that `parseModel` (parse-model.ts) accepts. */
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
