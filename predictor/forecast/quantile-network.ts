/**
 * The built-in forecaster's small neural networks from features to quantiles of the capacity per step, as ln(rate /
 * reference). Layers of leaky ReLU; an output is the median of a step, and the distances between quantiles are softplus
 * outputs, so that quantiles never cross. Several networks are averaged.
 */

/** One layer: `outputs[j] = biases[j] + sum over i of inputs[i] * weights[i * outputs + j]`. */
export interface Layer {
  weights: Float32Array;
  biases: Float32Array;
}

/** Slope of the leaky ReLU below 0. */
export const LEAK = 0.1;

export class QuantileNetworks {
  readonly #networks: readonly (readonly Layer[])[];
  readonly #levelCount: number;
  readonly #buffers: readonly [Float64Array, Float64Array];

  /** Every network has the same inputs and outputs, `levelCount` per step, which is odd. */
  constructor(networks: readonly (readonly Layer[])[], levelCount: number) {
    this.#networks = networks;
    this.#levelCount = levelCount;
    const widest = Math.max(...networks.flat().map((layer) => layer.biases.length));
    this.#buffers = [new Float64Array(widest), new Float64Array(widest)];
  }

  /** Writes the quantiles `[step * levelCount + level]` into `into`. */
  evaluate(features: Float64Array, into: Float64Array): void {
    const levelCount = this.#levelCount;
    const middle = levelCount >> 1;
    const share = 1 / this.#networks.length;
    into.fill(0);
    for (const network of this.#networks) {
      const outputs = this.#outputs(network, features);
      for (let i = 0; i < into.length; i++) {
        into[i]! += share * (i % levelCount === middle ? outputs[i]! : softplus(outputs[i]!));
      }
    }
    // From distances to quantiles, from the medians outwards.
    for (let at = middle; at < into.length; at += levelCount) {
      for (let i = 1; i <= middle; i++) {
        into[at + i]! += into[at + i - 1]!;
        into[at - i] = into[at - i + 1]! - into[at - i]!;
      }
    }
  }

  #outputs(network: readonly Layer[], features: Float64Array): Float64Array {
    let inputs = features;
    let inputCount = features.length;
    for (let l = 0; l < network.length; l++) {
      const { weights, biases } = network[l]!;
      const outputs = this.#buffers[l % 2]!;
      const outputCount = biases.length;
      outputs.set(biases);
      for (let i = 0; i < inputCount; i++) {
        const input = inputs[i]!;
        for (let j = 0; j < outputCount; j++) outputs[j]! += input * weights[i * outputCount + j]!;
      }
      if (l < network.length - 1) {
        for (let j = 0; j < outputCount; j++) if (outputs[j]! < 0) outputs[j]! *= LEAK;
      }
      inputs = outputs;
      inputCount = outputCount;
    }
    return inputs;
  }
}

function softplus(x: number): number {
  return x > 30 ? x : Math.log(1 + Math.exp(x));
}
