/** Builds the graph of an ONNX file, with the output layer of quantile models. */

import type { OnnxNode, OnnxTensor } from './onnx-file.ts';

export interface DenseLayer {
  inputCount: number;
  /** `[input][output]`, flat. */
  weights: ArrayLike<number>;
  biases: ArrayLike<number>;
}

/** Nodes in order of evaluation. Methods return the name of the added tensor. */
export class OnnxGraph {
  readonly nodes: OnnxNode[] = [];
  readonly constants: OnnxTensor[] = [];

  add(type: string, inputs: string[], output: string, attributes: OnnxNode['attributes'] = {}): string {
    this.nodes.push({ type, inputs, output, attributes });
    return output;
  }

  floats(name: string, shape: number[], values: ArrayLike<number>): string {
    this.constants.push({ name, shape, values: Float32Array.from(values) });
    return name;
  }

  whole(name: string, ...values: number[]): string {
    this.constants.push({ name, shape: [values.length], values: BigInt64Array.from(values, BigInt) });
    return name;
  }

  /** A dense layer on values `[row, input]`, without activation. */
  dense(name: string, values: string, { inputCount, weights, biases }: DenseLayer): string {
    const shape = [inputCount, biases.length];
    const inputs = [
      values,
      this.floats(`${name}-weights`, shape, weights),
      this.floats(`${name}-biases`, [biases.length], biases),
    ];
    return this.add('Gemm', inputs, `${name}-sums`);
  }

  /** A function that turns a network's raw outputs `[row, step * level]` into quantiles `[row, step, level]`. */
  quantileHead(steps: number, levels: number): (network: string, outputs: string) => string {
    const middle = levels >> 1;
    const shape = this.whole('shape', -1, steps, levels);
    const middleSlice = [
      this.whole('middle', middle),
      this.whole('middle-end', middle + 1),
      this.whole('levels-axis', 2),
    ];
    const sums = this.floats('gap-sums', [levels, levels], gapSums(levels));
    return (network, outputs) => {
      const raw = this.add('Reshape', [outputs, shape], `${network}-raw`);
      const median = this.add('Slice', [raw, ...middleSlice], `${network}-median`);
      const gaps = this.add('Softplus', [raw], `${network}-gaps`);
      const offsets = this.add('MatMul', [gaps, sums], `${network}-offsets`);
      return this.add('Add', [median, offsets], `${network}-quantiles`);
    };
  }
}

/** Matrix `[gap][level]` that sums gaps from the median outwards: positive above it, negative below it. */
function gapSums(levels: number): number[] {
  const middle = levels >> 1;
  return Array.from({ length: levels * levels }, (_, at) => {
    const gap = Math.floor(at / levels);
    const level = at % levels;
    if (middle < gap && gap <= level) return 1;
    return level <= gap && gap < middle ? -1 : 0;
  });
}
