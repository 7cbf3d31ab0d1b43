import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import * as runtime from 'onnxruntime-web/wasm';
import { seededRandom } from '../../abr/statistics/random.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import { evaluateNetwork, type Model } from '../../predictor/forecast/quantile-forecaster.ts';
import { SHIPPED_FILE } from '../../predictor/forecast/shipped-file.fixture.ts';
import { shippedModel } from '../../predictor/forecast/shipped-model.ts';
import {
  type FromWorker,
  type LoadedModel,
  loadModel,
  type MessageScope,
  serveInference,
  type ToWorker,
} from '../../predictor/onnx/inference.ts';
import { CARD_KEY, parseModelCard } from '../../predictor/onnx/model-card.ts';
import { onnxMetadata } from '../../predictor/onnx/onnx-metadata.ts';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { testReport } from '../../trial/session-report.fixture.ts';
import { refused, run } from '../shared/run.fixture.ts';
import { exportOnnx } from './export-onnx.ts';
import { cardMarkdown, type DescribedModel } from './model-card.ts';
import { OnnxGraph } from './onnx-file.ts';
import { trainingProject } from './python.ts';

const at = temporaryFolder('test');

const train = (...args: string[]) => run(['train', ...args]);

/** Writes a recording, by default of a minute. */
function putTrace(name: string, group: string, extra: Record<string, string> = {}, seconds = 60): void {
  const rates = Array.from({ length: seconds }, (_, i) => `${i},${20 + 10 * Math.sin(i / 5)},,`);
  put(at('data', `${name}.csv`), `time_s,throughput_mbps,rtt_ms,loss\n${rates.join('\n')}\n`);
  const sidecar = { dataset: 'own', recording_group: group, licence: 'CC0', ...extra };
  put(at('data', `${name}.json`), JSON.stringify(sidecar));
}

/** Makes an environment whose interpreter records its arguments and returns the shipped model as the trained model. */
function putEnvironment(): string[] {
  const pyproject = readFileSync(join(trainingProject(), 'pyproject.toml'));
  put(at('env', 'leo-abr-training.sha256'), createHash('sha256').update(pyproject).digest('hex'));
  const golden = [{ features: SHIPPED_FILE.features.map(() => 0), logRatios: Array.from({ length: 63 }, () => 0) }];
  const own = { rows: 9, pinball: [0.1], coverage50: [0.5], coverage90: [0.9], rankCorrelation: 0.7 };
  const scores = { stepEndsSeconds: [1], datasets: { own } };
  const fit = { settings: { hidden: [24, 16] }, seed: 1, rows: 12, numpy: '2', scoresAreHeldOut: true, scores, golden };
  writeFileSync(at('trained.json'), JSON.stringify({ ...SHIPPED_FILE, name: 'mine', fit }));
  const python = `#!${process.execPath}
const { copyFileSync, readFileSync, writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
const folder = args[args.indexOf('--rows') + 1];
const rows = JSON.parse(readFileSync(folder + '/rows.json', 'utf8'));
writeFileSync(${JSON.stringify(at('called.json'))}, JSON.stringify({ args, rows }));
if (args.includes('--model')) copyFileSync(${JSON.stringify(at('trained.json'))}, args[args.indexOf('--model') + 1]);
console.log('fitted 1 of 1');
`;
  chmodSync(put(at('env', 'bin', 'python'), python), 0o755);
  return ['--environment', at('env')];
}

