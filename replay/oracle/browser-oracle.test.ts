import { expect, test } from '@jest/globals';
import type { PathForecast, QuantileForecast } from '../../abr/index.ts';
import { browserOracle } from './browser-oracle.ts';

const steps = { stepEndsSeconds: [10, 20], ratesBps: [1e6, 4e6] };
const link = { ...steps, rttSeconds: 0.1, startSeconds: 8, traceStartUtcMs: 0 };
const path = (oracle: ReturnType<typeof browserOracle>, now: number) =>
  (oracle.forecaster.latest(now) as PathForecast).path;

test('publishes the link from now on, with its RTT', () => {
  const oracle = browserOracle(link, 'mpc-o');
  expect(path(oracle, 0).downloadSeconds(0, 1e6)).toBeCloseTo(1.1, 9);
  expect(path(oracle, 2).downloadSeconds(0, 4e6)).toBeCloseTo(1.1, 9);
  expect(path(oracle, 12).cumulativeBits(10)).toBeCloseTo(1e7, 3);
});

test('MPC-L gets quantiles, because it plans on no path', () => {
  const { quantilesBps } = browserOracle(link, 'mpc-l').forecaster.latest(2) as QuantileForecast;
  expect(quantilesBps[0]).toEqual([4e6]);
});

test('the oracle is anchored by the first media response only', () => {
  const oracle = browserOracle(link, 'mpc-d');
  oracle.anchor(9.5, 0.5);
  oracle.anchor(100, 1);
  expect(oracle.offsetSeconds).toBe(9);
  expect(path(oracle, 1).cumulativeBits(1)).toBeCloseTo(4e6, 3);
});
