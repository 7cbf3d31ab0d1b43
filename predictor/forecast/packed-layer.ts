/** The short form in which the plugin ships its model: a character per weight, or per difference of weights. */

import type { Layer } from './quantile-network.ts';

export interface PackedLayer {
  /** A character per weight, `[input][output]`, in units of the scale of its input. */
  weights: string;
  /** A character per input: the scale is 2 ** (-5 - steps / 4). */
  scales: string;
  /** A weight is stored as its difference from the weight of the output this far before. Default: never. */
  lag?: number;
}

/** Wraps a step into -32 to 31. */
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