test('writes the model with its card, for programs and for people', async () => {
  putTrace('monday', 'roof-1');
  putTrace('tuesday', 'roof-2');
  putTrace('other', 'elsewhere', { dataset: 'theirs', licence: 'none stated' });
  putTrace('short', 'roof-3', {}, 20);
  const environment = putEnvironment();
  const out = at('models', 'mine.json');
  const flags = ['--data', at('data'), '--out', out, '--name', 'mine', '--seed', '3', '--leave-out', 'theirs'];
  const { status, stdout, stderr } = await train(...flags, ...environment);
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  expect(stderr).toContain('sessions');
  expect(stderr).toContain('fitted 1 of 1');

  const { args, rows } = JSON.parse(readFileSync(at('called.json'), 'utf8'));
  expect(args.slice(0, 2)).toEqual(['-m', 'leo_abr_training']);
  expect(args).toEqual(expect.arrayContaining(['--name', 'mine', '--seed', '3', '--jobs', '1']));
  expect(rows).toMatchObject({ modelVersion: SHIPPED_FILE.version, groups: ['roof-1', 'roof-2', 'roof-3'] });
  expect(rows.rows).toBeGreaterThan(100);

  const model = JSON.parse(readFileSync(out, 'utf8'));
  expect(model).toMatchObject({ format: SHIPPED_FILE.format, name: 'mine', layers: SHIPPED_FILE.layers });
  expect(model.fit).toBeUndefined();
  expect(model.card.inputs.map(({ name }: { name: string }) => name)).toEqual(SHIPPED_FILE.features);
  for (const { meaning } of model.card.inputs) expect(meaning).not.toBe('');
  expect(model.card.data).toEqual([
    { dataset: 'own', licences: ['CC0'], groups: ['roof-1', 'roof-2'], recordings: 2, seconds: 120 },
  ]);
  expect(model.card.leftOut).toMatchObject([{ dataset: 'theirs', licences: ['none stated'] }]);
  expect(model.card.fit).toMatchObject({ rows: 12, scoresAreHeldOut: true });
  const card = readFileSync(at('models', 'mine.md'), 'utf8');
  expect(card).toContain('# mine');
  expect(card).toContain('| own | 2 | 0.03 | roof-1, roof-2 | CC0 |');
  expect(card).toContain('| own | 9 | 0.100 | 90 % | 50 % |');
  // The rows are temporary.
  expect(existsSync(args[args.indexOf('--rows') + 1])).toBe(false);
});

test('passes data sets left out to the folds, marked as such', async () => {
  putTrace('monday', 'roof-1');
  putTrace('tuesday', 'roof-2');
  putTrace('other', 'elsewhere', { dataset: 'theirs' });
  putTrace('short', 'too-short', {}, 20);
  const environment = putEnvironment();
  const flags = ['--data', at('data'), '--folds', at('folds'), '--leave-out', 'theirs'];
  expect(await train(...flags, ...environment)).toMatchObject({ status: 0 });
  const { args, rows } = JSON.parse(readFileSync(at('called.json'), 'utf8'));
  expect(args).toEqual(expect.arrayContaining(['--folds', at('folds')]));
  expect(args).not.toContain('--model');
  expect(rows.groups).toEqual(['elsewhere', 'roof-1', 'roof-2', 'too-short']);
  expect(rows).toMatchObject({ datasets: ['own', 'theirs'], leftOut: ['theirs'] });
});

test('refuses reports of sessions', async () => {
  put(at('reports', 'reports-2026-03-01.ndjson'), `${JSON.stringify(testReport())}\n`);
  const { status, stderr } = await train('--data', at('reports'), '--out', at('x.json'), ...putEnvironment());
  expect(status).toBe(2);
  expect(stderr).toMatch(/ndjson: expected a recording, because reports are none since 0.4.0/);
});

test('writes only the model to standard output', async () => {
  putTrace('monday', 'roof-1');
  const { status, stdout } = await train('--data', at('data'), '--out', '-', ...putEnvironment());
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ name: 'mine', card: { data: [{ dataset: 'own' }] } });
});

test.each<[string[], string]>([
  [['--seed', '-1'], '--seed: expected a whole number from 0 to 4294967295, got "-1"'],
  [['--jobs', '0'], '--jobs: expected a whole number from 1 to 1024, got "0"'],
  [['--name', ' '], '--name: expected a name, got " "'],
  [['--leave-out', 'rain'], '--leave-out: expected one of own, got "rain"'],
  [['--leave-out', 'own'], 'a recording of at least 30 s to train on, got nothing but data sets left out'],
  [['--folds', 'x'], '--folds: expected at least two recording groups'],
  [['--environment', 'x-of-others'], 'expected an environment of Python, an empty folder, or none yet, got'],
  [['--python', '/nowhere/python'], '--python: expected an interpreter of Python 3.11 or later'],
])('rejects %j with status 2', async (flags, message) => {
  putTrace('monday', 'roof');
  put(at('x-of-others', 'thesis.tex'), '');
  const paths = flags.map((flag) => (flag.startsWith('x') ? at(flag) : flag));
  await refused(train('--data', at('data'), '--out', at('x.json'), '--environment', at('env'), ...paths), message);
});

