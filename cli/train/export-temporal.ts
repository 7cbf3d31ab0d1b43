/**
 * A temporal network of `leo-abr evaluate --temporal` as an ONNX file with its card inside, for any runtime. The graph is what
 * predictor/training/leo_abr_training/temporal_network.py computes. The plugin does not load it: its card has another format.
 */

import { LEAK } from '../../predictor/built-in/quantile-network.ts';
import { CARD_KEY, OUTPUT_UNIT } from '../../predictor/onnx/model-card.ts';
import { InputError, quoted } from '../../replay/formats/input-error.ts';
import type { DataSource } from './model-card.ts';
import { onnxFile } from './onnx-file.ts';
import { type DenseLayer, OnnxGraph } from './onnx-graph.ts';

export const TEMPORAL_FORMAT = 'leo-abr temporal network';
const VERSION = 1;
const HISTORY = 'history';
const MOMENT = 'moment';
const OUTPUT = 'quantiles';

interface Named {
  name: string;
  meaning: string;
}

/** As predictor/training writes it. */
export interface TemporalModel {
  format: typeof TEMPORAL_FORMAT;
  version: typeof VERSION;
  name: string;
  /** Seconds looked back on: the product of the widths. */
  lags: number;
  /** Of the convolutions, the first one first. */
  widths: number[];
  channels: Named[];
  moment: Named[];
  stepEndsSeconds: number[];
  levels: number[];
  /** Little-endian float32 as base64: the convolutions, the dense layer, the head. */
  networks: { weights: string; biases: string }[][];
  fit: Record<string, unknown>;
  golden: { history: number[]; moment: number[]; logRatios: number[] }[];
}

/** What `leo-abr evaluate` adds. */
export interface DescribedTemporalModel extends TemporalModel {
  tool: { name: string; version: string };
  data: DataSource[];
  /** On recordings that models of the same kind had not learnt from. */
  scores: Record<string, unknown>;
}

/** Throws an `InputError` for a model that does not hang together. */
export function exportTemporalOnnx(model: DescribedTemporalModel, file?: string): Uint8Array {
  const { name, tool, lags, widths, channels, moment, stepEndsSeconds, levels, networks } = checked(model, file);
  const graph = new OnnxGraph();
  const head = graph.quantileHead(stepEndsSeconds.length, levels.length);
  const outputs = networks.map((layers, n) => {
    let values = HISTORY;
    layers.forEach((layer, l) => {
      const of = `network${n}-layer${l}`;
      if (l < widths.length) {
        values = graph.add('Reshape', [values, graph.whole(`${of}-shape`, -1, layer.inputCount)], `${of}-taken`);
      } else if (l === widths.length) {
        values = graph.add('Concat', [values, MOMENT], `${of}-taken`, { axis: 1 });
      }
      values = graph.dense(of, values, layer);
      if (l < layers.length - 1) values = graph.add('LeakyRelu', [values], `${of}-values`, { alpha: { float: LEAK } });
    });
    return head(`network${n}`, values);
  });
  graph.add('Mean', outputs, OUTPUT);

  const { networks: _, ...card } = model;
  const described = {
    ...card,
    inputs: { [HISTORY]: `[batch, ${lags}, ${channels.length}]`, [MOMENT]: `[batch, ${moment.length}]` },
    output: { name: OUTPUT, unit: OUTPUT_UNIT },
  };
  return onnxFile({
    producer: tool,
    description: `${name}: ${OUTPUT} of a link's capacity, ${OUTPUT_UNIT}. The metadata ${CARD_KEY} have the card.`,
    metadata: { [CARD_KEY]: JSON.stringify(described) },
    nodes: graph.nodes,
    constants: graph.constants,
    inputs: [
      { name: HISTORY, shape: ['batch', lags, channels.length] },
      { name: MOMENT, shape: ['batch', moment.length] },
    ],
    outputs: [{ name: OUTPUT, shape: ['batch', stepEndsSeconds.length, levels.length] }],
  });
}

/** The model with its weights as numbers. */
function checked(
  model: DescribedTemporalModel,
  file: string | undefined,
): Omit<TemporalModel, 'networks'> & { tool: DescribedTemporalModel['tool']; networks: DenseLayer[][] } {
  const fail = (field: string, expected: string, got: unknown): never => {
    throw new InputError({ ...(file !== undefined && { file }), field, expected, got: quoted(String(got)) });
  };
  if (model.format !== TEMPORAL_FORMAT) fail('format', TEMPORAL_FORMAT, model.format);
  if (model.version !== VERSION) fail('version', String(VERSION), model.version);
  for (const field of [
    'widths',
    'channels',
    'moment',
    'stepEndsSeconds',
    'levels',
    'networks',
    'golden',
    'data',
  ] as const) {
    if (!Array.isArray(model[field]) || model[field].length === 0)
      fail(field, 'a list with something in it', model[field]);
  }
  if (typeof model.tool?.name !== 'string')
    fail('tool.name', 'a name: a model that leo-abr evaluate wrote', model.tool);
  const { widths, lags, channels, moment, stepEndsSeconds, levels } = model;
  if (widths.reduce((product, width) => product * width, 1) !== lags) fail('lags', 'the product of the widths', lags);
  const networks = model.networks.map((layers, n) => {
    if (layers.length !== widths.length + 2) fail(`networks[${n}]`, `${widths.length + 2} layers`, layers.length);
    let units = channels.length;
    return layers.map((packed, l): DenseLayer => {
      const [weights, biases] = [numbersOf(packed.weights), numbersOf(packed.biases)];
      const inputCount = l === widths.length ? units + moment.length : units * (widths[l] ?? 1);
      const where = `networks[${n}][${l}]`;
      if (weights.length !== inputCount * biases.length) {
        fail(`${where}.weights`, `${inputCount} x ${biases.length} numbers`, weights.length);
      }
      if (![...weights, ...biases].every(Number.isFinite)) fail(where, 'finite numbers', 'others');
      units = biases.length;
      return { inputCount, weights, biases };
    });
  });
  for (const layers of networks) {
    const outputs = layers.at(-1)!.biases.length;
    if (outputs !== stepEndsSeconds.length * levels.length) {
      fail('levels', `as many quantiles as outputs, ${outputs}`, stepEndsSeconds.length * levels.length);
    }
  }
  return { ...model, networks };
}

function numbersOf(base64: string): Float32Array {
  const bytes = Buffer.from(String(base64), 'base64');
  return Float32Array.from({ length: bytes.length >> 2 }, (_, i) => bytes.readFloatLE(4 * i));
}
