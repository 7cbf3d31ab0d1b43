import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as runtime from 'onnxruntime-web/wasm';
import { CARD_KEY, parseModelCard } from '../../predictor/onnx/model-card.ts';
import { onnxMetadata } from '../../predictor/onnx/onnx-metadata.ts';
import { runCommand } from '../command.ts';
import { type DescribedTemporalModel, exportTemporalOnnx, type TemporalModel } from './export-temporal.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
// There is no server to fetch it from.
runtime.env.wasm.wasmBinary = readFileSync(path('../../node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm'));

runtime.env.wasm.numThreads = 1;

// Small networks that predictor/training fitted to a made-up link, with what it computed for two moments.
const trained: TemporalModel = JSON.parse(readFileSync(path('temporal-model.fixture.json'), 'utf8'));
const model: DescribedTemporalModel = {
  ...trained,
  tool: { name: 'leo-abr-tools', version: '1.2.3' },
  data: [{ dataset: 'own', licences: ['CC0'], groups: ['a', 'b'], recordings: 2, seconds: 480 }],
  scores: { pooled: { forecasts: 440 } },
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-export-temporal-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('gives in onnxruntime-web what the Python that trained it gave', async () => {
  const session = await runtime.InferenceSession.create(exportTemporalOnnx(model));
  const { lags, channels, moment, golden, stepEndsSeconds, levels } = model;
  const batch = golden.length;
  expect(batch).toBeGreaterThan(1);
  const { quantiles } = await session.run({
    history: new runtime.Tensor('float32', Float32Array.from(golden.flatMap((one) => one.history)), [
      batch,
      lags,
      channels.length,
    ]),
    moment: new runtime.Tensor('float32', Float32Array.from(golden.flatMap((one) => one.moment)), [
      batch,
      moment.length,
    ]),
  });
  expect(quantiles!.dims).toEqual([batch, stepEndsSeconds.length, levels.length]);
  const expected = golden.flatMap(({ logRatios }) => logRatios);
  const values = quantiles!.data as Float32Array;
  expect(Math.max(...expected.map((value, i) => Math.abs(value - values[i]!)))).toBeLessThan(1e-4);
});

test('is written by leo-abr export with a card that says what goes in, and that the plugin does not take', async () => {
  const file = join(folder, 'temporal.json');
  writeFileSync(file, JSON.stringify(model));
  const status = await runCommand(['export', file], {
    stdout: { write: () => true },
    stderr: { write: () => true },
    defaultJobs: 1,
    onInterrupt: () => () => {},
  });
  expect(status).toBe(0);
  const json = onnxMetadata(readFileSync(join(folder, 'temporal.onnx'))).get(CARD_KEY)!;
  const { golden, data, scores } = model;
  expect(JSON.parse(json)).toMatchObject({
    inputs: { history: '[batch, 64, 5]', moment: `[batch, ${model.moment.length}]` },
    golden,
    data,
    scores,
  });
  expect(() => parseModelCard(json)).toThrow('leo-abr temporal network');
});

test.each<[string, Partial<DescribedTemporalModel>]>([
  ['m.json: version: expected 1, got "2"', { version: 2 as 1 }],
  ['m.json: lags: expected the product of the widths, got "32"', { lags: 32 }],
  ['m.json: levels: expected as many quantiles as outputs, 15, got "3"', { levels: [0.5] }],
  ['networks[0]: expected 5 layers, got "4"', { networks: [trained.networks[0]!.slice(1)] }],
  ['networks[0][3].weights: expected', { moment: trained.moment.slice(1) }],
  ['golden: expected a list with something in it', { golden: [] }],
])('says %s', (message, change) => {
  expect(() => exportTemporalOnnx({ ...model, ...change }, 'm.json')).toThrow(message);
});
