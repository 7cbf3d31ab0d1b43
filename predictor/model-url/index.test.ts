import { afterEach, expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { beforeNext } from '../forecast/before-next.fixture.ts';
import { createBuiltInForecaster } from '../forecast/built-in-forecaster.ts';
import { parseModel } from '../forecast/model-file.ts';
import { SHIPPED_FILE } from '../forecast/shipped-file.fixture.ts';
import { withValue } from '../forecast/with-value.fixture.ts';
import { throughput } from '../link/handover-clock/links.fixture.ts';
import { createModelForecaster, type ModelForecaster, type ModelForecasterOptions } from './index.ts';

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
