import { expect, test } from '@jest/globals';
import { traceOfRates } from '../simulator/made-up.fixture.ts';
import { boundaryEffect, logRates, outageRuns, secondsOf } from './trace-info.ts';

test('outages are runs below 1 Mbit/s, also at the ends', () => {
  expect(outageRuns(Float64Array.of(0, 0.9, 5, 0.5, 5, 1, 0, 0, 0), 1)).toEqual([2, 1, 3]);
});

test('logarithms have a floor of 0.5 Mbit/s', () => {
  expect(Array.from(logRates(Float64Array.of(0, 0.5, 1)))).toEqual([Math.log(0.5), Math.log(0.5), 0]);
});

/** 100 Mbit/s with a jump of ln 2 up and down at every epoch, and noise of 1 % elsewhere. */
const jumps = (phase: number, boundary: number) =>
  Float64Array.from({ length: 600 }, (_, i) => {
    const epoch = Math.floor((phase + i - boundary) / 15);
    const atBoundary = (((phase + i - boundary) % 15) + 15) % 15 === 0;
    return (epoch % 2 === 0 ? 100 : 200) * (i % 2 === 0 ? 1 : 1.01) * (atBoundary ? 0.7 : 1);
  });

test.each(['7 12', '51 12', '3 4', '8 14'])('boundaryEffect with phase and boundary %s finds the change', (text) => {
  const [phase, boundary] = text.split(' ').map(Number) as [number, number];
  const { second, changeRatio } = boundaryEffect(jumps(phase, boundary), phase);
  expect(second).toBe(boundary);
  expect(changeRatio).toBeGreaterThan(20);
});

test('seconds are means of the steps, without an incomplete last one', () => {
  const seconds = (ratesMbps: number[], stepSeconds: number) => [...secondsOf(traceOfRates(ratesMbps, stepSeconds))];
  expect(seconds([2, 4, 6, 8, 10], 0.5)).toEqual([3, 7].map((mbps) => expect.closeTo(mbps, 9)));
  expect(seconds([2, 4], 0.25)).toEqual([expect.closeTo(3, 9)]);
});
