import { expect, test } from '@jest/globals';
import { LiveEdge, LiveWaits } from './live-waits.ts';
import { ObservationMeter } from './observation-meter.ts';
import { LinkWatch, SegmentDownload } from './segment-download.ts';

test.each([
  [1e6, 7e6],
  [50e6, 0],
])('chunks at the live edge, 50 ms on their way, count if %d bit/s were known', (knownBps, bits) => {
  let observedBits = 0;
  const meter = new ObservationMeter((one) => {
    if (one.kind === 'throughput') observedBits += one.bits;
  });
  const segment = { firstChunkAtSeconds: 10, segmentSeconds: 2, chunkSeconds: 0.25 };
  const download = new SegmentDownload(10, {
    link: new LinkWatch(10, { meter, waits: new LiveWaits(new LiveEdge(), segment, 10), knownBps: () => knownBps }),
  });
  for (let chunk = 0; chunk < 8; chunk++) {
    download.received(10.05 + 0.25 * chunk, { addedBits: 1e6, chunks: 1 });
  }
  download.ended(11.8, 'whole');
  meter.advance(20);
  expect(observedBits).toBeCloseTo(bits);
});
