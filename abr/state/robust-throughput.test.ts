import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Download } from '../controller.ts';
import { forAll } from '../property.fixture.ts';
import { anyDownloads, downloadsOf } from '../random-states.fixture.ts';
import { robustThroughput } from './robust-throughput.ts';

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
