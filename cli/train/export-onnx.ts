/** Exports a model as ONNX with its card. The graph computes the same as `evaluateNetwork`. */

import { parseModel } from '../../predictor/forecast/model-file.ts';
import { LEAK } from '../../predictor/forecast/quantile-forecaster.ts';
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
  const { layers, stepEndsSeconds, levels } = parseModel(described);
  const graph = new OnnxGraph();
  let values = INPUT;
  layers.forEach((rows, l) => {
    const weights = rows.slice(0, -2);
    const [coarse, fine] = rows.slice(-2) as [Float32Array, Float32Array];
    const biases = coarse.map((bias, output) => bias + fine[output]!);
    const flat = weights.flatMap((row) => [...row]);
    const weightsName = graph.floats(`layer${l}-weights`, [weights.length, biases.length], flat);
    const biasesName = graph.floats(`layer${l}-biases`, [biases.length], biases);
    values = graph.add('Gemm', [values, weightsName, biasesName], `layer${l}-sums`);
    if (l < layers.length - 1) values = graph.add('LeakyRelu', [values], `layer${l}-values`, { alpha: LEAK });
  });
  addQuantiles(graph, values, stepEndsSeconds.length, levels.length);
  return graph.file({
    producer: card.tool,
    description: `${card.name}: ${OUTPUT} of a link's capacity, ${OUTPUT_UNIT}. The metadata ${CARD_KEY} have the card.`,
    metadata: { [CARD_KEY]: JSON.stringify(card) },
    inputs: { [INPUT]: ['batch', card.input.features.length] },
    outputs: { [OUTPUT]: ['batch', stepEndsSeconds.length, levels.length] },
  });
}

/** Adds the quantiles `[row, step, level]` of the network's raw outputs `[row, step * level]`. */
function addQuantiles(graph: OnnxGraph, outputs: string, steps: number, levels: number): void {
  const middle = levels >> 1;
  const raw = graph.add('Reshape', [outputs, graph.whole('shape', -1, steps, levels)], 'raw');
  const ends = [graph.whole('middle', middle), graph.whole('middle-end', middle + 1), graph.whole('levels-axis', 2)];
  const median = graph.add('Slice', [raw, ...ends], 'median');
  // The matrix `[gap][level]` sums the gaps between median and level, positive above the median, negative below.
  const gapSums = Array.from({ length: levels * levels }, (_, at) => {
    const [gap, level] = [Math.floor(at / levels), at % levels] as const;
    if (middle < gap && gap <= level) return 1;
    return level <= gap && gap < middle ? -1 : 0;
  });
  const gaps = graph.add('Softplus', [raw], 'gaps');
  const offsets = graph.add('MatMul', [gaps, graph.floats('gap-sums', [levels, levels], gapSums)], 'offsets');
  graph.add('Add', [median, offsets], OUTPUT);
}

/** Converts the card to the form of the ONNX file. */
function onnxCard({ card, ...model }: DescribedModel): OnnxCard {
  const { golden, scores, ...training } = card.fit;
  return checkModelCard({
    ...{ format: CARD_FORMAT, schema: CARD_SCHEMA, name: model.name, tool: card.tool },
    input: { name: INPUT, features: card.inputs },
    output: { name: OUTPUT, unit: OUTPUT_UNIT, stepEndsSeconds: model.stepEndsSeconds, levels: model.levels },
    ...{ rankCorrelation: model.rankCorrelation, data: card.data, training, scores },
    check: { features: golden[0]?.features, quantiles: golden[0]?.logRatios },
  });
}
