import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from './errors.ts';
import type { QuantileForecast } from './forecast.ts';
import { ConstantPath } from './mpc/capacity-path.ts';
import { Futures } from './mpc-l/futures.ts';
import { LinkFutures } from './mpc-l/live/link-futures.ts';
import { DRAWN_SECONDS } from './mpc-l/live/link-paths.ts';
import { createLiveMpcL } from './mpc-l/live/live-mpc-l.ts';
import { between, forAll, whole } from './property.fixture.ts';
import { alongPath, DIP, FLUCTUATION, stateOf } from './random-states.fixture.ts';
import { validForecast } from './valid-forecast.ts';

const NOW_SECONDS = 100;
const UTC_MS = 1_000_000;

const within = (min: number, max: number) => fc.oneof(between(min, max), fc.constantFrom(min, max, (min + max) / 2));
const exactly = (count: number) => ({ minLength: count, maxLength: count });
const ascending = (of: fc.Arbitrary<number>, count: number) =>
  fc.array(of, exactly(count)).map((values) => values.sort((a, b) => a - b));
const LEVEL = fc.double({ min: 0, minExcluded: true, max: 1, maxExcluded: true, noNaN: true });
const LEVELS = fc.uniqueArray(LEVEL, { minLength: 1, maxLength: 9 }).map((levels) => levels.sort((a, b) => a - b));
/** Levels, a value from 0 to `max` for each, and other fields. */
function quantiles(name: string, max: number, others: Record<string, fc.Arbitrary<unknown>>) {
  const own = LEVELS.chain((levels) =>
    ascending(within(0, max), levels.length).map((values) => ({ levels, [name]: values })),
  );
  return fc.tuple(own, fc.record(others)).map(([one, other]) => ({ ...one, ...other }));
}

const BELOW_1 = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const ANY_FLUCTUATION = quantiles('ratios', 1000, { correlation: BELOW_1 });
const COLLAPSE = fc.record({ probability: within(0, 1), depth: within(0, 1), seconds: within(0, 15) });
const ANY_DIP = quantiles('seconds', 15, { timingSeconds: within(0, 15), depth: within(0, 1), collapse: COLLAPSE });
const ANY_HANDOVER = fc.record({
  atMs: within(UTC_MS - 20_000, UTC_MS + 20_000),
  confidence: within(0, 1),
  dip: fc.option(ANY_DIP, { nil: undefined }),
});
const FORECAST = fc.tuple(LEVELS, whole(1, 20)).chain(([levels, steps]) =>
  fc.record({
    issuedAtMs: within((NOW_SECONDS - 15) * 1000, (NOW_SECONDS + 1) * 1000),
    source: fc.constant('test'),
    stepEndsSeconds: fc.constant(Array.from({ length: steps }, (_, step) => 0.3 * (step + 1))),
    levels: fc.constant(levels),
    quantilesBps: fc.array(ascending(fc.oneof(within(0, 1e8), within(0, 1e15)), levels.length), exactly(steps)),
    rankCorrelation: within(0, 1),
    handovers: fc.array(ANY_HANDOVER, { maxLength: 3 }),
    fluctuation: fc.option(ANY_FLUCTUATION, { nil: undefined }),
  }),
);

test('law: a valid forecast gives futures of the link whose bits are finite and grow', () => {
  const futures = new Futures(8, 1);
  const link = new LinkFutures(8, 1);
  const state = stateOf([1e6, 4e6, 8e6], { utcMs: UTC_MS });
  const controller = createLiveMpcL();
  let valid = 0;
  forAll([FORECAST, within(0, 2 * DRAWN_SECONDS)], { seed: 7, numRuns: 500 }, (any, fromSeconds) => {
    // Only the last step may be without a rate above 0.
    if (!(any.quantilesBps.at(-1)!.at(-1)! > 0)) return;
    valid++;
    const forecast = validForecast(any as unknown as QuantileForecast);
    const { representation, reason } = controller.decide(state, forecast);
    expect(state.ladderBps[representation]).toBeDefined();
    expect(reason).not.toMatch(/NaN|undefined|Infinity/);
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
      const arrives = link.paths.arrivalSeconds(future, fromSeconds, 1e6);
      if (!(arrives >= fromSeconds - 1e-6 && arrives < Number.POSITIVE_INFINITY)) wrong.push([future, arrives]);
    }
    expect(wrong).toEqual([]);
  });
  expect(valid).toBeGreaterThan(400);
});

const LAST_ROW = [1e6, 2e6, 3e6];
const GOOD = {
  issuedAtMs: 1e5,
  source: 'test',
  stepEndsSeconds: [1, 4],
  levels: [0.1, 0.5, 0.9],
  quantilesBps: [[0, 0, 0], LAST_ROW],
  rankCorrelation: 1,
  handovers: [{ atMs: 0, confidence: 1, dip: DIP }],
  fluctuation: FLUCTUATION,
};
const handoverOf = (changes: object) => ({ handovers: [{ ...GOOD.handovers[0], ...changes }] });
const dipOf = (changes: object) => handoverOf({ dip: { ...DIP, ...changes } });
const collapseOf = (changes: object) => dipOf({ collapse: { ...DIP.collapse, ...changes } });
const firstRow = (...row: number[]) => ({ quantilesBps: [row, LAST_ROW] });
const fluctuationOf = (changes: object) => ({ fluctuation: { ...FLUCTUATION, ...changes } });

