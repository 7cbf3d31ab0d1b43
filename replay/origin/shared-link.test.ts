import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PiecewisePath } from '../../abr/index.ts';
import { SharedLink } from './shared-link.ts';

const pathArbitrary = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom(0, 1e5, 3e6, 2e7)), { minLength: 1, maxLength: 8 })
  .filter((steps) => steps.some(([, rate]) => rate > 0))
  .map((steps) => {
    let end = 0;
    return new PiecewisePath({
      stepEndsSeconds: steps.map(([tenths]) => (end += tenths / 10)),
      ratesBps: steps.map(([, rate]) => rate),
      tail: 'repeat',
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
          const link = new SharedLink(path);
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

  test('transfers together get exactly the capacity of the link while one of them is active', () => {
    fc.assert(
      fc.property(
        pathArbitrary,
        fc.array(fc.tuple(fc.integer({ min: 1, max: 3e6 }), fc.nat(40)), { minLength: 1, maxLength: 6 }),
        (path, sizes) => {
          const link = new SharedLink(path);
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
    const link = new SharedLink(new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [8e6] }));
    const stays = link.add(8e6, 0);
    const leaves = link.add(8e6, 0);
    link.advanceTo(0.5);
    expect([stays.deliveredBits, leaves.deliveredBits]).toEqual([2e6, 2e6]);
    link.remove(leaves);
    expect(link.nextEventSeconds()).toBeCloseTo(0.5 + 6e6 / 8e6, 9);
    link.advanceTo(10);
    expect(stays.endedAtSeconds).toBeCloseTo(1.25, 9);
    expect(leaves.deliveredBits).toBe(2e6);
  });

  test('on a link without capacity a transfer never ends', () => {
    const link = new SharedLink(new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [0] }));
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
