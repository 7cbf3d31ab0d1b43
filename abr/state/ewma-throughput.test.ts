import { expect, test } from '@jest/globals';
import { between, forAll } from '../property.fixture.ts';
import { anyDownloads, downloadsOf } from '../random-states.fixture.ts';
import { ewmaThroughputBps } from './ewma-throughput.ts';

const some = anyDownloads().filter((downloads) => downloads.length > 0);

test('constant in, constant out; undefined without a measurement', () => {
  expect(ewmaThroughputBps([])).toBeUndefined();
  forAll([between(1e3, 1e9), some], { seed: 1 }, (rateBps, downloads) => {
    const constant = downloads.map((download) => ({
      ...download,
      receivedBits: rateBps * (download.downloadSeconds - 0.04),
      latencySeconds: 0.04,
    }));
    expect(ewmaThroughputBps(constant)! / rateBps).toBeCloseTo(1, 9);
  });
});

test('after weight 3, its half-life, the fast mean is half way to a new rate', () => {
  // Long enough at 8 Mbit/s to forget the start, then 2 s (weight 3) at 2 Mbit/s; the fast mean is the smaller.
  const downloads = [...downloadsOf(1, 1e6, 8e6 * 200, 200), ...downloadsOf(1, 1e6, 2e6 * 2, 2)];
  expect(ewmaThroughputBps(downloads)).toBeCloseTo(5e6, 0);
});