test('accepts quantiles and a path, and returns them', () => {
  const { fluctuation: _, ...plain } = { ...GOOD, kind: 'quantiles', handovers: [] };
  const path = alongPath(new ConstantPath(1e6));
  for (const forecast of [GOOD, plain, path]) expect(validForecast(forecast)).toBe(forecast);
});

test.each<[message: string, changes: object]>([
  ['issuedAtMs: expected a finite number, got NaN', { issuedAtMs: Number.NaN }],
  ['source: expected a string, got undefined', { source: undefined }],
  ["kind: expected 'quantiles' or 'path', got \"point\"", { kind: 'point' }],
  ['handovers: expected an array of 0 to 1024, got undefined', { handovers: undefined }],
  ['handovers[0].atMs: expected a finite number', handoverOf({ atMs: Number.NaN })],
  ['handovers[0].confidence: expected a number from 0 to 1, got 1.1', handoverOf({ confidence: 1.1 })],
  ['handovers[0].dip: expected an object, got null', handoverOf({ dip: null })],
  ['handovers[0].dip.timingSeconds: expected a number from 0 to 15, got 16', dipOf({ timingSeconds: 16 })],
  ['handovers[0].dip.depth: expected a number from 0 to 1, got 80', dipOf({ depth: 80 })],
  ['handovers[0].dip.levels[1]: expected a number above 0.5 and below 1', dipOf({ levels: [0.5, 1] })],
  ['handovers[0].dip.seconds[2]: expected a number from 0.2 to 15', dipOf({ seconds: [0.1, 0.2, 150] })],
  ['handovers[0].dip.collapse: expected an object, got undefined', dipOf({ collapse: undefined })],
  ['handovers[0].dip.collapse.probability: expected a number from 0 to 1', collapseOf({ probability: 2 })],
  ['handovers[0].dip.collapse.seconds: expected a number from 0 to 15', collapseOf({ seconds: Number.NaN })],
  ['stepEndsSeconds: expected an array of 1 to 128, got an empty array', { stepEndsSeconds: [], quantilesBps: [] }],
  ['stepEndsSeconds[1]: expected a number above 4 and below 3600, got 4', { stepEndsSeconds: [4, 4] }],
  ['stepEndsSeconds[1]: expected a number above 4 and below 3600, got 3600', { stepEndsSeconds: [4, 3600] }],
  ['levels: expected an array of 1 to 64, got an empty array', { levels: [] }],
  ['levels[0]: expected a number above 0 and below 1, got NaN', { levels: [Number.NaN, 0.5, 0.9] }],
  ['levels[2]: expected a number above 0.5 and below 1, got 1', { levels: [0.1, 0.5, 1] }],
  ['quantilesBps: expected an array of 2, got an array of 1', { quantilesBps: [[1, 2, 3]] }],
  ['quantilesBps[0]: expected an array of 3, got an array of 2', firstRow(1, 2)],
  ['quantilesBps[0][0]: expected a number from 0', firstRow(-1, 2, 3)],
  ['quantilesBps[0][1]: expected a number from 2', firstRow(2, 1, 3)],
  ['quantilesBps[0][2]: expected a number from 2', firstRow(1, 2, 1e16)],
  ['quantilesBps[1]: expected a rate above 0, got 0', { quantilesBps: [LAST_ROW, [0, 0, 0]] }],
  ['rankCorrelation: expected a number from 0 to 1, got 1.1', { rankCorrelation: 1.1 }],
  ['fluctuation: expected an object, got null', { fluctuation: null }],
  ['fluctuation.levels: expected an array of 1 to 64, got undefined', { fluctuation: {} }],
  ['fluctuation.levels[0]: expected a number above 0 and below 1, got 0', fluctuationOf({ levels: [0, 0.5, 0.9] })],
  ['fluctuation.ratios: expected an array of 3, got an array of 1', fluctuationOf({ ratios: [1] })],
  ['fluctuation.ratios[1]: expected a number from 1 to 1000, got NaN', fluctuationOf({ ratios: [1, Number.NaN, 1] })],
  ['fluctuation.correlation: expected a number from 0 to below 1, got 1', fluctuationOf({ correlation: 1 })],
  ['path: expected a capacity path, got null', { kind: 'path', path: null }],
  ['path: expected bits that never fall', { kind: 'path', path: new ConstantPath(Number.NaN) }],
  ['path: expected bits that never fall', { kind: 'path', path: new ConstantPath(-1e6) }],
])('says %s, of %j', (message, changes) => {
  expect(() => validForecast({ ...GOOD, ...changes })).toThrow(InputError);
  expect(() => validForecast({ ...GOOD, ...changes })).toThrow(message);
});

test('refuses what is no object, or cannot be read', () => {
  const throwing = {
    get kind() {
      throw new Error('gone');
    },
  };
  for (const value of [null, undefined, 5, [], throwing]) expect(() => validForecast(value)).toThrow(InputError);
  expect(() => validForecast(null)).toThrow('forecast: expected an object, got null');
  expect(() => validForecast(throwing)).toThrow('forecast: expected values that can be read, got gone');
});
