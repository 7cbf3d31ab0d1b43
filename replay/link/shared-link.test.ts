import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PiecewisePath } from '../../abr/index.ts';
import { forAll, whole } from '../../abr/property.fixture.ts';
import { runningSums } from '../../abr/random-states.fixture.ts';
import { type Chunk, ChunkedFlight, type ChunkedRequest } from './chunked-flight.ts';
import { SharedLink } from './shared-link.ts';

/** Sends flights on one link, by default without a round trip. */
function sharedLink(path: PiecewisePath) {
  const link = new SharedLink();
  const send = (sizeBits: number, requestedAtSeconds: number, more: Partial<ChunkedRequest> = {}) => {
    const access = link.access();
    const chunks = [{ existsAtSeconds: 0, bits: sizeBits }];
    const request = { requestedAtSeconds, rttSeconds: 0, sizeBits, chunks, ...more };
    const flight = new ChunkedFlight(access.shareOf(path), request);
    access.begin(flight);
    return flight;
  };
  return { link, send };
}

const pathArbitrary = fc
  .array(fc.tuple(whole(1, 30), fc.constantFrom(0, 1e5, 3e6, 2e7)), { minLength: 1, maxLength: 8 })
  .filter((steps) => steps.some(([, rate]) => rate > 0))
  .map((steps) => {
    const stepEndsSeconds = runningSums(steps.map(([tenths]) => tenths / 10));
    return new PiecewisePath({ stepEndsSeconds, ratesBps: steps.map(([, rate]) => rate) });
  });

const RUNS = { seed: 1, numRuns: 300 };
const anyStepMs = whole(10, 2000);
const transfers = (mostBits: number, mostTenths: number, maxLength: number) =>
  fc.array(fc.tuple(whole(1, mostBits), fc.nat(mostTenths)), { minLength: 1, maxLength });

test('alone, each part of a transfer is sent when it exists and the parts before it are delivered', () => {
  const any = { parts: transfers(2e6, 20, 8), start: fc.nat(40), rttSeconds: fc.constantFrom(0, 0.1) };
  forAll([pathArbitrary, fc.record(any), anyStepMs], RUNS, (path, { parts, start, rttSeconds }, stepMs) => {
    const startSeconds = start / 10;
    const begins: number[] = [];
    const ends: number[] = [];
    const chunks: Chunk[] = [];
    let existsAtSeconds = 0;
    for (const [bits, tenths] of parts) {
      existsAtSeconds += tenths / 10;
      chunks.push({ existsAtSeconds, bits });
      const begin = Math.max(existsAtSeconds, ends.at(-1) ?? startSeconds + rttSeconds);
      begins.push(begin);
      ends.push(begin + path.downloadSeconds(begin, bits));
    }
    const dueBits = (seconds: number) =>
      chunks.reduce((sum, { bits }, i) => {
        const since = path.cumulativeBits(seconds) - path.cumulativeBits(begins[i]!);
        return sum + Math.min(bits, Math.max(0, since));
      }, 0);
    const { link, send } = sharedLink(path);
    const sizeBits = chunks.reduce((sum, { bits }) => sum + bits, 0);
    const flight = send(sizeBits, startSeconds, { chunks, rttSeconds, responseSeconds: () => 0.01 });
    let [delivered, received] = [0, 0];
    while (link.nowSeconds < flight.endsAtSeconds) {
      link.advanceTo(link.nowSeconds + stepMs / 1000);
      const { nowSeconds } = link;
      delivered = Math.max(delivered, Math.abs(flight.deliveredBits(nowSeconds) - dueBits(nowSeconds)));
      received = Math.max(received, Math.abs(flight.receivedBits(nowSeconds) - dueBits(nowSeconds)));
    }
    expect(delivered).toBeLessThan(1);
    // The page has the first byte as a whole.
    expect(received).toBeLessThan(8 + 1);
    const [starts, stops] = [begins, ends].map((all) => all.map((seconds) => expect.closeTo(seconds, 5)));
    expect(flight.transfers.map(({ startSeconds }) => startSeconds)).toEqual(starts);
    expect(flight.transfers.map(({ endSeconds }) => endSeconds)).toEqual(stops);
    expect(flight.endsAtSeconds).toBeCloseTo(ends.at(-1)! + 0.01, 5);
  });
});

test('transfers together get exactly the capacity of the link while one of them is active', () => {
  forAll([pathArbitrary, transfers(3e6, 40, 6)], RUNS, (path, sizes) => {
    const { link, send } = sharedLink(path);
    const flights = sizes.map(([bits, tenths]) => send(bits, tenths / 10));
    const deliveredBits = () => flights.reduce((sum, flight) => sum + flight.deliveredBits(link.nowSeconds), 0);
    link.advanceTo(Math.min(...flights.map(({ requestedAtSeconds }) => requestedAtSeconds)));
    while (flights.some(({ endsAtSeconds }) => endsAtSeconds > link.nowSeconds)) {
      const before = link.nowSeconds;
      const bitsBefore = deliveredBits();
      const busy = flights.some((one) => one.requestedAtSeconds <= before && one.endsAtSeconds > before);
      link.advanceTo(link.nextChangeSeconds());
      const delivered = deliveredBits() - bitsBefore;
      const due = path.cumulativeBits(link.nowSeconds) - path.cumulativeBits(before);
      if (busy) expect(Math.abs(delivered - due)).toBeLessThan(1);
      else expect(delivered).toBe(0);
    }
    expect(flights.every((one) => one.deliveredBits(link.nowSeconds) === one.sizeBits)).toBe(true);
  });
});

test('on a link without capacity a transfer never ends', () => {
  const { link, send } = sharedLink(new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [0] }));
  const flight = send(8, 0.5);
  expect(link.nextChangeSeconds()).toBe(0.5);
  link.advanceTo(100);
  const { POSITIVE_INFINITY: never } = Number;
  expect([flight.deliveredBits(100), flight.endsAtSeconds, link.nextChangeSeconds()]).toEqual([0, never, never]);
});
