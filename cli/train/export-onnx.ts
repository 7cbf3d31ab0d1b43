/**
 * A model of `leo-abr train` as an ONNX file with its card inside, for predictor/onnx or anything else that runs ONNX. The
 * graph is what predictor/built-in/quantile-network.ts computes.
 */

import { parseModel } from '../../predictor/built-in/model-file.ts';
import { LEAK } from '../../predictor/built-in/quantile-network.ts';
import {
  CARD_FORMAT,
  CARD_KEY,
  CARD_SCHEMA,
  checkModelCard,
  type ModelCard as OnnxCard,
  OUTPUT_UNIT,
} from '../../predictor/onnx/model-card.ts';
import type { DescribedModel } from './model-card.ts';
import { type OnnxNode, type OnnxTensor, onnxFile } from './onnx-file.ts';

const INPUT = 'features';
const OUTPUT = 'quantiles';

/** Throws an `InputError` for a model or a card that cannot be used. */
export function exportOnnx(described: DescribedModel): Uint8Array {
  const card = onnxCard(described);
  const { networks, stepEndsSeconds, levels } = parseModel(described);
  const nodes: OnnxNode[] = [];
  const constants: OnnxTensor[] = [];
  const add = (type: string, inputs: string[], output: string, attributes: OnnxNode['attributes'] = {}): string => {
    nodes.push({ type, inputs, output, attributes });
    return output;
  };
  const floats = (name: string, shape: number[], values: ArrayLike<number>): string => {
    constants.push({ name, shape, values: Float32Array.from(values) });
    return name;
  };
  const whole = (name: string, ...values: number[]): string => {
    constants.push({ name, shape: [values.length], values: BigInt64Array.from(values, BigInt) });
    return name;
  };

  const middle = levels.length >> 1;
  const shape = whole('shape', -1, stepEndsSeconds.length, levels.length);
  const middleSlice = [whole('middle', middle), whole('middle-end', middle + 1), whole('levels-axis', 2)];
  const sums = floats('gap-sums', [levels.length, levels.length], gapSums(levels.length));
  const means = networks.map((network, n) => {
    let values = INPUT;
    network.forEach(({ weights, biases }, l) => {
      const of = `network${n}-layer${l}`;
      const inputCount = weights.length / biases.length;
      const layer = [
        values,
        floats(`${of}-weights`, [inputCount, biases.length], weights),
        floats(`${of}-biases`, [biases.length], biases),
      ];
      values = add('Gemm', layer, `${of}-sums`);
      if (l < network.length - 1) values = add('LeakyRelu', [values], `${of}-values`, { alpha: { float: LEAK } });
    });
    const raw = add('Reshape', [values, shape], `network${n}-raw`);
    const median = add('Slice', [raw, ...middleSlice], `network${n}-median`);
    const gaps = add('Softplus', [raw], `network${n}-gaps`);
    return add('Add', [median, add('MatMul', [gaps, sums], `network${n}-offsets`)], `network${n}-quantiles`);
  });
  add('Mean', means, OUTPUT);

  return onnxFile({
    producer: card.tool,
    description: `${card.name}: ${OUTPUT} of a link's capacity, ${OUTPUT_UNIT}. The metadata ${CARD_KEY} have the card.`,
    metadata: { [CARD_KEY]: JSON.stringify(card) },
    nodes,
    constants,
    inputs: [{ name: INPUT, shape: ['batch', card.input.features.length] }],
    outputs: [{ name: OUTPUT, shape: ['batch', stepEndsSeconds.length, levels.length] }],
  });
}

/** The card as it lies in the ONNX file. */
function onnxCard({ card, ...model }: DescribedModel): OnnxCard {
  const { golden, scores, ...training } = card.fit;
  return checkModelCard({
    format: CARD_FORMAT,
    schema: CARD_SCHEMA,
    name: model.name,
    tool: card.tool,
    input: { name: INPUT, features: card.inputs },
    output: { name: OUTPUT, unit: OUTPUT_UNIT, stepEndsSeconds: model.stepEndsSeconds, levels: model.levels },
    rankCorrelation: model.rankCorrelation,
    data: card.data,
    training,
    scores,
    check: { features: golden[0]?.features, quantiles: golden[0]?.logRatios },
  });
}

/** Matrix `[gap][level]` that adds gaps up from the median outwards: above it with plus, below it with minus. */
function gapSums(levels: number): number[] {
  const middle = levels >> 1;
  return Array.from({ length: levels * levels }, (_, at) => {
    const gap = Math.floor(at / levels);
    const level = at % levels;
    if (middle < gap && gap <= level) return 1;
    return level <= gap && gap < middle ? -1 : 0;
  });
}
