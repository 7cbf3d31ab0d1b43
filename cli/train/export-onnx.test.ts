import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as runtime from 'onnxruntime-web/wasm';
import { seededRandom } from '../../abr/random.ts';
import type { Model, ModelFile } from '../../predictor/forecast/model-file.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import { evaluateNetwork } from '../../predictor/forecast/quantile-network.ts';
import { SHIPPED_FILE } from '../../predictor/forecast/shipped-file.fixture.ts';
import type { FromWorker, ToWorker } from '../../predictor/onnx/inference.ts';
import { type LoadedModel, loadModel, type MessageScope, serveInference } from '../../predictor/onnx/inference.ts';
import { CARD_KEY, parseModelCard } from '../../predictor/onnx/model-card.ts';
import { onnxMetadata } from '../../predictor/onnx/onnx-metadata.ts';
import { run } from '../run.fixture.ts';
import { exportOnnx } from './export-onnx.ts';
import type { DescribedModel } from './model-card.ts';
import { OnnxGraph } from './onnx-file.ts';

const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const TOLERANCE = 1e-4;

// No server has the file.
runtime.env.wasm.wasmBinary = readFileSync(path('node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm'));

const URLS = { modelUrl: 'model.onnx', runtimeUrl: 'ort.mjs', wasmUrl: 'ort.wasm' };
/** Loads as the Worker does, by the real onnxruntime-web. */
const surroundings = (bytes: Uint8Array | undefined) => ({
  importRuntime: async () => runtime,
  fetch: async () => ({
    ok: bytes !== undefined,
    status: bytes === undefined ? 404 : 200,
    arrayBuffer: async () => new Uint8Array(bytes!).buffer,
  }),
});
const load = (bytes: Uint8Array | undefined): Promise<LoadedModel> => loadModel(URLS, surroundings(bytes));

const shipped: DescribedModel = JSON.parse(readFileSync(path('predictor/models/built-in.json'), 'utf8'));
const shippedOnnx = readFileSync(path('predictor/models/built-in.onnx'));

function evaluated({ layers, stepEndsSeconds, levels }: Model, features: ArrayLike<number>): Float64Array {
  const values = new Float64Array(stepEndsSeconds.length * levels.length);
  evaluateNetwork(layers, levels.length, Float64Array.from(features), values);
  return values;
}

function greatestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  return Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));
}

describe('the shipped model', () => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await load(shippedOnnx);
  });

  test('is the export of the JSON beside it (else: npx leo-abr export predictor/models/built-in.json)', () => {
    expect(Buffer.compare(shippedOnnx, exportOnnx(shipped))).toBe(0);
  });

  test('gives the same outputs in onnxruntime-web and in TypeScript as in Python', async () => {
    const model = parseModel(SHIPPED_FILE);
    const { golden } = shipped.card.fit;
    expect(golden.length).toBeGreaterThan(3);
    for (const { features, logRatios } of golden) {
      expect(greatestDifference(evaluated(model, features), logRatios)).toBeLessThan(TOLERANCE);
      expect(greatestDifference(await loaded.evaluate(Float32Array.from(features)), logRatios)).toBeLessThan(TOLERANCE);
    }
  });

  test('has a card with its contents', () => {
    expect(loaded.card).toMatchObject({
      name: SHIPPED_FILE.name,
      output: { stepEndsSeconds: SHIPPED_FILE.stepEndsSeconds, levels: SHIPPED_FILE.levels },
      rankCorrelation: SHIPPED_FILE.rankCorrelation,
      data: shipped.card.data,
      scores: shipped.card.fit.scores,
    });
    expect(loaded.card.input.features.map(({ name }) => name)).toEqual(SHIPPED_FILE.features);
    expect(loaded.card.input.features.every(({ meaning }) => meaning.length > 5)).toBe(true);
  });
});

