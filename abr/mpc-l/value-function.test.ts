import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll, whole } from '../property.fixture.ts';
import { runningSums } from '../random-states.fixture.ts';
import { rankTransitions } from './futures.ts';
import { referenceValue } from './value-function.fixture.ts';
import type { ValueProblem } from './value-function.ts';
import { ValueFunction } from './value-function.ts';

/** The grid of the value function: 25 levels `top * (n / 24) ** 1.5`, at which it does not interpolate. */
const GRID_POINTS = 25;
const gridLevel = (problem: ValueProblem, n: number) =>
  Math.max(1e-3, problem.bufferCapSeconds - problem.segmentSeconds) * (n / (GRID_POINTS - 1)) ** 1.5;

const inRowsOfMost = (bins: number, matrix: Float64Array) =>
  Float64Array.from({ length: bins * 8 }, (_, i) => (i % 8 < bins ? matrix[(i >> 3) * bins + (i % 8)]! : 0));

type Size = { stages: number; bins: number; capSegments: fc.Arbitrary<number> };
/** Least growth of capacity from rank to rank, in Mbit/s, and costs of a stall beside 0. */
type Shape = Size & { mostSteps?: number; leastGrowth?: number; stalls?: readonly number[] };

/** Small problems of every kind; capacities ascend with the rank, and change from step to step. */
function anyProblem(shape: Shape): fc.Arbitrary<ValueProblem> {
  const { stages, bins, capSegments, mostSteps = 3, leastGrowth = 0.01, stalls = [3] } = shape;
  const rungs = fc.array(whole(0, 800), { minLength: 1, maxLength: 3 });
  const growth = fc.array(between(leastGrowth, 6), { minLength: bins, maxLength: bins });
  const anyStage = fc.record({
    correlation: fc.constantFrom(0, 0.5, 0.8),
    factor: between(0.5, 2),
    watchShare: fc.constantFrom(0.6, 0.95, 1),
    scene: fc.constantFrom(0.7, 1),
    price: fc.constantFrom(0, 0.2, 1.2),
    length: fc.constantFrom(1, 1, 2.5),
  });
  return rungs.chain((steps) => {
    const rungQualities = runningSums(steps.map((step) => step / 100));
    return fc
      .record({
        segmentSeconds: fc.constantFrom(1, 2, 4),
        capSegments,
        costs: fc.record({
          mu: fc.constantFrom(0, 1, 10),
          stall: fc.constantFrom(0, ...stalls),
          lambda: fc.constantFrom(0, 0.5, 1),
          rise: fc.constantFrom(0, 0.5),
        }),
        outageCostPerSecond: fc.constantFrom(0, 0.4),
        latencySeconds: fc.constantFrom(0, 0.04, 0.3),
        stallLevelSeconds: fc.constantFrom(0, 0.12),
        reactionSeconds: fc.constantFrom(0.5, 2, Number.POSITIVE_INFINITY),
        patienceSeconds: fc.constantFrom(0, 3, 6),
        leastLevelSeconds: fc.constant(0),
        mostLevelSeconds: fc.constant(Number.POSITIVE_INFINITY),
        bufferLevelSeconds: between(0, 8),
        bufferValues: fc.array(between(0, 2), { minLength: bins, maxLength: bins }),
        steps: fc.array(fc.record({ seconds: between(0.5, 9), growth }), { minLength: 1, maxLength: mostSteps }),
        stages: fc.array(anyStage, { minLength: stages, maxLength: stages }),
      })
      .map(({ stages: drawn, steps: drawnSteps, bufferValues, capSegments: cap, segmentSeconds, ...rest }) => ({
        ...rest,
        bins,
        bufferValuePerSecond: runningSums(bufferValues),
        stepEndsSeconds: runningSums(drawnSteps.map(({ seconds }) => seconds)),
        capacityBps: Float64Array.from(drawnSteps.flatMap(({ growth }) => runningSums(growth.map((by) => by * 1e6)))),
        segmentSeconds,
        bufferCapSeconds: cap * segmentSeconds,
        decidedSeconds: segmentSeconds,
        count: rungQualities.length,
        stages: drawn.map(({ correlation, factor, watchShare, scene, price, length }) => ({
          seconds: length * segmentSeconds,
          qualityScale: (length * segmentSeconds) / 4,
          watchShare,
          transitions: inRowsOfMost(bins, rankTransitions(bins, correlation, { weight: 0.1, tail: 0.2 })),
          qualities: rungQualities.map((q) => scene * q),
          worths: rungQualities.map((q) => (scene - price) * q),
          sizesBits: rungQualities.map((q) => (q + 0.5) * 1e6 * length * segmentSeconds * factor),
        })),
      }));
  });
}

