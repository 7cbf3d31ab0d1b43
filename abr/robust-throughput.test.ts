import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Download } from './controller.ts';
import { anyDownloads, downloadsOf } from './random-states.fixture.ts';
import { robustThroughput } from './robust-throughput.ts';

/** Downloads of 1 s each with these throughputs in Mbit/s. */
function measured(mbps: readonly number[]): Download[] {
  return downloadsOf(mbps.length, 1e6, 0, 1).map((one, i) => ({ ...one, receivedBits: mbps[i]! * 1e6 }));
}

describe('robustThroughput', () => {
  test('undefined without a measurement', () => {
    expect(robustThroughput([])).toBeUndefined();
    expect(robustThroughput([{ ...measured([1])[0]!, receivedBits: 0 }])).toBeUndefined();
    expect(robustThroughput([{ ...measured([1])[0]!, downloadSeconds: 0 }])).toBeUndefined();
  });

  test('the first measurement has no error', () => {
    expect(robustThroughput(measured([4]))).toEqual({ meanBps: 4e6, maxError: 0, robustBps: 4e6 });
  });

  test('the error is that of the mean before, undiscounted', () => {
    // est_1 = 4; err_2 = |4 - 8| / 8 = 0.5; est_2 = 2 / (1/4 + 1/8).
    const estimate = robustThroughput(measured([4, 8]))!;
    expect(estimate.maxError).toBeCloseTo(0.5, 12);
    expect(estimate.meanBps).toBeCloseTo((2 / (1 / 4 + 1 / 8)) * 1e6, 3);
    expect(estimate.robustBps).toBeCloseTo(((2 / (1 / 4 + 1 / 8)) * 1e6) / 1.5, 3);
  });

  test('an error is forgotten after five measurements', () => {
    // A jump from 8 to 2 errs by 3; five measurements of 2 later only the mixed means err.
    const jump = robustThroughput(measured([8, 8, 8, 8, 8, 2]))!;
    expect(jump.maxError).toBeCloseTo(3, 12);
    expect(robustThroughput(measured([8, 8, 8, 8, 8, 2, 2, 2, 2, 2]))!.maxError).toBeCloseTo(3, 12);
    const later = robustThroughput(measured([8, 8, 8, 8, 8, 2, 2, 2, 2, 2, 2]))!;
    // The mean before the second 2: 5 / (4/8 + 1/2) = 5, against 2.
    expect(later.maxError).toBeCloseTo(1.5, 12);
    expect(later.meanBps).toBeCloseTo(2e6, 3);
  });

  test('constant in, constant out', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e3, max: 1e9, noNaN: true }), anyDownloads(), (rateBps, downloads) => {
        fc.pre(downloads.length > 0);
        const constant = downloads.map((download) => {
          const bits = rateBps * download.downloadSeconds;
          return { ...download, receivedBits: bits, sizeBits: bits };
        });
        const { meanBps, maxError, robustBps } = robustThroughput(constant)!;
        expect(meanBps / rateBps).toBeCloseTo(1, 12);
        expect(maxError).toBeCloseTo(0, 12);
        expect(robustBps / rateBps).toBeCloseTo(1, 12);
      }),
      { seed: 1 },
    );
  });

  test('never above the slowest and the fastest measurement', () => {
    fc.assert(
      fc.property(anyDownloads(5), (downloads) => {
        fc.pre(downloads.length > 0);
        const rates = downloads.map(({ receivedBits, downloadSeconds }) => receivedBits / downloadSeconds);
        const { meanBps, robustBps } = robustThroughput(downloads)!;
        expect(meanBps).toBeLessThanOrEqual(Math.max(...rates) * (1 + 1e-12));
        expect(meanBps).toBeGreaterThanOrEqual(Math.min(...rates) * (1 - 1e-12));
        expect(robustBps).toBeLessThanOrEqual(meanBps);
      }),
      { seed: 3 },
    );
  });

  test('all attempts at one segment are one measurement', () => {
    const [first, second] = measured([6, 6]) as [Download, Download];
    const given = { ...second, receivedBits: 0, sizeBits: 60e6, downloadSeconds: 2, abandoned: true };
    const repeated = { ...second, requestedAtSeconds: 3 };
    // 6 Mbit over 2 + 1 s.
    expect(robustThroughput([first, given, repeated])).toEqual(
      robustThroughput([first, { ...second, downloadSeconds: 3 }]),
    );
  });
});