describe('exportOnnx', () => {
  /** A network of another shape with random weights, and the TypeScript evaluator's output for one input. */
  function randomModel(hidden: number[], stepEndsSeconds: number[], levels: number[]): DescribedModel {
    const seed = hidden.length;
    const random = seededRandom(seed);
    const digits = (count: number, from: number, to: number) =>
      Array.from({ length: count }, () => DIGITS[Math.floor(from + (to - from) * random())]).join('');
    const widths = [SHIPPED_FILE.features.length, ...hidden, stepEndsSeconds.length * levels.length];
    const layers = widths.slice(1).map((outputs, l) => {
      const inputs = widths[l]! + 2;
      return { weights: digits(inputs * outputs, 0, 63), scales: digits(inputs, 24, 64) };
    });
    const file: ModelFile = { ...SHIPPED_FILE, name: `random ${seed}`, stepEndsSeconds, levels, layers };
    const features = randomFeatures(seed);
    const logRatios = [...evaluated(parseModel(file), features)];
    return {
      ...file,
      card: { ...shipped.card, fit: { ...shipped.card.fit, golden: [{ features: [...features], logRatios }] } },
    };
  }
  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const randomFeatures = (seed: number) => {
    const random = seededRandom(seed);
    return Float32Array.from(SHIPPED_FILE.features, () => 4 * random() - 2);
  };

  test.each<[string, number[], number[], number[]]>([
    ['without a hidden layer, a single level', [], [2], [0.5]],
    ['one hidden layer', [5], [1, 2.5, 60], [0.1, 0.5, 0.9]],
    ['three hidden layers', [6, 5, 4], [1, 4], [0.05, 0.25, 0.5, 0.75, 0.95]],
  ])('computes what the evaluator in TypeScript does: %s', async (_, hidden, stepEndsSeconds, levels) => {
    const described = randomModel(hidden, stepEndsSeconds, levels);
    const model = parseModel(described);
    const loaded = await load(exportOnnx(described));
    for (let seed = 0; seed < 30; seed++) {
      const features = randomFeatures(seed);
      const expected = evaluated(model, features);
      const scale = Math.max(1, ...expected.map(Math.abs));
      expect(greatestDifference(await loaded.evaluate(features), expected) / scale).toBeLessThan(TOLERANCE);
    }
  });
});

