import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PiecewisePath } from '../../abr/index.ts';
import { forAll, whole } from '../../abr/property.fixture.ts';
import { runningSums } from '../../abr/random-states.fixture.ts';
import { type Chunk, ChunkedFlight } from './chunked-flight.ts';
import { SharedLink } from './shared-link.ts';

/** Sends flights without a round trip on one link. */
function sharedLink(path: PiecewisePath) {
  const link = new SharedLink();
  const send = (sizeBits: number, requestedAtSeconds: number, chunks = [{ existsAtSeconds: 0, bits: sizeBits }]) => {
    const access = link.access();
    const request = { requestedAtSeconds, rttSeconds: 0, sizeBits, chunks };
    const flight = new ChunkedFlight(access.shareOf(path), request);
    access.begin(flight);
    return { access, flight };
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

test('a single transfer takes the downloadSeconds of the path, for any steps of time', () => {
  forAll([pathArbitrary, whole(1, 1e7), fc.nat(50), anyStepMs], RUNS, (path, bits, start, stepMs) => {
    const startSeconds = start / 10;
    const expected = startSeconds + path.downloadSeconds(startSeconds, bits);
    const { link, send } = sharedLink(path);
    const { flight } = send(bits, startSeconds);
    let largestError = 0;
    while (link.nowSeconds < expected) {
      link.advanceTo(link.nowSeconds + stepMs / 1000);
      const now = Math.max(startSeconds, link.nowSeconds);
      const due = Math.min(bits, path.cumulativeBits(now) - path.cumulativeBits(startSeconds));
      largestError = Math.max(largestError, Math.abs(flight.deliveredBits(link.nowSeconds) - due));
    }
    expect(largestError).toBeLessThan(1);
    expect(flight.endsAtSeconds).toBeCloseTo(expected, 6);
  });
});

test('a part of a transfer is sent when it exists and the parts before it are delivered', () => {
  forAll([pathArbitrary, transfers(2e6, 20, 8), fc.nat(40), anyStepMs], RUNS, (path, parts, start, stepMs) => {
    const startSeconds = start / 10;
    const expected: number[] = [];
    const chunks: Chunk[] = [];
    let freeAtSeconds = startSeconds;
    let existsAtSeconds = 0;
    for (const [bits, tenths] of parts) {
      existsAtSeconds += tenths / 10;
      chunks.push({ existsAtSeconds, bits });
      const begins = Math.max(existsAtSeconds, freeAtSeconds);
      freeAtSeconds = begins + path.downloadSeconds(begins, bits);
      expected.push(freeAtSeconds);
    }
    const { link, send } = sharedLink(path);
    const bitsOf = (some: readonly Chunk[]) => some.reduce((sum, { bits }) => sum + bits, 0);
    const { flight } = send(bitsOf(chunks), startSeconds, chunks);
    while (link.nowSeconds < flight.endsAtSeconds) {
      link.advanceTo(link.nowSeconds + stepMs / 1000);
      const existing = chunks.filter((chunk) => chunk.existsAtSeconds <= link.nowSeconds);
      expect(flight.deliveredBits(link.nowSeconds)).toBeLessThanOrEqual(bitsOf(existing));
    }
    const ends = flight.transfers.map(({ endSeconds }) => endSeconds);
    expect(ends).toEqual(expected.map((end) => expect.closeTo(end, 5)));
    expect(flight.endsAtSeconds).toBe(ends.at(-1));
  });
});

test('a transfer that waits for its next part leaves the link to others', () => {
  const { link, send } = sharedLink(new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [8e6] }));
  const chunks = [0, 1].map((existsAtSeconds) => ({ existsAtSeconds, bits: 2e6 }));
  const flights = [send(4e6, 0, chunks), send(16e6, 0)].map(({ flight }) => flight);
  link.advanceTo(1);
  expect(flights.map((flight) => flight.deliveredBits(1))).toEqual([2e6, 6e6]);
  link.advanceTo(10);
  expect(flights.map(({ endsAtSeconds }) => endsAtSeconds)).toEqual([expect.closeTo(1.5, 9), expect.closeTo(2.5, 9)]);
});

test('transfers together get exactly the capacity of the link while one of them is active', () => {
  forAll([pathArbitrary, transfers(3e6, 40, 6)], RUNS, (path, sizes) => {
    const { link, send } = sharedLink(path);
    const flights = sizes.map(([bits, tenths]) => send(bits, tenths / 10).flight);
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
  const { flight } = send(8, 0.5);
  expect(link.nextChangeSeconds()).toBe(0.5);
  link.advanceTo(100);
  const { POSITIVE_INFINITY: never } = Number;
  expect([flight.deliveredBits(100), flight.endsAtSeconds, link.nextChangeSeconds()]).toEqual([0, never, never]);
});
