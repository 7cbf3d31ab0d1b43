import { describe, expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { ForecastGate } from './forecast-gate.ts';

/** Median 40 Mbit/s, with 80 % between 20 and 60. */
const FORECAST: QuantileForecast = {
  issuedAtMs: 30_000,
  source: 'service',
  stepEndsSeconds: [1, 4, 12],
  levels: [0.03, 0.1, 0.5, 0.9, 0.97],
  quantilesBps: [
    [10e6, 20e6, 40e6, 60e6, 70e6],
    [5e6, 15e6, 40e6, 65e6, 80e6],
    [5e6, 15e6, 40e6, 65e6, 80e6],
  ],
  rankCorrelation: 0.7,
  handovers: [],
};

/** A session after 30 s at 40 Mbit/s and then tenths of a second at the given rates. */
function gate(bpsSince: readonly number[] = [], staleSeconds = 3) {
  const made = new ForecastGate({ staleSeconds });
  made.start();
  made.admits({ ...FORECAST, issuedAtMs: 0 }, 0);
  const rates = [...new Array<number>(300).fill(40e6), ...bpsSince];
  rates.forEach((bps, tenth) => {
    made.observe(tenth / 10, (tenth + 1) / 10, bps / 10);
  });
  return { gate: made, nowSeconds: rates.length / 10 };
}

describe('a forecast of the service is admitted', () => {
  test('while it is recent', () => {
    const { gate: one } = gate();
    expect([30, 32.9, 33].map((seconds) => one.admits(FORECAST, seconds))).toEqual([true, true, false]);
  });

  test.each<[string, number[], boolean]>([
    ['without new bits', [], true],
    ['with a rate within its quantiles', new Array(9).fill(30e6), true],
    ['not below its quantiles', [40e6, 40e6, 12e6, 12e6, 12e6, 12e6, 12e6], false],
    ['not in an outage', [40e6, 0, 0, 0, 0], false],
    ['not above its quantiles', new Array(5).fill(75e6), false],
    ['with very few new bits', [0], true],
    ['after a short pause', [0, 0, 0, 40e6, 40e6, 40e6, 40e6, 40e6], true],
    ['with a rate within the wider quantiles of a later step', new Array(12).fill(17e6), true],
  ])('%s', (_, since, isAdmitted) => {
    const { gate: one, nowSeconds } = gate(since);
    expect(one.admits(FORECAST, nowSeconds)).toBe(isAdmitted);
  });

  test('if the service has observed at least half as much of the link as the session', () => {
    const { gate: one } = gate();
    expect([0, 14, 16, 3600, undefined].map((seen) => one.admits(FORECAST, 30, seen))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  test('not yet, if it knows less of the link than the session', () => {
    const { gate: one } = gate();
    expect([14, 16, undefined].map((seen) => one.verdict(seen))).toEqual(['not-yet', 'trusted', 'trusted']);
  });

  test('not yet, if its early forecasts were wrong; distrusted, if later ones are wrong, too', () => {
    const wrong = { ...FORECAST, quantilesBps: FORECAST.quantilesBps.map((row) => row.map((bps) => bps * 20)) };
    const one = new ForecastGate({ staleSeconds: 3 });
    one.start();
    // It agrees with the session at first.
    const play = (fromSecond: number, experienceSeconds: number) => {
      for (let tenth = fromSecond * 10; tenth < (fromSecond + 15) * 10; tenth++) {
        if (tenth % 10 === 0) {
          const forecast = tenth < 20 ? FORECAST : wrong;
          one.addForecast({ ...forecast, issuedAtMs: tenth * 100 }, tenth / 10, experienceSeconds);
        }
        one.observe(tenth / 10, (tenth + 1) / 10, 4e6);
      }
      return one.verdict(experienceSeconds);
    };
    // Early for a service with 40 s, then for a session with less than 20 s.
    expect(play(0, 40)).toBe('not-yet');
    one.start();
    expect(play(0, 70)).toBe('not-yet');
    expect(play(15, 70)).toBe('distrusted');
    // A new session does not make up for that.
    one.start();
    expect(play(0, 70)).toBe('distrusted');
  });

  test('again in a new session', () => {
    const { gate: one, nowSeconds } = gate([0, 0, 0, 0, 0]);
    expect(one.admits(FORECAST, nowSeconds, 1)).toBe(false);
    one.start();
    expect(one.admits({ ...FORECAST, issuedAtMs: 0 }, 0, 1)).toBe(true);
  });
});
