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
import { onnxFile } from './onnx-file.ts';
import { OnnxGraph } from './onnx-graph.ts';

const INPUT = 'features';
const OUTPUT = 'quantiles';

/** Returns the file's bytes. Throws an `InputError` for an unusable model or card. */
export function exportOnnx(described: DescribedModel): Uint8Array {
  const card = onnxCard(described);
  const { networks, stepEndsSeconds, levels } = parseModel(described);
  const graph = new OnnxGraph();
  const head = graph.quantileHead(stepEndsSeconds.length, levels.length);
  const means = networks.map((network, n) => {
    let values = INPUT;
    network.forEach(({ weights, biases }, l) => {
      const of = `network${n}-layer${l}`;
      const inputCount = weights.length / biases.length;
      values = graph.dense(of, values, { inputCount, weights, biases });
      if (l < network.length - 1) values = graph.add('LeakyRelu', [values], `${of}-values`, { alpha: LEAK });
    });
    return head(`network${n}`, values);
  });
  graph.add('Mean', means, OUTPUT);

  return onnxFile({
    producer: card.tool,
    description:
      `${card.name}: ${OUTPUT} of a link's capacity, ${OUTPUT_UNIT}. ` + `The metadata ${CARD_KEY} have the card.`,
    metadata: { [CARD_KEY]: JSON.stringify(card) },
    nodes: graph.nodes,
    constants: graph.constants,
    inputs: [{ name: INPUT, shape: ['batch', card.input.features.length] }],
    outputs: [{ name: OUTPUT, shape: ['batch', stepEndsSeconds.length, levels.length] }],
  });
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
