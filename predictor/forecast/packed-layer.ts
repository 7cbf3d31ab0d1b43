/** The short form in which the plugin ships its model: a character per weight, and differences where they are small. */

import type { Layer } from './quantile-network.ts';

/** The weights of a layer, `[input][output]`, as steps of the scale of their input; a step is a character. */
export interface PackedLayer {
  weights: string;
  /** A character per input: the scale is 2 ** (-5 - steps / 4). */
  scales: string;
  /** A weight is stored as its difference from the one of this many outputs before, if there is one. Default: never. */
  lag?: number;
}

/** From -32 to 31. */
const wrapped = (step: number) => ((step + 32) & 63) - 32;
const stepsOf = (text: string) => Array.from(text, (character) => character.charCodeAt(0) - 80);

export function unpackLayer({ weights, scales, lag = Number.POSITIVE_INFINITY }: PackedLayer): Layer {
  const outputs = weights.length / scales.length;
  const steps = stepsOf(weights);
  for (let i = 0; i < steps.length; i++) if (i % outputs >= lag) steps[i] = wrapped(steps[i]! + steps[i - lag]!);
  return stepsOf(scales).map((scale, input) =>
    Float32Array.from(steps.slice(input * outputs, (input + 1) * outputs), (step) => step * 2 ** (-5 - scale / 4)),
  );
}
