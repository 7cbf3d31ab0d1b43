/**
 * Exports a model of `leo-abr train` as an ONNX file with its card inside, for predictor/onnx or another ONNX runtime.
 * The graph computes the same as predictor/forecast/quantile-network.ts.
 */

import { parseModel } from '../../predictor/forecast/model-file.ts';
import { LEAK } from '../../predictor/forecast/quantile-network.ts';
import {
  CARD_FORMAT,
  CARD_KEY,
  CARD_SCHEMA,
  checkModelCard,
  type ModelCard as OnnxCard,
  OUTPUT_UNIT,
} from '../../predictor/onnx/model-card.ts';
import type { DescribedModel } from './model-card.ts';
import { OnnxGraph } from './onnx-file.ts';

const INPUT = 'features';
const OUTPUT = 'quantiles';

/** Returns the file's bytes. Throws an `InputError` for an unusable model or card. */
export function exportOnnx(described: DescribedModel): Uint8Array {
  const card = onnxCard(described);
  const { networks, stepEndsSeconds, levels } = parseModel(described);
  const graph = new OnnxGraph();
  const head = quantileHead(graph, stepEndsSeconds.length, levels.length);
  const means = networks.map((network, n) => {
    let values = INPUT;
    network.forEach(({ weights, biases }, l) => {
      const of = `network${n}-layer${l}`;
      const shape = [weights.length / biases.length, biases.length];
      const inputs = [
        values,
        graph.floats(`${of}-weights`, shape, weights),
        graph.floats(`${of}-biases`, [biases.length], biases),
      ];
      values = graph.add('Gemm', inputs, `${of}-sums`);
      if (l < network.length - 1) values = graph.add('LeakyRelu', [values], `${of}-values`, { alpha: LEAK });
    });
    return head(`network${n}`, values);
  });
  graph.add('Mean', means, OUTPUT);
  return graph.file({
    producer: card.tool,
    description: `${card.name}: ${OUTPUT} of a link's capacity, ${OUTPUT_UNIT}. The metadata ${CARD_KEY} have the card.`,
    metadata: { [CARD_KEY]: JSON.stringify(card) },
    inputs: { [INPUT]: ['batch', card.input.features.length] },
    outputs: { [OUTPUT]: ['batch', stepEndsSeconds.length, levels.length] },
  });
}

/** A function that turns a network's raw outputs `[row, step * level]` into quantiles `[row, step, level]`. */
function quantileHead(graph: OnnxGraph, steps: number, levels: number): (network: string, outputs: string) => string {
  const middle = levels >> 1;
  const shape = graph.whole('shape', -1, steps, levels);
  const middleSlice = [
    graph.whole('middle', middle),
    graph.whole('middle-end', middle + 1),
    graph.whole('levels-axis', 2),
  ];
  // `[gap][level]`: sums gaps from the median outwards, positive above it, negative below it.
  const gapSums = Array.from({ length: levels * levels }, (_, at) => {
    const gap = Math.floor(at / levels);
    const level = at % levels;
    if (middle < gap && gap <= level) return 1;
    return level <= gap && gap < middle ? -1 : 0;
  });
  const sums = graph.floats('gap-sums', [levels, levels], gapSums);
  return (network, outputs) => {
    const raw = graph.add('Reshape', [outputs, shape], `${network}-raw`);
    const median = graph.add('Slice', [raw, ...middleSlice], `${network}-median`);
    const gaps = graph.add('Softplus', [raw], `${network}-gaps`);
    const offsets = graph.add('MatMul', [gaps, sums], `${network}-offsets`);
    return graph.add('Add', [median, offsets], `${network}-quantiles`);
  };
}

/** The card in the form of the ONNX file. */
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
