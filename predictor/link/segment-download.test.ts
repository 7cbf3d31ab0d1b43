import { expect, test } from '@jest/globals';
import { LiveEdge, LiveWaits } from './live-waits.ts';
import { ObservationMeter, type ThroughputPiece } from './observation-meter.ts';
import { LinkWatch, SegmentDownload } from './segment-download.ts';

test.each([1e6, 50e6])('chunks at the live edge, 50 ms on their way, count if less is known: %d bit/s', (knownBps) => {
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
  expect(observedBits).toBeCloseTo(knownBps < 20e6 ? 7e6 : 0);
});

test('a report without new bits does not shorten the time in which the next bits arrived', () => {
  const pieces: ThroughputPiece[] = [];
  const meter = new ObservationMeter((one) => one.kind === 'throughput' && pieces.push(one));
  const download = new SegmentDownload(0, { link: new LinkWatch(0, { meter, knownBps: () => 0 }) });
  download.responded(0.1, undefined);
  for (const [at, totalBits] of [[0.2, 1e6] as const, [0.5, 1e6] as const, [0.6, 5e6] as const]) {
    download.received(at, { totalBits });
  }
  download.ended(0.6, 'whole');
  meter.advance(2);
  expect(pieces.map(({ bits }) => Math.round(bits / 1e6))).toEqual([1, 1, 1, 1, 1]);
});
