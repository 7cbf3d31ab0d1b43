import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PiecewisePath } from '../../abr/index.ts';
import { ChunkedFlight } from './chunked-flight.ts';
import { type Sender, SharedLink } from './shared-link.ts';

/** A part of a transfer, from a second on and up to a number of bits. */
interface Release {
  fromSeconds: number;
  untilBits: number;
}

/** Transfers on one link. */
class Transfers {
  private readonly link = new SharedLink();
  private readonly active = new Map<object, Sender>();

  constructor(private readonly path: PiecewisePath) {}

  add(sizeBits: number, startsAtSeconds: number, releases?: Release[]) {
    const { link, active } = this;
    const parts = releases ?? [{ fromSeconds: 0, untilBits: sizeBits }];
    const access = link.access();
    const flight = new ChunkedFlight(access.shareOf(this.path), {
      ...{ requestedAtSeconds: startsAtSeconds, rttSeconds: 0, sizeBits },
      chunks: parts.map(({ fromSeconds, untilBits }, i) => {
        return { existsAtSeconds: fromSeconds, bits: untilBits - (parts[i - 1]?.untilBits ?? 0) };
      }),
    });
    access.begin(flight);
    let removedAtSeconds = Number.POSITIVE_INFINITY;
    const ended = (seconds: number) => (seconds <= link.nowSeconds ? [seconds] : []);
    const transfer = {
      sizeBits,
      startsAtSeconds,
      get deliveredBits() {
        return flight.deliveredBits(Math.min(link.nowSeconds, removedAtSeconds));
      },
      get endedAtSeconds() {
        return ended(flight.endsAtSeconds)[0];
      },
      get releaseEndsSeconds() {
        return flight.transfers.flatMap(({ endSeconds }) => ended(endSeconds));
      },
      remove() {
        removedAtSeconds = link.nowSeconds;
        access.end(removedAtSeconds);
      },
    };
    active.set(transfer, access);
    return transfer;
  }

  get nowSeconds(): number {
    return this.link.nowSeconds;
  }

  advanceTo(seconds: number): void {
    this.link.advanceTo(seconds);
  }

  nextEventSeconds(): number {
    return this.link.nextChangeSeconds();
  }

  get isIdle(): boolean {
    return [...this.active.values()].every(({ flightEndsAtSeconds }) => flightEndsAtSeconds <= this.nowSeconds);
  }
}

const pathArbitrary = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom(0, 1e5, 3e6, 2e7)), { minLength: 1, maxLength: 8 })
  .filter((steps) => steps.some(([, rate]) => rate > 0))
  .map((steps) => {
    let end = 0;
    return new PiecewisePath({
      stepEndsSeconds: steps.map(([tenths]) => (end += tenths / 10)),
      ratesBps: steps.map(([, rate]) => rate),
    });
  });

