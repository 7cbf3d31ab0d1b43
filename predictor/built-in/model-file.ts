/** The file form of a built-in forecaster's model, as `leo-abr train` writes it, and how it is unpacked. */

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

export const WEIGHT_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
export const MIDDLE_DIGIT = 31;

/** Unpacks a model that `parseModel` (parse-model.ts) accepts; the result for others is undefined. */
export function unpackModel({ name, stepEndsSeconds, levels, rankCorrelation, networks }: ModelFile): Model {
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
