import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../../abr/errors.ts';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { forAll } from '../../abr/property.fixture.ts';
import { validForecast } from '../../abr/valid-forecast.ts';
import { beforeNext } from '../forecast/before-next.fixture.ts';
import { createBuiltInForecaster } from '../forecast/built-in-forecaster.ts';
import { parseModel } from '../forecast/model-file.ts';
import { SHIPPED_FILE } from '../forecast/shipped-file.fixture.ts';
import { withValue } from '../forecast/with-value.fixture.ts';
import { FEATURES } from '../link/features.ts';
import { throughput } from '../link/handover-clock/links.fixture.ts';
import { createModelForecaster, type ModelForecaster, type ModelForecasterOptions } from '../model-url/index.ts';
import { createOnnxForecaster } from './index.ts';
import type { FromWorker, ToWorker } from './inference.ts';
import { CARD_FORMAT, CARD_SCHEMA, type ModelCard, OUTPUT_UNIT, parseModelCard } from './model-card.ts';
import { type OnnxForecasterOptions, WorkerForecaster } from './onnx-forecaster.ts';
import { onnxMetadata } from './onnx-metadata.ts';

/** The card of an artificial model. */
const CARD: ModelCard = {
  format: CARD_FORMAT,
  schema: CARD_SCHEMA,
  name: 'made-up',
  tool: { name: 'test', version: '1' },
  input: {
    name: 'features',
    // In reverse order, to test that the card determines it.
    features: [...FEATURES].reverse().map(({ name }) => ({ name, meaning: 'as in the link history' })),
  },
  output: { name: 'quantiles', unit: OUTPUT_UNIT, stepEndsSeconds: [1, 4], levels: [0.1, 0.5, 0.9] },
  rankCorrelation: 0.5,
  data: [{ dataset: 'none', licences: ['CC0'] }],
  training: {},
  scores: {},
  check: { features: FEATURES.map(() => 0), quantiles: [-1, 0, 1, -1, 0, 1] },
};

