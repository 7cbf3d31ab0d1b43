import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PlayerState } from './controller.ts';
import { Futures } from './mpc-l/futures.ts';
import { LinkFutures } from './mpc-l/live/link-futures.ts';
import { DRAWN_SECONDS } from './mpc-l/live/link-paths.ts';
import { validOrNone } from './random-states.fixture.ts';

const NOW_SECONDS = 100;
const UTC_MS = 1_000_000;

const within = (min: number, max: number) =>
  fc.oneof(fc.double({ min, max, noNaN: true }), fc.constantFrom(min, max, (min + max) / 2));
const ascending = (of: fc.Arbitrary<number>, count: number) =>
  fc.array(of, { minLength: count, maxLength: count }).map((values) => values.sort((a, b) => a - b));
const LEVELS = fc
  .uniqueArray(fc.double({ min: 0, minExcluded: true, max: 1, maxExcluded: true, noNaN: true }), {
    minLength: 1,
    maxLength: 9,
  })
  .map((levels) => levels.sort((a, b) => a - b));
/** Levels with as many values. */
const quantiles = (min: number, max: number) =>
  LEVELS.chain((levels) =>
    fc.record({ levels: fc.constant(levels), values: ascending(within(min, max), levels.length) }),
  );

const FLUCTUATION = fc
  .tuple(quantiles(0, 1000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))
  .map(([{ levels, values }, correlation]) => ({ levels, ratios: values, correlation }));
const DIP = fc
  .tuple(quantiles(0, 15), within(0, 15), within(0, 1), within(0, 1), within(0, 1), within(0, 15))
  .map(([{ levels, values }, timingSeconds, depth, probability, ofCollapse, seconds]) => ({
    ...{ timingSeconds, depth, levels, seconds: values },
    collapse: { probability, depth: ofCollapse, seconds },
  }));
const FORECAST = fc.tuple(LEVELS, fc.integer({ min: 1, max: 20 })).chain(([levels, steps]) =>
  fc.record(
    {
      issuedAtMs: within((NOW_SECONDS - 15) * 1000, (NOW_SECONDS + 1) * 1000),
      source: fc.constant('test'),
      stepEndsSeconds: fc.constant(Array.from({ length: steps }, (_, step) => 0.3 * (step + 1))),
      levels: fc.constant(levels),
      quantilesBps: fc.array(ascending(fc.oneof(within(0, 1e8), within(0, 1e15)), levels.length), {
        minLength: steps,
        maxLength: steps,
      }),
      rankCorrelation: within(0, 1),
      handovers: fc.array(
        fc.record(
          { atMs: within(UTC_MS - 20_000, UTC_MS + 20_000), confidence: within(0, 1), dip: DIP },
          { requiredKeys: ['atMs', 'confidence'] },
        ),
        { maxLength: 3 },
      ),
      fluctuation: FLUCTUATION,
    },
    {
      requiredKeys: [
        ...(['issuedAtMs', 'source', 'stepEndsSeconds', 'levels', 'quantilesBps'] as const),
        ...(['rankCorrelation', 'handovers'] as const),
      ],
    },
  ),
);

test('law: a valid forecast gives futures of the link whose bits are finite and grow', () => {
  const futures = new Futures(8, 8, 1);
  const link = new LinkFutures(8, 1);
  const state = { nowSeconds: NOW_SECONDS, utcMs: UTC_MS } as PlayerState;
  let valid = 0;
  fc.assert(
    fc.property(FORECAST, within(0, 2 * DRAWN_SECONDS), (forecast, fromSeconds) => {
      // Only the last step may be without a rate above 0.
      if (validOrNone(forecast) === undefined) return;
      valid++;
      futures.draw(forecast, NOW_SECONDS - forecast.issuedAtMs / 1000);
      link.draw(state, forecast);
      const wrong: number[][] = [];
      for (let future = 0; future < link.paths.count; future++) {
        let before = 0;
        for (let seconds = 0.05; seconds < DRAWN_SECONDS; seconds += 0.5) {
          const bits = link.paths.bitsUntil(future, seconds);
          if (!(bits >= before && bits < Number.POSITIVE_INFINITY)) wrong.push([future, seconds, bits]);
          before = bits;
        }
        link.paths.begin();
        const arrives = link.paths.arrivalSeconds(future, fromSeconds, 1e6);
        if (!(arrives >= fromSeconds - 1e-6 && arrives < Number.POSITIVE_INFINITY)) wrong.push([future, arrives]);
      }
      expect(wrong).toEqual([]);
    }),
    { seed: 7, numRuns: 500 },
  );
  expect(valid).toBeGreaterThan(400);
});
