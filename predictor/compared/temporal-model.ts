/** The file form of a temporal network for sessions, as `leo-abr train --kind temporal` writes it: checked here, and unpacked. */

import { InputError } from '../../abr/errors.ts';
import { array, object, parseHeader } from '../built-in/model-file.ts';
import type { Layer } from '../built-in/quantile-network.ts';
import { finiteBase64Floats } from './base64-floats.ts';
import { type ComparedModel, SECONDS_SEEN } from './compared-model.ts';
import { CHANNELS, MOMENT_INPUTS, TemporalNetworks } from './temporal-network.ts';

export const TEMPORAL_FORMAT = 'leo-abr temporal network (sessions)';
export const TEMPORAL_VERSION = 1;

export interface TemporalModelFile {
  format: typeof TEMPORAL_FORMAT;
  version: typeof TEMPORAL_VERSION;
  name: string;
  /** Names of `FEATURES`, in their order. */
  features: readonly string[];
  stepEndsSeconds: readonly number[];
  levels: readonly number[];
  rankCorrelation: number;
  /** Seconds, or outputs of the convolution before, that a convolution takes together; their product is `SECONDS_SEEN`. */
  widths: readonly number[];
  /** What a second is known by: `CHANNELS`. */
  channels: readonly string[];
  /** What else a moment is known by: `MOMENT_INPUTS`. */
  moment: readonly string[];
  /** Each the convolutions, a dense layer of their outcome and the moment, and the head; their mean is the model. */
  networks: readonly (readonly TemporalLayerFile[])[];
}

/** Little-endian float32 in base64. */
export interface TemporalLayerFile {
  /** `[input][output]`; inputs of a convolution are `[position][channel]`, the oldest first. */
  weights: string;
  biases: string;
}

/** Reads a model; throws an `InputError` whose field starts with `where` for anything that is not one. */
export function parseTemporalModel(value: unknown, where = 'model'): ComparedModel {
  const file = object(value, where);
  const header = parseHeader(file, TEMPORAL_FORMAT, TEMPORAL_VERSION, where);
  const widths = array(file['widths'], `${where}.widths`).map((width, i) => {
    if (Number.isInteger(width) && (width as number) >= 1) return width as number;
    throw new InputError(`${where}.widths[${i}]`, 'a whole number above 0', width);
  });
  const reach = widths.reduce((product, width) => product * width, 1);
  if (reach !== SECONDS_SEEN) throw new InputError(`${where}.widths`, `a product of ${SECONDS_SEEN}`, reach);
  requireNames(file['channels'], CHANNELS, `${where}.channels`);
  requireNames(file['moment'], MOMENT_INPUTS, `${where}.moment`);
  const outputs = header.stepEndsSeconds.length * header.levels.length;
  const networks = array(file['networks'], `${where}.networks`).map((network, n) => {
    const at = `${where}.networks[${n}]`;
    const layers = array(network, at);
    if (layers.length !== widths.length + 2) throw new InputError(at, `${widths.length + 2} layers`, layers);
    let units: number = CHANNELS.length;
    return layers.map((layer, l) => {
      const inputs = l === widths.length ? units + MOMENT_INPUTS.length : units * (widths[l] ?? 1);
      const parsed = parseLayer(layer, inputs, `${at}[${l}]`);
      units = parsed.biases.length;
      if (l === layers.length - 1 && units !== outputs) {
        throw new InputError(`${at}[${l}].biases`, `one per step and level (${outputs})`, units);
      }
      return parsed;
    });
  });
  const model = new TemporalNetworks(networks, header.stepEndsSeconds.length, header.levels.length);
  return {
    ...header,
    kind: 'temporal network',
    evaluate: (features, seconds, values) => model.evaluate(features, seconds, values),
  };
}

function requireNames(value: unknown, expected: readonly string[], where: string): void {
  const names = array(value, where);
  if (names.length !== expected.length) throw new InputError(where, `${expected.length} names`, names);
  expected.forEach((name, i) => {
    if (names[i] !== name) throw new InputError(`${where}[${i}]`, JSON.stringify(name), names[i]);
  });
}

function parseLayer(value: unknown, inputs: number, where: string): Layer {
  const file = object(value, where);
  const biases = finiteBase64Floats(file['biases'], `${where}.biases`);
  if (biases.length === 0) throw new InputError(`${where}.biases`, 'at least one number', 0);
  const weights = finiteBase64Floats(file['weights'], `${where}.weights`);
  if (weights.length !== inputs * biases.length) {
    throw new InputError(`${where}.weights`, `${inputs} x ${biases.length} numbers`, weights.length);
  }
  return { weights, biases };
}