describe('onnx-forecaster', () => {
  const URLS = { modelUrl: 'models/a.onnx', runtimeUrl: '/ort.mjs', wasmUrl: new URL('https://cdn.example/ort.wasm') };

  const READY: FromWorker = { kind: 'ready', card: CARD };

  let workers: FakeWorker[];

  afterEach(() => void jest.useRealTimers());
  beforeEach(() => {
    jest.useFakeTimers();
    workers = [];
    Object.assign(globalThis, { Worker: FakeWorker, document: { baseURI: 'https://page.example/watch/' } });
  });

  const loading = (options: Partial<OnnxForecasterOptions> = {}) => new WorkerForecaster({ ...URLS, ...options });
  const pass = (seconds: number) => jest.advanceTimersByTime(seconds * 1000);

  class FakeWorker extends EventTarget {
    readonly asked: ToWorker[] = [];
    readonly postMessage = (message: ToWorker) => this.asked.push(message);
    isTerminated = false;

    constructor(readonly url: string) {
      super();
      workers.push(this);
    }

    terminate(): void {
      this.isTerminated = true;
    }

    dispatch(type: string, fields: object): void {
      this.dispatchEvent(Object.assign(new Event(type), fields));
    }

    answer(message: FromWorker): void {
      this.dispatch('message', { data: message });
    }

    get evaluations(): Extract<ToWorker, { kind: 'evaluate' }>[] {
      return this.asked.filter((message) => message.kind === 'evaluate');
    }

    evaluate(quantiles: readonly number[] = [-1, 0, 1, -1, 0, 1]): void {
      this.answer({ kind: 'evaluated', quantiles: Float32Array.from(quantiles) });
    }
  }

  /** A session with a model that is ready, one second of 8 Mbit/s and a request for its forecast. */
  function underWay(nowSeconds = 1) {
    const forecaster = loading();
    const worker = workers[0]!;
    worker.answer(READY);
    forecaster.start({ seed: 1 });
    forecaster.observe(throughput(0, 1, 8e6));
    expect(forecaster.latest(nowSeconds)).toBeUndefined();
    return { forecaster, worker };
  }

  test('loading begins at once, with absolute URLs; no forecast and no fault before its end', () => {
    const forecaster = loading();
    expect(workers.map(({ url }) => url)).toEqual([expect.stringMatching(/^file:.*\/leo-abr\.onnx-worker\.js$/)]);
    const modelUrl = 'https://page.example/watch/models/a.onnx';
    const others = { runtimeUrl: 'https://page.example/ort.mjs', wasmUrl: 'https://cdn.example/ort.wasm' };
    expect(workers[0]!.asked).toEqual([{ kind: 'load', modelUrl, ...others }]);
    forecaster.start({ seed: 1 });
    forecaster.observe(throughput(0, 1, 8e6));
    expect(forecaster.latest(1)).toBeUndefined();
    expect(forecaster.status).toBe('loading');
    workers[0]!.answer(READY);
    expect(forecaster).toMatchObject({ status: 'ready', card: CARD });
    // The earlier request is sent now.
    expect(workers[0]!.evaluations.length).toBe(1);
  });

  test('a URL that is not given lies beside the packages, the WebAssembly beside a given runtime', () => {
    const asked = (options: Partial<OnnxForecasterOptions>) => {
      createOnnxForecaster({ modelUrl: 'a.onnx', workerUrl: 'w.js', ...options });
      return workers.at(-1)!.asked[0];
    };
    expect(asked({})).toEqual({
      kind: 'load',
      modelUrl: 'https://page.example/watch/a.onnx',
      runtimeUrl: expect.stringMatching(/^file:.*\/onnxruntime-web\/dist\/ort\.wasm\.bundle\.min\.mjs$/),
      wasmUrl: expect.stringMatching(/^file:.*\/onnxruntime-web\/dist\/ort-wasm-simd-threaded\.wasm$/),
    });
    const runtimeUrl = '/abr/ort.mjs';
    const wasmUrls = [asked({ runtimeUrl }), asked({ runtimeUrl, wasmUrl: 'x.wasm' })];
    expect(wasmUrls).toMatchObject([
      { wasmUrl: 'https://page.example/abr/ort-wasm-simd-threaded.wasm' },
      { wasmUrl: 'https://page.example/watch/x.wasm' },
    ]);
  });

  test('loading begins on `load`, once', () => {
    const forecaster = loading({ loadAtOnce: false, workerUrl: 'w.js' });
    forecaster.start({ seed: 1 });
    expect(forecaster.latest(1)).toBeUndefined();
    expect([workers.length, jest.getTimerCount(), forecaster.status]).toEqual([0, 0, 'unloaded']);
    forecaster.load();
    forecaster.load();
    expect(workers.map(({ url }) => url)).toEqual(['https://page.example/watch/w.js']);
    workers[0]!.answer(READY);
    expect(forecaster.status).toBe('ready');
  });

  test.each<[object, string]>([
    [{}, 'options.modelUrl: expected a URL, got undefined'],
    [{ ...URLS, wasmUrl: '' }, 'options.wasmUrl: expected a URL, got ""'],
    [{ ...URLS, workerUrl: 3 }, 'options.workerUrl: expected a URL, got 3'],
    [{ ...URLS, handover: 'no' }, 'options.handover: expected true or false, got "no"'],
    [{ ...URLS, model: 'a.onnx' }, 'options.model: expected one of modelUrl, runtimeUrl,'],
  ])('wrong options are named: %j', (options, message) => {
    expect(() => createOnnxForecaster(options as OnnxForecasterOptions)).toThrow(message);
  });

  test('forecasts are of the time of their features, in the order of the card', () => {
    const { forecaster, worker } = underWay(1.25);
    const { features } = worker.evaluations[0]!;
    // The card has the reverse order: the last is the first of the history, of a steady link.
    expect(features.length).toBe(FEATURES.length);
    expect(features[FEATURES.length - 1]).toBeCloseTo(0, 6);
    const observed = FEATURES.findIndex(({ name }) => name === 'observed');
    expect(features[FEATURES.length - 1 - observed]).toBeCloseTo(Math.log(2) / 2, 6);
    worker.evaluate();
    const forecast = forecaster.latest(1.3) as QuantileForecast;
    expect(() => validForecast(forecast)).not.toThrow();
    const { stepEndsSeconds, levels } = CARD.output;
    const rates = [-1, 0, 1].map((log) => expect.closeTo(8e6 * Math.exp(log), -2));
    const quantiles = { stepEndsSeconds, levels, quantilesBps: [rates, rates], rankCorrelation: 0.5 };
    expect(forecast).toMatchObject({ issuedAtMs: 1250, source: 'model:made-up', ...quantiles, handovers: [] });
  });

  test('forecasts are requested one at a time, five times a second, also without calls of `latest`', () => {
    const { forecaster, worker } = underWay();
    expect(worker.evaluations.length).toBe(1);
    // The next request waits for the response.
    pass(0.5);
    forecaster.latest(1.5);
    expect(worker.evaluations.length).toBe(1);
    worker.evaluate();
    forecaster.latest(1.5);
    worker.evaluate();
    const { issuedAtMs } = forecaster.latest(1.55) as QuantileForecast;
    expect([worker.evaluations.length, issuedAtMs]).toEqual([2, 1500]);
    // With a full buffer, `latest` is not called for three seconds.
    for (let i = 0; i < 15; i++) {
      pass(0.2);
      worker.evaluate();
    }
    const forecast = forecaster.latest(4.6) as QuantileForecast;
    expect(forecast.issuedAtMs).toBeGreaterThan(4300);
    expect(forecast.issuedAtMs).toBeLessThanOrEqual(4600);
  });

  test('forecasts are not requested during a pause, and again after it', () => {
    const { forecaster, worker } = underWay();
    for (let i = 0; i < 100; i++) {
      pass(0.2);
      worker.evaluate();
    }
    expect(jest.getTimerCount()).toBe(0);
    const rested = worker.evaluations.length;
    pass(100);
    expect(worker.evaluations.length).toBe(rested);
    forecaster.latest(121);
    expect(worker.evaluations.length).toBe(rested + 1);
    expect(jest.getTimerCount()).toBe(1);
  });

  test('forecasts of the previous session are ignored', () => {
    const { forecaster, worker } = underWay();
    forecaster.start({ seed: 1 });
    worker.evaluate();
    expect(forecaster.latest(0)).toBeUndefined();
    forecaster.observe(throughput(0, 1, 2e6));
    forecaster.latest(1);
    worker.evaluate();
    const [row] = (forecaster.latest(1.1) as QuantileForecast).quantilesBps;
    expect(row![1]).toBeCloseTo(2e6, -1);
  });

  /** Faults of a forecaster that gives no forecast, so that the next one is used. */
  function faultsOf(forecaster: WorkerForecaster) {
    const { faults, sourceAt } = beforeNext(forecaster);
    expect([1, 1.5, 2].map(sourceAt)).toEqual(['next', 'next', 'next']);
    return faults;
  }

  test.each<[string, (worker: FakeWorker) => void, string | RegExp]>([
    ['the model is missing', (worker) => worker.answer({ kind: 'failed', message: 'got 404' }), /got 404/],
    ['the Worker may not run', (worker) => worker.dispatch('error', {}), /worker\.js could not be started/],
    ['the Worker fails', (worker) => worker.dispatch('error', { message: 'no memory' }), /js failed: no memory/],
    ['a message cannot be read', (worker) => worker.dispatch('messageerror', {}), /unreadable message/],
    ['another Worker', (worker) => worker.dispatch('message', { data: null }), /sent an invalid message/],
    ['an empty card', (worker) => worker.dispatch('message', { data: { kind: 'ready' } }), /sent an invalid message/],
  ])('%s: one fault, and the next forecaster is used', (_, goWrong, message) => {
    const forecaster = loading();
    const worker = workers[0]!;
    goWrong(worker);
    const faults = faultsOf(forecaster);
    expect(faults).toEqual([expect.stringMatching(message)]);
    expect(faults[0]).toContain(String(URLS.modelUrl));
    expect([forecaster.status, worker.isTerminated, jest.getTimerCount()]).toEqual(['failed', true, 0]);
    worker.answer(READY);
    expect(forecaster.status).toBe('failed');
  });

  test('a browser without Workers, or a page without an address, is one fault', () => {
    Object.assign(globalThis, { Worker: undefined, document: undefined });
    const forecaster = createOnnxForecaster({ ...URLS, workerUrl: 'https://page.example/w.js' });
    expect(forecaster.status).toBe('failed');
    expect(() => forecaster.latest(0)).toThrow();
    expect(forecaster.latest(0)).toBeUndefined();
  });

  test.each([
    [[-1, 0, 1, -1, 0], /quantiles: expected 6 numbers, got 5/],
    [[-1, 0, 1, -1, Number.NaN, 1], /quantiles\[4\]: expected a number from -1, got NaN/],
    [[-1, 0, 1, -1, 0, -2], /quantiles\[5\]: expected a number from 0, got -2/],
  ])('quantiles that are none are a fault: %j', (quantiles, message) => {
    const { forecaster, worker } = underWay();
    worker.evaluate(quantiles);
    expect(faultsOf(forecaster)).toEqual([expect.stringMatching(message)]);
  });

  test('quantiles that cross by rounding are sorted', () => {
    const { forecaster, worker } = underWay();
    worker.evaluate([0, 0, 0, 0, 0, -1e-6]);
    expect(() => validForecast(forecaster.latest(1))).not.toThrow();
  });

  test('the timeout of loading counts ticks, not time', () => {
    const forecaster = loading();
    forecaster.start({ seed: 1 });
    // An hour of sleep is one tick.
    const asleep = performance.now() + 3_600_000;
    jest.spyOn(performance, 'now').mockImplementation(() => asleep);
    jest.setSystemTime(asleep);
    pass(0.2);
    jest.restoreAllMocks();
    expect(forecaster.status).toBe('loading');
    pass(70);
    expect(() => forecaster.latest(0)).toThrow('the Worker has not loaded the model for 60 s');
  });

  test('a Worker that does not answer has failed after 5 s', () => {
    const { forecaster, worker } = underWay();
    worker.evaluate();
    expect(forecaster.latest(1.1)).toBeDefined();
    forecaster.latest(1.3);
    pass(6);
    expect(() => forecaster.latest(7)).toThrow('the Worker has not answered for 5 s');
    expect(forecaster.latest(7)).toBeUndefined();
    expect(worker.isTerminated).toBe(true);
  });

  test('after a reported failure the next session tries again', () => {
    const forecaster = loading();
    workers[0]!.answer({ kind: 'failed', message: 'no network' });
    forecaster.start({ seed: 1 });
    expect(workers.length).toBe(1);
    expect(() => forecaster.latest(0)).toThrow('no network');
    forecaster.start({ seed: 1 });
    expect([workers.length, forecaster.status]).toEqual([2, 'loading']);
    workers[1]!.answer(READY);
    expect(forecaster.status).toBe('ready');
  });

  test('close ends all timers without a fault', () => {
    const { forecaster, worker } = underWay();
    forecaster.close();
    expect([forecaster.status, worker.isTerminated, jest.getTimerCount()]).toEqual(['closed', true, 0]);
    worker.evaluate();
    forecaster.start({ seed: 1 });
    forecaster.load();
    expect(forecaster.latest(2)).toBeUndefined();
    expect(workers.length).toBe(1);
  });
});