const SEED = { seed: 20260101 };
const LARGE_CAPS = fc.constantFrom(3, 4, 8);
const point = whole(0, GRID_POINTS - 1);
const anyLevel = between(0, 60);

test.each([
  ['three segments, where every download ends with a full buffer', { stages: 3, bins: 3, caps: [1, 1.5, 2] }],
  ['one segment at any cap, with all ranks', { stages: 1, bins: 8, caps: [3, 4, 8] }],
])('equals exhaustion where nothing is interpolated: %s', (_, { stages, bins, caps }) => {
  const problems = anyProblem({ stages, bins, capSegments: fc.constantFrom(...caps) });
  forAll([problems, point, fc.nat(bins - 1), fc.nat(2)], { ...SEED, numRuns: 400 }, (problem, n, rank, r) => {
    const before = r % problem.count;
    const level = gridLevel(problem, n);
    const expected = referenceValue(problem, level, rank, before);
    const value = new ValueFunction(problem).at(level, rank, before);
    expect(Math.abs(value - expected)).toBeLessThan(1e-9 * (1 + Math.abs(expected)));
  });
});

// If a dead link recovers between two points, only a finer grid helps.
test.each([
  { mostSteps: 1, leastGrowth: 0.01, most: 0.15, mean: 0.003 },
  { mostSteps: 3, leastGrowth: 0.5, most: 0.8, mean: 0.01 },
])('is near it where levels fall between the points of the grid, %j', ({ most, mean, ...shape }) => {
  const errors: number[] = [];
  // Costs of a stall's begin would make the value leap.
  const problems = anyProblem({ stages: 3, bins: 2, capSegments: LARGE_CAPS, stalls: [], ...shape });
  forAll([problems, point, fc.nat(1)], { ...SEED, numRuns: 400 }, (problem, n, rank) => {
    const level = gridLevel(problem, n);
    const { costs, stages } = problem;
    // Errors are in units of a top segment and a second of stall.
    const best = stages.flatMap(({ qualities, qualityScale }) => qualities.map((quality) => qualityScale * quality));
    const unit = Math.max(...best) + costs.mu + 1;
    const value = new ValueFunction(problem).at(level, rank, 0);
    errors.push(Math.abs(value - referenceValue(problem, level, rank, 0)) / unit);
  });
  expect(Math.max(...errors)).toBeLessThan(most);
  expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(mean);
});

test('has the same values, to the last bit, if only some levels are asked for', () => {
  const problems = anyProblem({ stages: 3, bins: 2, capSegments: LARGE_CAPS });
  forAll([problems, anyLevel], { ...SEED, numRuns: 300 }, (problem, more) => {
    const leastLevelSeconds = problem.segmentSeconds;
    const level = leastLevelSeconds + more;
    const part = new ValueFunction({ ...problem, leastLevelSeconds, mostLevelSeconds: level });
    expect(part.at(level, 1, 0)).toBe(new ValueFunction(problem).at(level, 1, 0));
  });
});

test('interpolates between the points and clamps beyond them; without later segments it is the value of the buffer', () => {
  const problems = anyProblem({ stages: 2, bins: 2, capSegments: LARGE_CAPS });
  forAll([problems, fc.nat(23)], { ...SEED, numRuns: 100 }, (problem, n) => {
    const value = new ValueFunction(problem);
    const [low, high] = [gridLevel(problem, n), gridLevel(problem, n + 1)];
    expect(value.at((low + high) / 2, 1, 0)).toBeCloseTo((value.at(low, 1, 0) + value.at(high, 1, 0)) / 2, 8);
    expect(value.at(1e6, 1, 0)).toBe(value.at(gridLevel(problem, 24), 1, 0));
    expect(value.at(-1, 1, 0)).toBe(value.at(0, 1, 0));
    const worth = problem.bufferValuePerSecond[1]! * high;
    expect(new ValueFunction({ ...problem, stages: [] }).at(high, 1, 0)).toBeCloseTo(worth, 9);
  });
});
