import { expect, test } from '@jest/globals';
import type { PlayerState } from '../controller.ts';
import { downloadsOf, inFlightOf, quantilesOf, stateOf as runningState } from '../random-states.fixture.ts';
import { usableForecast } from './usable-forecast.ts';

const isPlausible = (...of: Parameters<typeof usableForecast>) => usableForecast(...of) !== undefined;
const LADDER_BPS = [3e6, 8e6, 15e6, 30e6, 60e6, 120e6];

/** Downloads of 4 s of 8 Mbit/s at these rates, oldest first. */
function stateOf(ratesMbps: readonly number[]): PlayerState {
  const downloads = downloadsOf(ratesMbps.length, 8e6, 32e6, 4).map((one, i) => {
    const mbps = ratesMbps[i]!;
    const outcome = mbps === 0 ? { receivedBits: 0, abandoned: true } : { downloadSeconds: 32 / mbps + 0.05 };
    return { ...one, latencySeconds: 0.05, ...outcome };
  });
  return runningState(LADDER_BPS, { downloads });
}

const expects = (medianMbps: number) =>
  quantilesOf(1e6 * medianMbps, { stepEndsSeconds: [2, 8, 48], shares: [0.6, 1, 1.5] });

/** A download of 480 Mbit, whose first bit came after half of the time. */
const inFlight = (receivedBits: number, seconds = 2) => ({
  ...inFlightOf(stateOf([]), 5, receivedBits / 480e6, seconds),
  ...(receivedBits > 0 && { firstByteAtSeconds: 100 - seconds / 2 }),
});

test.each<[string, number[], number, boolean]>([
  ['as measured', [20, 25, 18, 22, 20], 20, true],
  ['three times as fast as ever', [20, 25, 18, 22, 20], 75, true],
  ['three times as slow', [20, 25, 18, 22, 20], 7, true],
  ['in other units', [20, 25, 18, 22, 20], 20e3, false],
  ['bytes for bits', [20, 25, 18, 22, 20], 20 / 8, false],
  ['nothing, while everything came', [20, 25, 18, 22, 20], 1e-9, false],
  ['an outage that the last download saw', [20, 25, 18, 22, 0], 0.1, true],
  ['the end of an outage', [60, 70, 2, 0, 1], 60, true],
  ['more than any representation needs, on a link that has it', [300, 500, 400], 40e3, true],
  ['less than was measured, but enough to matter little', [3000, 5000], 150, true],
])('%s: measured %p, expected %p: %p', (_, measured, expected, plausible) => {
  expect(isPlausible(expects(expected), stateOf(measured))).toBe(plausible);
});

test('before a measurement, rejects only impossible links', () => {
  for (const mbps of [0.01, 1, 100, 10e3]) expect(isPlausible(expects(mbps), stateOf([]))).toBe(true);
  for (const mbps of [1e-9, 1e-4, 1e6]) expect(isPlausible(expects(mbps), stateOf([]))).toBe(false);
});

test('a running download is evidence after a second', () => {
  const fast = stateOf([100, 100]);
  expect(isPlausible(expects(0.1), fast)).toBe(false);
  expect(isPlausible(expects(0.1), fast, inFlight(0))).toBe(true);
  expect(isPlausible(expects(0.1), fast, inFlight(0, 0.5))).toBe(false);
  expect(isPlausible(expects(900), stateOf([]), inFlight(10e6))).toBe(false);
  expect(isPlausible(expects(600), stateOf([20]), inFlight(200e6))).toBe(true);
});
