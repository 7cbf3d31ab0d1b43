import { expect, test } from '@jest/globals';
import { ewmaThroughputBps } from './ewma-throughput.ts';
import { between, forAll } from './property.fixture.ts';
import { anyDownloads } from './random-states.fixture.ts';

const some = anyDownloads().filter((downloads) => downloads.length > 0);

test('nothing measured: undefined', () => {
  expect(ewmaThroughputBps([])).toBeUndefined();
});

test('constant in, constant out', () => {
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
  const download = { segmentIndex: 0, bitrateBps: 1e6, sizeBits: 1, requestedAtSeconds: 0, abandoned: false };
  // Long enough at 8 Mbit/s to forget the start, then 2 s (weight 3) at 2 Mbit/s; the fast mean is the smaller.
  const high = { ...download, receivedBits: 8e6 * 200, downloadSeconds: 200 };
  const low = { ...download, receivedBits: 2e6 * 2, downloadSeconds: 2 };
  expect(ewmaThroughputBps([high, low])).toBeCloseTo(5e6, 0);
});
