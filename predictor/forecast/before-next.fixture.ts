/** For tests of faults: a chain with a forecaster before a sound one, which is named `next`. */

import type { Forecaster } from '../../abr/forecast.ts';
import { ForecastChain } from './chain.ts';

const QUANTILES = { stepEndsSeconds: [4], levels: [0.1, 0.5, 0.9], quantilesBps: [[1e6, 2e6, 3e6]] };

export function beforeNext(forecaster: Forecaster) {
  const faults: string[] = [];
  const forecast = { source: 'next', ...QUANTILES, rankCorrelation: 0.7, handovers: [] };
  const latest = (nowSeconds: number) => ({ ...forecast, issuedAtMs: nowSeconds * 1000 });
  const next = { name: 'next', start() {}, observe() {}, latest };
  const chain = new ForecastChain([forecaster, next], (_, cause) => faults.push((cause as Error).message));
  return { chain, faults, sourceAt: (nowSeconds: number) => chain.latest(nowSeconds)?.source };
}
