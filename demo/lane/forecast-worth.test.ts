import { expect, test } from '@jest/globals';
import type { Forecast } from '../../abr/forecast.ts';
import { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import { fanWorth } from './forecast-worth.ts';

/** 10 Mbit/s, from second 10 on 40 Mbit/s. */
const link = new PiecewisePath({ stepEndsSeconds: [10, 20], ratesBps: [10e6, 40e6] });
const forecast = (atSeconds: number, lowMbps: number, highMbps: number): { forecast: Forecast } => ({
  forecast: {
    ...{ issuedAtMs: atSeconds * 1000, source: 'test', stepEndsSeconds: [2, 4], levels: [0.1, 0.5, 0.9] },
    quantilesBps: [lowMbps, 20].map((low) => [low * 1e6, (low * 1e6 + highMbps * 1e6) / 2, highMbps * 1e6]),
    ...{ rankCorrelation: 0.5, handovers: [] },
  },
});

test('counts the forecasts whose first step is over, and those that held the mean of the link', () => {
  const decisions = [
    forecast(1, 5, 20),
    forecast(2, 15, 30),
    // The mean of 10 and 40 Mbit/s.
    forecast(9, 24, 26),
    forecast(9, 10, 24),
    forecast(12, 5, 60),
    { forecast: undefined },
  ];
  expect(fanWorth(decisions, link, 13.9)).toEqual({ outcomes: 4, inside: 2 });
  expect(fanWorth(decisions, link, 14)).toEqual({ outcomes: 5, inside: 3 });
  // An abandonment may be decided on the same forecast.
  expect(fanWorth([decisions[0]!, decisions[0]!], link, 14)).toEqual({ outcomes: 1, inside: 1 });
  expect(fanWorth([], link, 14)).toEqual({ outcomes: 0, inside: 0 });
});