describe('loading', () => {
  const altered = (change: (card: DescribedModel) => void): Uint8Array => {
    const copy: DescribedModel = JSON.parse(JSON.stringify(shipped));
    change(copy);
    return exportOnnx(copy);
  };
  const otherFile = (metadata: Record<string, string>, input: string, output: string, shape: (string | number)[]) => {
    const graph = new OnnxGraph();
    graph.add('Relu', [input], output);
    const producer = { name: 'other', version: '1' };
    return graph.file({
      producer,
      description: '',
      metadata,
      inputs: { [input]: shape },
      outputs: { [output]: shape },
    });
  };
  const CARDED = { [CARD_KEY]: onnxMetadata(shippedOnnx).get(CARD_KEY)! };
  const bytesOf = (text: string) => new TextEncoder().encode(text);

  test.each<[string, Uint8Array | undefined, RegExp]>([
    ['nothing there', undefined, /model\.onnx: expected a response with success, got 404/],
    ['a web page', bytesOf('<!doctype html><title>Not found</title>'), /model: expected an ONNX file/],
    ['half a file', shippedOnnx.subarray(0, 9000), /model: expected an ONNX file/],
    [
      'an ONNX file without a card',
      otherFile({}, 'x', 'y', [1]),
      /expected a model card in its metadata \(leo_abr_card\)/,
    ],
    [
      'a card of another model',
      altered(({ card }) => {
        card.fit.golden[0]!.logRatios[5]! += 0.001;
      }),
      /model output quantiles\[5\]: expected .*, as in its card/,
    ],
    [
      'a card, and no graph that does what it says',
      otherFile(CARDED, 'features', 'quantiles', ['batch', 27]),
      /model output quantiles: expected 63 float32 numbers, got 27/,
    ],
    ['another input', otherFile(CARDED, 'x', 'y', [1]), /model input: expected features, got "x"/],
  ])('%s: says so', async (_, bytes, message) => {
    await expect(load(bytes)).rejects.toThrow(message);
  });

  test('a Worker answers in order and reports failures', async () => {
    const replies: FromWorker[] = [];
    let settled = () => {};
    let hear: (event: { data: ToWorker }) => void = () => {};
    const scope: MessageScope = {
      addEventListener: (_, listener) => {
        hear = listener;
      },
      postMessage: (reply) => {
        replies.push(reply);
        settled();
      },
    };
    const send = (data: ToWorker) =>
      new Promise<void>((resolve) => {
        settled = resolve;
        hear({ data });
      });
    const features = Float32Array.from(shipped.card.fit.golden[1]!.features);

    serveInference(scope, surroundings(shippedOnnx));
    await send({ kind: 'load', ...URLS });
    await send({ kind: 'evaluate', features });
    const { name, features: names, stepEndsSeconds, levels, rankCorrelation } = shipped;
    expect(replies).toMatchObject([
      {
        kind: 'ready',
        card: {
          ...{ name, output: { stepEndsSeconds, levels }, rankCorrelation },
          input: { features: names.map((feature) => ({ name: feature })) },
        },
      },
      { kind: 'evaluated' },
    ]);
    const { quantiles } = replies[1] as Extract<FromWorker, { kind: 'evaluated' }>;
    expect(greatestDifference(quantiles, shipped.card.fit.golden[1]!.logRatios)).toBeLessThan(TOLERANCE);
    await send({ kind: 'evaluate', features: features.subarray(1) });
    expect(replies[2]).toMatchObject({ kind: 'failed', message: expect.stringMatching(/Got: 26 Expected: 27/) });

    serveInference(scope, surroundings(undefined));
    await send({ kind: 'evaluate', features });
    await send({ kind: 'load', ...URLS });
    expect(replies.slice(3)).toMatchObject([
      { kind: 'failed', message: 'expected load before evaluate' },
      { kind: 'failed', message: expect.stringContaining('404') },
    ]);
  });
});

describe('leo-abr export', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'leo-abr-export-'));
    copyFileSync(path('predictor/models/built-in.json'), join(folder, 'mine.json'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const exported = (...args: string[]) => run(['export', ...args]);

  test('writes the file beside the model, or to --out', async () => {
    expect(await exported(join(folder, 'mine.json'))).toMatchObject({
      status: 0,
      stderr: `wrote ${join(folder, 'mine.onnx')}\n`,
    });
    expect(Buffer.compare(readFileSync(join(folder, 'mine.onnx')), shippedOnnx)).toBe(0);
    expect((await exported(join(folder, 'mine.json'), '--out', join(folder, 'deep', 'a.onnx'))).status).toBe(0);
    const { name } = parseModelCard(onnxMetadata(readFileSync(join(folder, 'deep', 'a.onnx'))).get(CARD_KEY)!);
    expect(name).toBe(SHIPPED_FILE.name);
  });

  test.each<[string, string | undefined, string]>([
    ['missing.json', undefined, '<model.json>: expected a readable file'],
    ['text.json', 'model', 'text.json: expected JSON'],
    ['other.json', '{"format":"onnx"}', 'other.json.format: expected "leo-abr quantile network", got "onnx"'],
    ['plain.json', JSON.stringify(SHIPPED_FILE), 'plain.json: card: expected a model card'],
  ])('%s: status 2, and why', async (name, text, message) => {
    if (text !== undefined) writeFileSync(join(folder, name), text);
    const { status, stderr } = await exported(join(folder, name));
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(join(folder, name.replace('json', 'onnx')))).toBe(false);
  });
});
