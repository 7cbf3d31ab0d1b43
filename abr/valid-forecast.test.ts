import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createController } from './algorithms.ts';
import { ConstantPath } from './capacity-path.ts';
import { InputError } from './errors.ts';
import type { QuantileForecast } from './forecast.ts';
import { Futures } from './mpc-l/futures.ts';
import { LinkFutures } from './mpc-l/live/link-futures.ts';
import { DRAWN_SECONDS } from './mpc-l/live/link-paths.ts';
import { pathsOf, stateOf, validOrNone } from './random-states.fixture.ts';
import { validForecast } from './valid-forecast.ts';

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
  const state = stateOf([1e6, 4e6, 8e6], { utcMs: UTC_MS });
  const controllers = [createController('mpc-l:no-rate'), createController('mpc-l')];
  let valid = 0;
  fc.assert(
    fc.property(FORECAST, within(0, 2 * DRAWN_SECONDS), (forecast, fromSeconds) => {
      // Only the last step may be without a rate above 0.
      if (validOrNone(forecast) === undefined) return;
      valid++;
      for (const controller of controllers) {
        const { representation, reason } = controller.decide(state, validForecast(forecast as QuantileForecast));
        expect(state.ladderBps[representation]).toBeDefined();
        expect(reason).not.toMatch(/NaN|undefined|Infinity/);
      }
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

const GOOD_DIP = {
  ...{ timingSeconds: 0.1, depth: 0.8, levels: [0.1, 0.5, 0.9], seconds: [0.1, 0.2, 0.5] },
  collapse: { probability: 0.1, depth: 0.6, seconds: 1.5 },
};
const GOOD_FLUCTUATION = { levels: [0.1, 0.5, 0.9], ratios: [0.8, 1, 1.2], correlation: 0.4 };
const GOOD = {
  issuedAtMs: 1e5,
  source: 'test',
  stepEndsSeconds: [1, 4],
  levels: [0.1, 0.5, 0.9],
  quantilesBps: [
    [0, 0, 0],
    [1e6, 2e6, 3e6],
  ],
  rankCorrelation: 1,
  handovers: [{ atMs: 0, confidence: 1, dip: GOOD_DIP }],
  fluctuation: GOOD_FLUCTUATION,
  latency: { stepEndsSeconds: [15], levels: [0.5], quantilesMs: [[40]] },
};
const handoverOf = (changes: object) => ({ handovers: [{ ...GOOD.handovers[0], ...changes }] });
const dipOf = (changes: object) => handoverOf({ dip: { ...GOOD_DIP, ...changes } });
const fluctuationOf = (changes: object) => ({ fluctuation: { ...GOOD_FLUCTUATION, ...changes } });
const pathOf = (changes: object) => ({
  kind: 'paths',
  paths: [{ weight: 1, path: new ConstantPath(1e6), ...changes }],
});

test('accepts quantiles and paths, and returns them', () => {
  const paths = pathsOf([new ConstantPath(0), new ConstantPath(1e6), new ConstantPath(2e6)]);
  const named = { ...GOOD, kind: 'quantiles' };
  for (const forecast of [GOOD, named, paths]) expect(validForecast(forecast)).toBe(forecast);
});

test.each<[field: string, changes: object]>([
  ['issuedAtMs', { issuedAtMs: Number.NaN }],
  ['source', { source: undefined }],
  ['kind', { kind: 'point' }],
  ['handovers', { handovers: undefined }],
  ['handovers[0].atMs', handoverOf({ atMs: Number.NaN })],
  ['handovers[0].confidence', handoverOf({ confidence: 1.1 })],
  ['handovers[0].dip', handoverOf({ dip: null })],
  ['handovers[0].dip.timingSeconds', handoverOf({ dip: {} })],
  ['handovers[0].dip.timingSeconds', dipOf({ timingSeconds: 16 })],
  ['handovers[0].dip.depth', dipOf({ depth: 2 })],
  ['handovers[0].dip.seconds[0]', dipOf({ seconds: [-3, -2, -1] })],
  ['handovers[0].dip.seconds[2]', dipOf({ seconds: [1, 2, 150] })],
  ['handovers[0].dip.levels[2]', dipOf({ levels: [0.1, 0.5, 1] })],
  ['handovers[0].dip.collapse', dipOf({ collapse: undefined })],
  ['handovers[0].dip.collapse.probability', dipOf({ collapse: { ...GOOD_DIP.collapse, probability: 2 } })],
  ['handovers[0].dip.collapse.depth', dipOf({ collapse: { ...GOOD_DIP.collapse, depth: -1 } })],
  ['handovers[0].dip.collapse.seconds', dipOf({ collapse: { ...GOOD_DIP.collapse, seconds: Number.NaN } })],
  ['stepEndsSeconds', { stepEndsSeconds: [], quantilesBps: [] }],
  ['stepEndsSeconds[0]', { stepEndsSeconds: [0, 1] }],
  ['stepEndsSeconds[1]', { stepEndsSeconds: [4, 4] }],
  ['stepEndsSeconds[1]', { stepEndsSeconds: [4, 3600] }],
  ['levels', { levels: [] }],
  ['levels[0]', { levels: [Number.NaN, 0.5, 0.9] }],
  ['levels[2]', { levels: [0.1, 0.5, 1] }],
  ['quantilesBps', { quantilesBps: [[1, 2, 3]] }],
  ['quantilesBps[0]', { quantilesBps: [[1, 2], GOOD.quantilesBps[1]] }],
  ['quantilesBps[0][0]', { quantilesBps: [[-1, 2, 3], GOOD.quantilesBps[1]] }],
  ['quantilesBps[0][1]', { quantilesBps: [[2, 1, 3], GOOD.quantilesBps[1]] }],
  ['quantilesBps[0][2]', { quantilesBps: [[1, 2, Number.POSITIVE_INFINITY], GOOD.quantilesBps[1]] }],
  ['quantilesBps[0][2]', { quantilesBps: [[1, 2, 1e16], GOOD.quantilesBps[1]] }],
  ['quantilesBps[1]', { quantilesBps: [GOOD.quantilesBps[1], [0, 0, 0]] }],
  ['rankCorrelation', { rankCorrelation: 1.1 }],
  ['fluctuation', { fluctuation: null }],
  ['fluctuation.levels', { fluctuation: {} }],
  ['fluctuation.levels[0]', fluctuationOf({ levels: [0, 0.5, 0.9] })],
  ['fluctuation.ratios', fluctuationOf({ ratios: [1] })],
  ['fluctuation.ratios[1]', fluctuationOf({ ratios: [1, Number.NaN, 1] })],
  ['fluctuation.ratios[0]', fluctuationOf({ ratios: [-1, 1, 2] })],
  ['fluctuation.ratios[2]', fluctuationOf({ ratios: [0, 1, 0.9] })],
  ['fluctuation.ratios[2]', fluctuationOf({ ratios: [0, 1, 2000] })],
  ['fluctuation.correlation', fluctuationOf({ correlation: 1 })],
  ['latency.quantilesMs[0][0]', { latency: { ...GOOD.latency, quantilesMs: [[-1]] } }],
  ['paths', { kind: 'paths', paths: [] }],
  ['paths', pathOf({ weight: 0.9 })],
  ['paths[0].weight', pathOf({ weight: Number.NaN })],
  ['paths[0].path', pathOf({ path: null })],
  ['paths[0].path', pathOf({ path: new ConstantPath(Number.NaN) })],
  ['paths[0].path', pathOf({ path: new ConstantPath(Number.POSITIVE_INFINITY) })],
  ['paths[0].path', pathOf({ path: new ConstantPath(-1e6) })],
])('refuses %s in %j', (field, changes) => {
  expect(() => validForecast({ ...GOOD, ...changes })).toThrow(expect.objectContaining({ name: 'InputError', field }));
});

test('refuses what is no object, or cannot be read', () => {
  const throwing = {
    get kind() {
      throw new Error('gone');
    },
  };
  for (const value of [null, undefined, 5, [], throwing]) expect(() => validForecast(value)).toThrow(InputError);
});