test('rejects wrong or short recordings with their place, and no --out', async () => {
  putTrace('short', 'roof', {}, 20);
  const data = ['--data', at('data'), '--out', at('x.json')];
  await refused(train(...data), '--data: expected a recording of at least 30 s');
  writeFileSync(at('data', 'short.csv'), 'time_s,throughput_mbps,rtt_ms,loss\n0,fast,,\n');
  await refused(train(...data), 'short.csv:2: throughput_mbps');
  await refused(train('--data', at('data')), '--out: expected --out, --folds or both, got neither');
});

describe('export-onnx', () => {
  const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
  const TOLERANCE = 1e-4;

  // The runtime gets its bytes here, because no server has the file.
  runtime.env.wasm.wasmBinary = readFileSync(path('node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm'));

  const URLS = { modelUrl: 'model.onnx', runtimeUrl: 'ort.mjs', wasmUrl: 'ort.wasm' };
  /** Loads with the real onnxruntime-web, like the Worker. */
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

  test('the shipped model has a card, and the same outputs in onnxruntime-web and in TypeScript as in Python', async () => {
    const loaded = await load(shippedOnnx);
    const model = parseModel(SHIPPED_FILE);
    const { data, leftOut, fit } = shipped.card;
    expect(fit.golden.length).toBeGreaterThan(3);
    for (const { features, logRatios } of fit.golden) {
      expect(greatestDifference(evaluated(model, features), logRatios)).toBeLessThan(TOLERANCE);
      expect(greatestDifference(await loaded.evaluate(Float32Array.from(features)), logRatios)).toBeLessThan(TOLERANCE);
    }
    expect(data.length).toBeGreaterThan(0);
    for (const { licences } of [...data, ...leftOut]) expect(licences).not.toEqual([]);
    expect(cardMarkdown(shipped)).toBe(readFileSync(path('predictor/models/built-in.md'), 'utf8'));
    expect(loaded.card).toMatchObject({ data, scores: fit.scores });
    expect(loaded.card.input.features.every(({ meaning }) => meaning.length > 5)).toBe(true);
  });

  test('the shipped model is the one in the plugin (else: npm run ship-model)', () => {
    expect(shippedModel()).toEqual(parseModel(shipped));
  });

  test('an export computes what the evaluator in TypeScript does, on any input', async () => {
    const model = parseModel(SHIPPED_FILE);
    const random = seededRandom(1);
    const inputs = Array.from({ length: 30 }, () => Float32Array.from(SHIPPED_FILE.features, () => 4 * random() - 2));
    const golden = inputs.map((features) => ({ features: [...features], logRatios: [...evaluated(model, features)] }));
    const loaded = await load(
      exportOnnx({ ...shipped, card: { ...shipped.card, fit: { ...shipped.card.fit, golden } } }),
    );
    for (const { features, logRatios } of golden) {
      const scale = Math.max(1, ...logRatios.map(Math.abs));
      const outputs = await loaded.evaluate(Float32Array.from(features));
      expect(greatestDifference(outputs, logRatios) / scale).toBeLessThan(TOLERANCE);
    }
  });

  const otherCard = (): Uint8Array => {
    const copy = structuredClone(shipped);
    copy.card.fit.golden[0]!.logRatios[5]! += 0.001;
    return exportOnnx(copy);
  };
  const otherFile = (metadata: Record<string, string>, input: string, output: string, shape: (string | number)[]) => {
    const graph = new OnnxGraph();
    graph.add('Relu', [input], output);
    const shapes = { inputs: { [input]: shape }, outputs: { [output]: shape } };
    return graph.file({ producer: { name: 'other', version: '1' }, description: '', metadata, ...shapes });
  };
  const CARDED = { [CARD_KEY]: onnxMetadata(shippedOnnx).get(CARD_KEY)! };
  const GRAPHLESS = otherFile(CARDED, 'features', 'quantiles', ['batch', 13]);
  const bytesOf = (text: string) => new TextEncoder().encode(text);

  test.each<[string, Uint8Array | undefined, RegExp]>([
    ['nothing there', undefined, /expected a response with success, got status 404/],
    ['a web page', bytesOf('<!doctype html><title>Not found</title>'), /model: expected an ONNX file/],
    ['half a file', shippedOnnx.subarray(0, 9000), /model: expected an ONNX file/],
    ['no card', otherFile({}, 'x', 'y', [1]), /expected a model card in its metadata \(leo_abr_card\)/],
    ['a card of another model', otherCard(), /model output quantiles\[5\]: expected .*, as in its card/],
    ['a card without its graph', GRAPHLESS, /model output quantiles: expected 63 float32 numbers, got 13/],
    ['another input', otherFile(CARDED, 'x', 'y', [1]), /model input: expected features, got "x"/],
  ])('loading %s says so', async (_, bytes, message) => {
    await expect(load(bytes)).rejects.toThrow(message);
  });

  test('loading a Worker answers in order and reports failures', async () => {
    const started = (bytes: Uint8Array | undefined) => {
      const heard = new EventEmitter();
      const scope: MessageScope = {
        addEventListener: (_, listener) => void heard.on('asked', (data: ToWorker) => listener({ data })),
        postMessage: (reply) => void heard.emit('answered', reply),
      };
      serveInference(scope, surroundings(bytes));
      return async (data: ToWorker): Promise<FromWorker> => {
        const answered = once(heard, 'answered');
        heard.emit('asked', data);
        return (await answered)[0];
      };
    };
    const failed = (message: string) => ({ kind: 'failed', message: expect.stringContaining(message) });
    const [, golden] = shipped.card.fit.golden;
    const features = Float32Array.from(golden!.features);
    const ask = started(shippedOnnx);
    const { name, features: names, stepEndsSeconds, levels, rankCorrelation } = shipped;
    const input = { features: names.map((feature) => ({ name: feature })) };
    const card = { name, input, output: { stepEndsSeconds, levels }, rankCorrelation };
    expect(await ask({ kind: 'load', ...URLS })).toMatchObject({ kind: 'ready', card });
    const { quantiles } = (await ask({ kind: 'evaluate', features })) as Extract<FromWorker, { kind: 'evaluated' }>;
    expect(greatestDifference(quantiles, golden!.logRatios)).toBeLessThan(TOLERANCE);
    const short = features.subarray(1);
    expect(await ask({ kind: 'evaluate', features: short })).toMatchObject(failed('Got: 12 Expected: 13'));

    const askNothing = started(undefined);
    expect(await askNothing({ kind: 'evaluate', features })).toMatchObject(failed('expected load before evaluate'));
    expect(await askNothing({ kind: 'load', ...URLS })).toMatchObject(failed('404'));
  });

  const at = temporaryFolder('file');
  const exported = (...args: string[]) => run(['export', ...args]);

  test('leo-abr export makes the shipped file (else: npx --no leo-abr export predictor/models/built-in.json), beside its model or in --out', async () => {
    copyFileSync(path('predictor/models/built-in.json'), at('mine.json'));
    expect(await exported(at('mine.json'))).toMatchObject({ status: 0, stderr: `wrote ${at('mine.onnx')}\n` });
    expect(Buffer.compare(readFileSync(at('mine.onnx')), shippedOnnx)).toBe(0);
    for (let i = 0; i < 2; i++) {
      expect((await exported(at('mine.json'), '--out', at('deep', 'a.onnx'))).status).toBe(0);
    }
    await refused(exported(at('mine.json'), '--out', at('mine.json')), 'mine.json: it exists and holds no ONNX model');
    const { name } = parseModelCard(onnxMetadata(readFileSync(at('deep', 'a.onnx'))).get(CARD_KEY)!);
    expect(name).toBe(SHIPPED_FILE.name);
  });

  test.each<[string, string | undefined, string]>([
    ['missing.json', undefined, '<model.json>: expected a readable file'],
    ['text.json', 'model', 'text.json: expected JSON'],
    ['other.json', '{"format":"onnx"}', 'other.json.format: expected "leo-abr quantile network", got "onnx"'],
    ['plain.json', JSON.stringify(SHIPPED_FILE), 'plain.json: card: expected a model card'],
    [
      'no-tool.json',
      JSON.stringify({ ...SHIPPED_FILE, card: { fit: { golden: [{}] } } }),
      'no-tool.json: card: expected a model card',
    ],
  ])('leo-abr export %s: status 2, and why', async (name, text, message) => {
    if (text !== undefined) writeFileSync(at(name), text);
    await refused(exported(at(name)), message);
    expect(existsSync(at(name.replace('json', 'onnx')))).toBe(false);
  });
});
