import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import type { InProcessForecaster } from '../../predictor/onnx/onnx-session.ts';
import type { StateReply } from '../api/wire.ts';
import { type LogFields, NO_LOG } from '../log.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { PredictionService } from '../prediction-service.ts';
import { startService } from '../start-service.ts';
import { loadOnnxForecaster } from './onnx-model.ts';

/** The built-in model as an ONNX file. */
const MODEL = fileURLToPath(new URL('../../predictor/models/built-in.onnx', import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-model-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a service with the model and a downloading player; returns the forecast's source at each tenth of a second. */
async function served(model: InProcessForecaster, tenths: number, before: (tenth: number) => void = () => {}) {
  const clock = new ManualClock();
  const service = new PredictionService({ clock, version: '0', forecasters: [model] });
  const sources: (string | null)[] = [];
  for (let tenth = 0; tenth < tenths; tenth++) {
    before(tenth);
    clock.advance(0.1);
    const endMs = clock.utcMs();
    service.observe({ player: 'p', observations: [{ kind: 'throughput', startMs: endMs - 100, endMs, bits: 5e6 }] });
    service.tick();
    // Let the evaluation finish, which takes some turns of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    sources.push(service.state().link.forecaster);
  }
  return { service, sources };
}

describe('a model in ONNX', () => {
  test('forecasts the same as the built-in forecaster with the same networks', async () => {
    const model = await loadOnnxForecaster(MODEL);
    const builtIn = createBuiltInForecaster();
    for (const forecaster of [model, builtIn]) {
      forecaster.start({ seed: 1 });
      for (let tenth = 0; tenth < 200; tenth++) {
        const bits = 5e6 + 3e6 * Math.sin(tenth / 9);
        const [startSeconds, endSeconds] = [tenth / 10, (tenth + 1) / 10];
        forecaster.observe({ kind: 'throughput', startSeconds, endSeconds, bits });
      }
    }
    expect(model.latest(20)).toBeUndefined();
    await model.prepare(20);
    const forecast = model.latest(20)!;
    const other = builtIn.latest(20) as QuantileForecast;
    expect(forecast).toMatchObject({ issuedAtMs: 20_000, source: 'model:leo-abr built-in 2' });
    forecast.quantilesBps.flat().forEach((bps, i) => {
      expect(bps / other.quantilesBps.flat()[i]!).toBeCloseTo(1, 2);
    });
    // A new session starts without history.
    model.start({ seed: 1 });
    expect(model.latest(0)).toBeUndefined();
  });

  test('makes the forecasts of the service, with the built-in forecaster as fallback', async () => {
    const model = await loadOnnxForecaster(MODEL);
    const { sources } = await served(model, 100, (tenth) => {
      if (tenth === 60) model.prepare = async () => {};
    });
    expect(sources[55]).toBe('model:leo-abr built-in 2');
    expect(sources[99]).toBe('built-in');
  });

  test.each<[string, () => Uint8Array, string]>([
    ['not a model', () => new TextEncoder().encode('<!doctype html>'), 'expected an ONNX file'],
    [
      'a model without a card',
      // One letter of the card's key is wrong.
      () => Buffer.from(readFileSync(MODEL).toString('latin1').replaceAll('leo_abr_card', 'leo_abr_care'), 'latin1'),
      'expected a model card in its metadata',
    ],
    [
      'a model with an invalid card',
      () =>
        Buffer.from(
          readFileSync(MODEL).toString('latin1').replace('"rankCorrelation":0.', '"rankCorrelation":7.'),
          'latin1',
        ),
      'card.rankCorrelation: expected a number from 0 to below 1',
    ],
  ])('is one problem if the file is %s, and the service starts without it', async (_, bytes, message) => {
    const file = join(folder, 'wrong.onnx');
    writeFileSync(file, bytes());
    const faults: string[] = [];
    const log = { ...NO_LOG, warn: (_: LogFields, fault: string) => void faults.push(fault) };
    const running = await startService({ version: '0', port: 0, model: file, log });
    try {
      expect(faults).toHaveLength(1);
      expect(faults[0]).toContain(file);
      expect(faults[0]).toContain(message);
      const state = (await (await fetch(`${running.url}/v1/state`)).json()) as StateReply;
      expect(state.problems).toEqual([
        expect.objectContaining({ part: 'model', code: 'unusable', message: faults[0], count: 1 }),
      ]);
    } finally {
      await running.close();
    }
  });
});
