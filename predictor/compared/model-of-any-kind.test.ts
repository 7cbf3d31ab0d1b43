import { describe, expect, test } from '@jest/globals';
import type { Observation, QuantileForecast } from '../../abr/forecast.ts';
import { SHIPPED_MODEL } from '../built-in/shipped-model.ts';
import { validateForecast } from '../validate-forecast.ts';
import { TREES_FILE } from './boosted-trees.fixture.ts';
import { type AnyModel, createForecasterOf, parseAnyModel } from './model-of-any-kind.ts';
import { TEMPORAL_FILE } from './temporal-model.fixture.ts';

const START = { seed: 1, utcMsAtStart: Date.UTC(2025, 0, 1), utcUncertaintySeconds: 0.2 };

/** A forecast after so many seconds of a link, in pieces of a tenth, with a pause of two seconds in every four. */
function forecastAfter(model: AnyModel | undefined, seconds: number, before?: (seconds: number) => number) {
  const forecaster = createForecasterOf(model);
  for (const rateAt of [before, (second: number) => (second % 8 < 4 ? 20e6 : 60e6)]) {
    if (rateAt === undefined) continue;
    forecaster.start(START);
    for (let n = 0; n < seconds * 10; n++) {
      if (n % 40 >= 20) continue;
      const piece: Observation = {
        kind: 'throughput',
        startSeconds: n / 10,
        endSeconds: (n + 1) / 10,
        bits: rateAt(n / 10) / 10,
      };
      forecaster.observe(piece);
      forecaster.latest((n + 1) / 10);
    }
  }
  return forecaster.latest(seconds) as QuantileForecast;
}

describe('a model of any kind', () => {
  test.each([
    ['built-in', SHIPPED_MODEL],
    ['boosted trees', TREES_FILE],
    ['temporal network', TEMPORAL_FILE],
  ])('is read by its format and forecasts as %s', (source, file) => {
    const model = parseAnyModel(JSON.parse(JSON.stringify(file)));
    const forecast = forecastAfter(model, 30);
    expect(validateForecast(forecast)).toBeUndefined();
    expect(forecast).toMatchObject({ source, stepEndsSeconds: model.stepEndsSeconds, levels: model.levels });
    // Nothing is left of a session before.
    expect(forecastAfter(model, 30, () => 1e6)).toEqual(forecast);
  });

  test('is the shipped one where there is none', () => {
    expect(forecastAfter(undefined, 30)).toEqual(forecastAfter(parseAnyModel(SHIPPED_MODEL), 30));
  });

  test('is refused where its format is none of them', () => {
    expect(() => parseAnyModel({ format: 'pickle' }, 'a.json')).toThrow(
      'a.json.format: expected one of "leo-abr quantile networks", "leo-abr boosted trees", "leo-abr temporal network (sessions)", got "pickle"',
    );
    expect(() => parseAnyModel([])).toThrow('model: expected an object, got an empty array');
  });
});