test('parses a card, also with additional fields', () => {
  expect(parseModelCard(JSON.stringify(CARD))).toEqual(CARD);
  expect(parseModelCard(JSON.stringify(withValue(CARD, 'terminal', 'roof')))).toMatchObject({ terminal: 'roof' });
});

test.each<[string, unknown, string]>([
  ['format', 'onnx', 'card.format: expected "leo-abr forecaster", got "onnx"'],
  ['schema', 2, 'card.schema: expected 1, got 2'],
  ['name', '', 'card.name: expected text, got ""'],
  ['input.name', 3, 'card.input.name: expected text, got 3'],
  ['input.features', [], 'card.input.features: expected an array that is not empty'],
  ['input.features.2.name', 'rain', 'card.input.features[2].name: expected a feature of this version of leo-abr'],
  ['input.features.2.name', 'level-2s', 'card.input.features: expected each name once'],
  ['output.unit', 'bit/s', 'card.output.unit: expected "ln(rate / reference rate)", got "bit/s"'],
  ['output.stepEndsSeconds.1', 1, 'card.output.stepEndsSeconds[1]: expected a number above 1 and below 3600, got 1'],
  ['output.levels', [0.1, 0.5], 'expected an odd number of levels, 3 or more, 0.5 in the middle, got "0.1, 0.5"'],
  ['output.levels', [0.5], 'card.output.levels: expected an odd number of levels, 3 or more, 0.5 in the middle'],
  ['rankCorrelation', 1, 'card.rankCorrelation: expected a number from 0 to below 1, got 1'],
  ['check.features', [1], 'card.check.features: expected an array of 13, got an array of 1'],
  ['check.quantiles.3', null, 'card.check.quantiles[3]: expected a finite number, got null'],
])('says what is wrong with %s', (path, value, message) => {
  const parse = () => parseModelCard(JSON.stringify(withValue(CARD, path, value)));
  expect(parse).toThrow(InputError);
  expect(parse).toThrow(message);
});

