/**
 * The small neural network from features to quantiles of the capacity per step, as ln(rate / reference), with layers of
 * leaky ReLU. Per step an output is the median. The softplus of the other outputs are the distances between quantiles,
 * so that quantiles never cross.
 */

/** Weights `[input][output]`. The last two inputs are always 1, so their weights add up to the biases. */
export type Layer = readonly Float32Array[];

/** The form of a model's outputs. */
export interface ModelOutline {
  /** As in a forecast. */
  stepEndsSeconds: readonly number[];
  /** As in a forecast, an odd number. */
  levels: readonly number[];
  /** Correlation of the ranks of adjacent steps, 0 to below 1. */
  rankCorrelation: number;
}

export interface Model extends ModelOutline {
  layers: readonly Layer[];
}

/** Slope of the leaky ReLU below 0. */
export const LEAK = 0.1;

/** Writes the quantiles `[step * levelCount + level]` into `into`. */
export function evaluateNetwork(
  layers: readonly Layer[],
  levelCount: number,
  features: Float64Array,
  into: Float64Array,
): void {
  let inputs = features;
  for (const layer of layers) {
    const outputs = new Float64Array(layer[0]!.length);
    for (let i = 0; i < layer.length; i++) {
      const weights = layer[i]!;
      const value = inputs[i] ?? 1;
      const input = inputs !== features && value < 0 ? LEAK * value : value;
      for (let j = 0; j < outputs.length; j++) outputs[j]! += input * weights[j]!;
    }
    inputs = outputs;
  }
  const middle = levelCount >> 1;
  for (let at = middle; at < into.length; at += levelCount) {
    into[at] = inputs[at]!;
    for (let i = 1; i <= middle; i++) {
      into[at + i] = into[at + i - 1]! + softplus(inputs[at + i]!);
      into[at - i] = into[at - i + 1]! - softplus(inputs[at - i]!);
    }
  }
}

function softplus(x: number): number {
  return x > 30 ? x : Math.log(1 + Math.exp(x));
}

/* The short form in which the plugin ships its model: a character per weight, or per difference of weights. */

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
