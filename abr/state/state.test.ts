import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Download, PlayerState } from '../controller.ts';
import { forAll } from '../property.fixture.ts';
import { anyDownloads, downloadsOf, stateOf } from '../random-states.fixture.ts';
import { firstChoice, horizonOf, previousQuality, switchCosts, watchShare, worthsAt } from './facts.ts';
import { robustThroughput } from './robust-throughput.ts';

const LADDER_BPS = [51e3, 500e3, 850e3, 2.5e6, 8e6];

test.each([
  ['nothing is assumed', 4, undefined, undefined, 0],
  ['the lowest is above what the player assumes', 4, 40e3, 10e6, 0],
  ["the player's default takes over a second", 10, 1e6, undefined, 0],
  ['the browser knows a faster link', 10, 1e6, 10e6, 2],
  ['the browser knows a slower link', 4, 1e6, 0.6e6, 0],
  ['the browser knows a slow link: short segments come in time', 1, 1e6, 0.6e6, 2],
  ['the page assumes a fast link', 4, 20e6, undefined, 3],
  ['the player does not know', 4, Number.NaN, 10e6, 0],
])('%s (segments of %d s)', (_, segmentSeconds, playerBps, browserBps, expected) => {
  const state = stateOf(LADDER_BPS, { segmentSeconds, assumed: { playerBps, browserBps } });
  expect(firstChoice(state).representation).toBe(expected);
});

test('a plan has two segments more than the buffer, 5 to 16; up to 32 s of short segments', () => {
  const horizon = (segmentSeconds: number, bufferCapSeconds: number) =>
    horizonOf({ segmentSeconds, bufferCapSeconds } as PlayerState);
  expect([horizon(4, 8), horizon(4, 20), horizon(4, 60), horizon(2, 60)]).toEqual([5, 7, 16, 16]);
  expect([horizon(1, 60), horizon(1, 20), horizon(0.5, 60)]).toEqual([32, 22, 32]);
});

test('half of the viewers leave before the median, fewer and fewer of the rest later; nobody leaves without one', () => {
  expect(watchShare(0, 30)).toBe(1);
  expect(watchShare(30, 30)).toBeCloseTo(0.5, 9);
  const lost = (seconds: number) => 1 - watchShare(seconds + 10, 30) / watchShare(seconds, 30);
  expect(lost(60)).toBeLessThan(lost(0) / 2);
  expect(watchShare(3600, Number.POSITIVE_INFINITY)).toBe(1);
});

/** Downloads of 1 s each with these throughputs in Mbit/s. */
function measured(mbps: readonly number[]): Download[] {
  return downloadsOf(mbps.length, 1e6, 0, 1).map((one, i) => ({ ...one, receivedBits: mbps[i]! * 1e6 }));
}

test.each([{ receivedBits: 0 }, { downloadSeconds: 0 }])('undefined without a measurement: %j', (changes) => {
  expect(robustThroughput([])).toBeUndefined();
  expect(robustThroughput([{ ...measured([1])[0]!, ...changes }])).toBeUndefined();
});

test('equals the mean and its errors over the whole history, in which the first has none', () => {
  forAll([anyDownloads()], { seed: 2, numRuns: 500 }, (downloads) => {
    fc.pre(downloads.length > 0);
    const means: number[] = [];
    const errors: number[] = [];
    downloads.forEach(({ receivedBits, downloadSeconds }, i) => {
      const bps = receivedBits / downloadSeconds;
      errors.push(i === 0 ? 0 : Math.abs(means.at(-1)! - bps) / bps);
      const last = downloads.slice(Math.max(0, i - 4), i + 1);
      means.push(last.length / last.reduce((sum, one) => sum + one.downloadSeconds / one.receivedBits, 0));
    });
    const [meanBps, maxError] = [means.at(-1)!, Math.max(...errors.slice(-5))];
    const estimate = robustThroughput(downloads)!;
    expect(estimate.meanBps / meanBps).toBeCloseTo(1, 12);
    expect(estimate.maxError).toBeCloseTo(maxError, 9);
    expect(estimate.robustBps / (meanBps / (1 + maxError))).toBeCloseTo(1, 9);
  });
});

test('all attempts at one segment are one measurement', () => {
  const [first, second] = measured([6, 6]) as [Download, Download];
  const given = { ...second, requestedAtSeconds: 2, receivedBits: 0, downloadSeconds: 2, abandoned: true };
  const repeated = { ...second, requestedAtSeconds: 3 };
  // 6 Mbit over 2 + 1 s.
  const asOne = { ...second, downloadSeconds: 3 };
  expect(robustThroughput([first, given, repeated])).toEqual(robustThroughput([first, asOne]));
});

const weights = { quality: (bps: number) => bps / 1e5, mu: 1, lambda: 1, rise: 0, pricePerMbps: 3 };
const state = { ladderBps: [1e6, 2e6], segmentSeconds: 4, upcomingSizesBits: [], weights } as unknown as PlayerState;

test('each segment costs the price of its real size, of its bitrate where no size is known, of 0 without a price', () => {
  expect(worthsAt(state, 0)).toEqual([10 - 3, 20 - 6]);
  // 2 s of 1 and of 4 Mbit/s, then 4 s of 0.5 and of 2 Mbit/s.
  const sized = {
    ...state,
    upcomingSizesBits: [
      [2e6, 8e6],
      [2e6, 8e6],
    ],
    upcomingSeconds: [2, 4],
    upcomingQualities: [
      [50, 90],
      [60, 80],
    ],
  };
  expect(worthsAt(sized, 0)).toEqual([50 - 3, 90 - 12]);
  expect(worthsAt(sized, 1)).toEqual([60 - 1.5, 80 - 6]);
  expect(worthsAt({ ...sized, weights: { ...weights, pricePerMbps: 0 } }, 1)).toEqual([60, 80]);
});

test('a switch falls by what viewers see, whatever the bits cost', () => {
  const from = (previousBitrateBps: number | undefined) => switchCosts({ ...state, previousBitrateBps });
  expect(from(undefined)).toEqual([0, 0]);
  expect(from(2e6)).toEqual([20 - 10, 0]);
  // A bitrate that the page has removed from the ladder.
  expect(previousQuality({ ...state, previousBitrateBps: 4e6 }, [10, 20])).toBe(40);
});