test.each(['', '{', 'null', '[]'])('rejects %j', (json) => {
  expect(() => parseModelCard(json)).toThrow(InputError);
});

const text = (value: string) => [...new TextEncoder().encode(value)];
const field = (tag: number, of: number[]) => [tag, of.length, ...of];
const entry = (key: string, value: string) => [...field(10, text(key)), ...field(18, text(value))];
const file = (...bytes: number[]) => Uint8Array.from(bytes);

test('finds keys and values between fields of every kind', () => {
  const metadata = onnxMetadata(
    file(
      ...[8, 8], // ir_version = 8
      ...[58, 3, 1, 2, 3], // graph: three bytes of something
      ...field(114, entry('card', 'läuft')),
      ...[13, 0, 0, 128, 63], // a float
      ...field(114, entry('b', '')),
      ...[17, 0, 0, 0, 0, 0, 0, 0, 0], // a double
      ...[40, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], // -1 as int64
    ),
  );
  expect(Object.fromEntries(metadata)).toEqual({ card: 'läuft', b: '' });
});

test.each<[string, Uint8Array]>([
  ['a web page', file(...text('<!doctype html><title>Not found</title>'))],
  ['what is cut off', file(58, 200, 1, 0)],
  ['a number without an end', file(8, ...Array(12).fill(255))],
])('rejects %s', (_, bytes) => {
  expect(() => onnxMetadata(bytes)).toThrow('model: expected an ONNX file, got "other bytes');
});

