import { expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import type { Model } from '../../predictor/forecast/quantile-network.ts';
import { SHIPPED_FILE } from '../../predictor/forecast/shipped-file.fixture.ts';
import { SessionClock } from '../clock.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { LinkForecaster } from './link-forecaster.ts';

test('a second observed by the dish and a player counts once and does not set the forecast back', () => {
  const clock = new ManualClock();
  const forecaster = new LinkForecaster(new SessionClock(clock));
  const startMs = clock.utcMs();
  clock.advance(10);
  // The dish's usage of a second arrives at its end, before the player's tenths of it.
  forecaster.observe({ kind: 'throughput', startSeconds: 9, endSeconds: 10, bits: 50e6 });
  for (let tenth = 90; tenth < 103; tenth++) {
    if (tenth === 95) expect(forecaster.latest()).toMatchObject({ issuedAtMs: startMs + 10_000 });
    const startSeconds = tenth / 10;
    forecaster.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + 0.1, bits: 5e6 });
  }
  expect(forecaster.observedSeconds).toBeCloseTo(1.3, 6);
  clock.advance(0.3);
  expect(forecaster.latest()).toMatchObject({ issuedAtMs: startMs + 10_300 });
});

test('forecasts with another model, if it is given', () => {
  const quantilesOf = (model?: Model) => {
    const clock = new ManualClock();
    const forecaster = new LinkForecaster(new SessionClock(clock), model);
    clock.advance(10);
    forecaster.observe({ kind: 'throughput', startSeconds: 9, endSeconds: 10, bits: 50e6 });
    return (forecaster.latest() as QuantileForecast).quantilesBps;
  };
  const model = parseModel(SHIPPED_FILE);
  expect(quantilesOf(model)).toEqual(quantilesOf());
  const layers = model.layers.map((layer) => layer.map((row) => row.map((weight) => weight / 2)));
  expect(quantilesOf({ ...model, layers })).not.toEqual(quantilesOf());
});