describe('SharedLink', () => {
  test('a single transfer takes the downloadSeconds of the path, for any steps of time', () => {
    fc.assert(
      fc.property(
        pathArbitrary,
        fc.integer({ min: 1, max: 1e7 }),
        fc.nat(50),
        fc.integer({ min: 10, max: 2000 }),
        (path, bits, start, stepMs) => {
          const startSeconds = start / 10;
          const expected = startSeconds + path.downloadSeconds(startSeconds, bits);
          const link = new Transfers(path);
          const transfer = link.add(bits, startSeconds);
          let largestError = 0;
          while (link.nowSeconds < expected) {
            link.advanceTo(link.nowSeconds + stepMs / 1000);
            const now = Math.max(startSeconds, link.nowSeconds);
            const due = Math.min(bits, path.cumulativeBits(now) - path.cumulativeBits(startSeconds));
            largestError = Math.max(largestError, Math.abs(transfer.deliveredBits - due));
          }
          expect(largestError).toBeLessThan(1);
          expect(transfer.endedAtSeconds).toBeCloseTo(expected, 6);
          expect(link.isIdle).toBe(true);
        },
      ),
      { seed: 1, numRuns: 300 },
    );
  });

  test('a part of a transfer is sent when it exists and the parts before it are delivered', () => {
    fc.assert(
      fc.property(
        pathArbitrary,
        fc.array(fc.tuple(fc.integer({ min: 1, max: 2e6 }), fc.nat(20)), { minLength: 1, maxLength: 8 }),
        fc.nat(40),
        fc.integer({ min: 10, max: 2000 }),
        (path, parts, start, stepMs) => {
          const startSeconds = start / 10;
          const expected: number[] = [];
          const releases: Release[] = [];
          let freeAtSeconds = startSeconds;
          let [fromSeconds, untilBits] = [0, 0];
          for (const [bits, tenths] of parts) {
            fromSeconds += tenths / 10;
            untilBits += bits;
            releases.push({ fromSeconds, untilBits });
            const begins = Math.max(fromSeconds, freeAtSeconds);
            freeAtSeconds = begins + path.downloadSeconds(begins, bits);
            expected.push(freeAtSeconds);
          }
          const link = new Transfers(path);
          const transfer = link.add(untilBits, startSeconds, releases);
          while (!link.isIdle) {
            link.advanceTo(link.nowSeconds + stepMs / 1000);
            const existing = releases.filter((release) => release.fromSeconds <= link.nowSeconds);
            expect(transfer.deliveredBits).toBeLessThanOrEqual(existing.at(-1)?.untilBits ?? 0);
          }
          transfer.releaseEndsSeconds.forEach((end, i) => {
            expect(end).toBeCloseTo(expected[i]!, 5);
          });
          expect(transfer.releaseEndsSeconds).toHaveLength(parts.length);
          expect(transfer.endedAtSeconds).toBe(transfer.releaseEndsSeconds.at(-1));
        },
      ),
      { seed: 1, numRuns: 300 },
    );
  });

  test('a transfer that waits for its next part leaves the link to others', () => {
    const link = new Transfers(new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [8e6] }));
    const live = link.add(4e6, 0, [
      { fromSeconds: 0, untilBits: 2e6 },
      { fromSeconds: 1, untilBits: 4e6 },
    ]);
    const other = link.add(16e6, 0);
    link.advanceTo(1);
    expect([live.deliveredBits, other.deliveredBits]).toEqual([2e6, 6e6]);
    link.advanceTo(10);
    expect([live.endedAtSeconds, other.endedAtSeconds]).toEqual([expect.closeTo(1.5, 9), expect.closeTo(2.5, 9)]);
  });

  test('transfers together get exactly the capacity of the link while one of them is active', () => {
    fc.assert(
      fc.property(
        pathArbitrary,
        fc.array(fc.tuple(fc.integer({ min: 1, max: 3e6 }), fc.nat(40)), { minLength: 1, maxLength: 6 }),
        (path, sizes) => {
          const link = new Transfers(path);
          const transfers = sizes.map(([bits, tenths]) => link.add(bits, tenths / 10));
          const first = Math.min(...transfers.map(({ startsAtSeconds }) => startsAtSeconds));
          link.advanceTo(first);
          while (!link.isIdle) {
            const before = link.nowSeconds;
            const bitsBefore = transfers.reduce((sum, { deliveredBits }) => sum + deliveredBits, 0);
            const busy = transfers.some((t) => t.startsAtSeconds <= before && t.endedAtSeconds === undefined);
            link.advanceTo(link.nextEventSeconds());
            const delivered = transfers.reduce((sum, { deliveredBits }) => sum + deliveredBits, 0) - bitsBefore;
            const due = path.cumulativeBits(link.nowSeconds) - path.cumulativeBits(before);
            if (busy) expect(Math.abs(delivered - due)).toBeLessThan(1);
            else expect(delivered).toBe(0);
          }
          expect(transfers.every((t) => t.deliveredBits === t.sizeBits)).toBe(true);
        },
      ),
      { seed: 1, numRuns: 300 },
    );
  });

  test('two transfers get half each; when one is removed the other gets all', () => {
    const link = new Transfers(new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [8e6] }));
    const stays = link.add(8e6, 0);
    const leaves = link.add(8e6, 0);
    link.advanceTo(0.5);
    expect([stays.deliveredBits, leaves.deliveredBits]).toEqual([2e6, 2e6]);
    leaves.remove();
    expect(link.nextEventSeconds()).toBeCloseTo(0.5 + 6e6 / 8e6, 9);
    link.advanceTo(10);
    expect(stays.endedAtSeconds).toBeCloseTo(1.25, 9);
    expect(leaves.deliveredBits).toBe(2e6);
  });

  test('on a link without capacity a transfer never ends', () => {
    const link = new Transfers(new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [0] }));
    const transfer = link.add(8, 0.5);
    expect(link.nextEventSeconds()).toBe(0.5);
    link.advanceTo(100);
    expect([transfer.deliveredBits, transfer.endedAtSeconds, link.nextEventSeconds()]).toEqual([
      0,
      undefined,
      Number.POSITIVE_INFINITY,
    ]);
  });
});