test('law: any bytes give metadata or an InputError', () => {
  forAll([fc.uint8Array({ maxLength: 200 })], { seed: 11, numRuns: 3000 }, (bytes) => {
    try {
      onnxMetadata(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
    }
  });
});

describe('model-url', () => {
  const originalFetch = globalThis.fetch;
  afterEach(() => {
    globalThis.fetch = originalFetch;
  });

  const urlOf = (file: unknown) => `data:application/json,${encodeURIComponent(JSON.stringify(file))}`;

  async function settled(forecaster: ModelForecaster): Promise<void> {
    while (forecaster.status === 'loading') await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Two seconds at 20 Mbit/s from `begin` on. */
  function observe(forecaster: Pick<ModelForecaster, 'observe'>, begin = 0): void {
    for (let n = 0; n < 20; n++) forecaster.observe(throughput(begin + n / 10, begin + (n + 1) / 10, 20e6));
  }

  test('gives the forecasts of its file, with what it has observed before it was loaded', async () => {
    const file = { ...SHIPPED_FILE, name: 'mine' };
    const forecaster = createModelForecaster({ modelUrl: urlOf(file) });
    const builtIn = createBuiltInForecaster({ model: parseModel(file) });
    for (const one of [forecaster, builtIn]) {
      one.start({ seed: 1 });
      observe(one);
    }
    expect(forecaster.latest(2)).toBeUndefined();
    await settled(forecaster);
    expect(forecaster.status).toBe('ready');
    const forecast = forecaster.latest(2) as QuantileForecast;
    expect(forecast.source).toBe('model:mine');
    expect(forecast.quantilesBps[0]![3]).toBeCloseTo((builtIn.latest(2) as QuantileForecast).quantilesBps[0]![3]!, 3);
  });

  test.each<[string, string, string]>([
    ['another version', urlOf(withValue(SHIPPED_FILE, 'version', 9)), 'model.version: expected'],
    ['weights that are none', urlOf(withValue(SHIPPED_FILE, 'layers.0.weights', '?')), '.layers[0]'],
    ['no JSON', 'data:text/html,<p>', 'JSON'],
    ['too long a file', `data:text/plain,${'x'.repeat(1e6 + 1)}`, '1000001 characters; the limit is 1000000'],
  ])('%s is one fault, and the next forecaster is used', async (_, modelUrl, message) => {
    const forecaster = createModelForecaster({ modelUrl });
    await settled(forecaster);
    expect(forecaster.status).toBe('failed');
    const { chain, faults, sourceAt } = beforeNext(forecaster);
    observe(chain);
    expect([2, 2.1, 2.2].map(sourceAt)).toEqual(['next', 'next', 'next']);
    expect(faults).toEqual([expect.stringContaining(message)]);
  });

  test('tries again at the next session', async () => {
    const answers = [new Response('', { status: 404 }), Response.json(SHIPPED_FILE)];
    globalThis.fetch = async () => answers.shift()!;
    const forecaster = createModelForecaster({ modelUrl: '/model.json' });
    await settled(forecaster);
    expect(() => forecaster.latest(0)).toThrow('/model.json: expected a model, got status 404');
    expect(forecaster.latest(0)).toBeUndefined();
    forecaster.start({ seed: 1 });
    await settled(forecaster);
    observe(forecaster);
    expect(forecaster.latest(2)).toMatchObject({ source: 'model:leo-abr built-in 4' });
  });

  test('while a server does not answer, the next forecaster is used, after 30 s with one fault', async () => {
    jest.useFakeTimers();
    let requests = 0;
    globalThis.fetch = (_, { signal } = {}) => {
      requests++;
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    };
    const forecaster = createModelForecaster({ modelUrl: '/model.json' });
    const { chain, faults, sourceAt } = beforeNext(forecaster);
    observe(chain);
    expect([forecaster.status, sourceAt(2), faults]).toEqual(['loading', 'next', []]);
    await jest.advanceTimersByTimeAsync(30_000);
    expect([forecaster.status, sourceAt(2.1), sourceAt(2.2)]).toEqual(['failed', 'next', 'next']);
    expect(faults).toEqual(['/model.json: expected a model, got no answer for 30 s']);
    chain.start({ seed: 1 });
    expect([forecaster.status, requests]).toEqual(['loading', 2]);
    jest.useRealTimers();
  });

  test.each([{}, undefined])('a file that cannot be fetched, or is no model, is named: %j', async (file) => {
    globalThis.fetch = async () => (file ? Response.json(file) : Promise.reject(new TypeError('Failed to fetch')));
    const forecaster = createModelForecaster({ modelUrl: '/model.json' });
    await settled(forecaster);
    expect(() => forecaster.latest(0)).toThrow('/model.json: expected a model, got ');
  });

  test.each<[unknown, string]>([
    [undefined, 'options: expected an object, got undefined'],
    ['/model.json', 'options: expected an object, got "/model.json"'],
    [{ modelUrl: 5 }, 'options.modelUrl: expected the URL of a model, got 5'],
    [{ modelUrl: '/m', handover: 1 }, 'options.handover: expected true or false, got 1'],
    [{ modelUrl: '/m', url: '/m' }, 'options.url: expected modelUrl or handover, got "/m"'],
  ])('refuses the options %j', (options, message) => {
    expect(() => createModelForecaster(options as ModelForecasterOptions)).toThrow(message);
  });
});
