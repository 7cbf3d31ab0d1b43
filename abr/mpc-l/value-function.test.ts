import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rankTransitions } from './rank-chain.ts';
import { referenceValue } from './value-function.reference.ts';
import { ValueFunction, type ValueProblem } from './value-function.ts';

/** The grid of the value function, where it does not interpolate: 25 points, `top * (n / 24) ** 1.5`. */
const GRID_POINTS = 25;
const gridLevel = (problem: ValueProblem, n: number) =>
  Math.max(1e-3, problem.bufferCapSeconds - problem.segmentSeconds) * (n / (GRID_POINTS - 1)) ** 1.5;

interface Shape {
  stages: number;
  bins: number;
  capSegments: fc.Arbitrary<number>;
  mostSteps?: number;
  /** Of capacity from rank to rank, in Mbit/s. */
  leastGrowth?: number;
}

/** Small problems of every kind; capacities ascend with the rank, and change from step to step. */
function anyProblem({
  stages,
  bins,
  capSegments,
  mostSteps = 3,
  leastGrowth = 0.01,
}: Shape): fc.Arbitrary<ValueProblem> {
  const rungs = fc.array(fc.integer({ min: 0, max: 800 }), { minLength: 1, maxLength: 3 });
  return rungs.chain((steps) => {
    let quality = 0;
    const qualities = steps.map((step) => {
      quality += step / 100;
      return quality;
    });
    return fc
      .record({
        segmentSeconds: fc.constantFrom(1, 2, 4),
        capSegments,
        mu: fc.constantFrom(0, 1, 10),
        lambda: fc.constantFrom(0, 0.5, 1),
        latencySeconds: fc.constantFrom(0, 0.04, 0.3),
        stallLevelSeconds: fc.constantFrom(0, 0.12),
        reactionSeconds: fc.constantFrom(0.5, 2, Number.POSITIVE_INFINITY),
        patienceSeconds: fc.constantFrom(0, 3, 6),
        leastLevelSeconds: fc.constant(0),
        mostLevelSeconds: fc.constant(Number.POSITIVE_INFINITY),
        bufferLevelSeconds: fc.double({ min: 0, max: 8, noNaN: true }),
        bufferValues: fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: bins, maxLength: bins }),
        steps: fc.array(
          fc.record({
            seconds: fc.double({ min: 0.5, max: 9, noNaN: true }),
            growth: fc.array(fc.double({ min: leastGrowth, max: 6, noNaN: true }), {
              minLength: bins,
              maxLength: bins,
            }),
          }),
          { minLength: 1, maxLength: mostSteps },
        ),
        stages: fc.array(
          fc.record({
            correlation: fc.constantFrom(0, 0.5, 0.8),
            factor: fc.double({ min: 0.5, max: 2, noNaN: true }),
          }),
          { minLength: stages, maxLength: stages },
        ),
      })
      .map(({ stages: drawn, steps: drawnSteps, bufferValues, capSegments: cap, segmentSeconds, ...rest }) => ({
        ...rest,
        bins,
        bufferValuePerSecond: Float64Array.from(runningSums(bufferValues)),
        steps: drawnSteps.length,
        stepEndsSeconds: Float64Array.from(runningSums(drawnSteps.map(({ seconds }) => seconds))),
        capacityBps: Float64Array.from(
          drawnSteps.flatMap(({ growth }) => runningSums(growth.map((more) => more * 1e6))),
        ),
        segmentSeconds,
        bufferCapSeconds: cap * segmentSeconds,
        qualityScale: segmentSeconds / 4,
        qualities: Float64Array.from(qualities),
        stages: drawn.map(({ correlation, factor }) => ({
          transitions: rankTransitions(bins, correlation, { weight: 0.1, tail: 0.2 }),
          sizesBits: qualities.map((q) => (q + 0.5) * 1e6 * segmentSeconds * factor),
        })),
      }));
  });
}

function runningSums(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}

const SEED = { seed: 20260101 };
const LARGE_CAPS = fc.constantFrom(3, 4, 8);
const point = fc.integer({ min: 0, max: GRID_POINTS - 1 });

describe('ValueFunction', () => {
  test('equals exhaustion where every download ends with a full buffer: nothing is interpolated', () => {
    const value = new ValueFunction();
    const problems = anyProblem({ stages: 3, bins: 3, capSegments: fc.constantFrom(1, 1.5, 2) });
    fc.assert(
      fc.property(problems, point, fc.nat(2), fc.nat(2), (problem, n, rank, r) => {
        const before = r % problem.qualities.length;
        value.solve(problem);
        const level = gridLevel(problem, n);
        const expected = referenceValue(problem, level, rank, before);
        expect(Math.abs(value.at(level, rank, before) - expected)).toBeLessThan(1e-9 * (1 + Math.abs(expected)));
      }),
      { ...SEED, numRuns: 400 },
    );
  });

  test('equals exhaustion for one segment at any cap', () => {
    const value = new ValueFunction();
    fc.assert(
      fc.property(anyProblem({ stages: 1, bins: 3, capSegments: LARGE_CAPS }), point, fc.nat(2), (problem, n, rank) => {
        value.solve(problem);
        const level = gridLevel(problem, n);
        expect(value.at(level, rank, 0)).toBeCloseTo(referenceValue(problem, level, rank, 0), 8);
      }),
      { ...SEED, numRuns: 300 },
    );
  });

  // If a dead link recovers between two points, only a finer grid helps.
  test.each([
    { mostSteps: 1, leastGrowth: 0.01, most: 0.15, mean: 0.003 },
    { mostSteps: 3, leastGrowth: 0.5, most: 0.8, mean: 0.01 },
  ])('is near it where levels fall between the points of the grid, %j', ({ most, mean, ...shape }) => {
    const value = new ValueFunction();
    const errors: number[] = [];
    fc.assert(
      fc.property(
        anyProblem({ stages: 3, bins: 2, capSegments: LARGE_CAPS, ...shape }),
        point,
        fc.nat(1),
        (problem, n, rank) => {
          value.solve(problem);
          const level = gridLevel(problem, n);
          const { mu, qualities, qualityScale } = problem;
          // In units of a top segment and a second of stall.
          const unit = qualityScale * qualities[qualities.length - 1]! + mu + 1;
          errors.push(Math.abs(value.at(level, rank, 0) - referenceValue(problem, level, rank, 0)) / unit);
        },
      ),
      { ...SEED, numRuns: 400 },
    );
    expect(Math.max(...errors)).toBeLessThan(most);
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(mean);
  });

  test('is the value of the buffer without later segments, and does not depend on earlier problems', () => {
    const small = fc.sample(anyProblem({ stages: 2, bins: 2, capSegments: LARGE_CAPS }), { ...SEED, numRuns: 1 })[0]!;
    const large = fc.sample(anyProblem({ stages: 4, bins: 5, capSegments: LARGE_CAPS }), { ...SEED, numRuns: 1 })[0]!;
    const values = (value: ValueFunction, problem: ValueProblem) => {
      value.solve(problem);
      return Array.from({ length: 12 }, (_, i) => value.at(i / 3, i % 2, 0));
    };
    const value = new ValueFunction();
    const alone = values(value, small);
    expect(values(value, large)).toEqual(values(new ValueFunction(), large));
    const top = large.bufferCapSeconds - large.segmentSeconds;
    const buffered = Array.from({ length: 12 }, (_, i) => large.bufferValuePerSecond[i % 2]! * Math.min(i / 3, top));
    expect(values(value, { ...large, stages: [] })).toEqual(buffered.map((worth) => expect.closeTo(worth, 9)));
    expect(values(value, small)).toEqual(alone);
  });

  test('has the same values, to the last bit, if only some levels are asked for', () => {
    const [whole, part] = [new ValueFunction(), new ValueFunction()];
    const level = fc.double({ min: 0, max: 20, noNaN: true });
    fc.assert(
      fc.property(anyProblem({ stages: 3, bins: 2, capSegments: LARGE_CAPS }), level, level, (problem, a, b) => {
        whole.solve(problem);
        const [leastLevelSeconds, mostLevelSeconds] = [Math.min(a, b), Math.max(a, b)];
        part.solve({ ...problem, leastLevelSeconds, mostLevelSeconds });
        for (const asked of [a, b, (a + b) / 2]) expect(part.at(asked, 1, 0)).toBe(whole.at(asked, 1, 0));
      }),
      { ...SEED, numRuns: 300 },
    );
  });

  test('interpolates between the points and clamps beyond them', () => {
    const value = new ValueFunction();
    fc.assert(
      fc.property(anyProblem({ stages: 2, bins: 2, capSegments: LARGE_CAPS }), fc.nat(23), (problem, n) => {
        value.solve(problem);
        const low = value.at(gridLevel(problem, n), 1, 0);
        const high = value.at(gridLevel(problem, n + 1), 1, 0);
        const middle = (gridLevel(problem, n) + gridLevel(problem, n + 1)) / 2;
        expect(value.at(middle, 1, 0)).toBeCloseTo((low + high) / 2, 8);
        const top = value.at(gridLevel(problem, 24), 1, 0);
        expect(value.at(1e6, 1, 0)).toBe(top);
        expect(value.at(-1, 1, 0)).toBe(value.at(0, 1, 0));
      }),
      { ...SEED, numRuns: 100 },
    );
  });
});

describe('laws of the value', () => {
  const SHAPE = { stages: 4, bins: 4, capSegments: fc.constantFrom(1.5, 2, 4, 15) };
  const problems = anyProblem(SHAPE);
  const level = fc.double({ min: 0, max: 60, noNaN: true });
  const first = new ValueFunction();
  const second = new ValueFunction();
  /** In every state `better` is worth at least as much as `worse`. */
  function expectAtLeast(better: ValueProblem, worse: ValueProblem, at: readonly [number, number, number]): void {
    first.solve(better);
    second.solve(worse);
    const [value, other] = [first.at(...at), second.at(...at)];
    expect(value).toBeGreaterThanOrEqual(other - 1e-9 * (1 + Math.abs(other)));
  }

  test('abandonment never lowers the value, nor does a smaller mu', () => {
    fc.assert(
      fc.property(problems, level, fc.nat(3), (problem, buffered, rank) => {
        expectAtLeast(problem, { ...problem, reactionSeconds: Number.POSITIVE_INFINITY }, [buffered, rank, 0]);
        expectAtLeast(problem, { ...problem, mu: 2 * problem.mu }, [buffered, rank, 0]);
      }),
      { ...SEED, numRuns: 300 },
    );
  });

  test('without abandonment, more buffer, rank or capacity never lowers the value on a steady link', () => {
    const steady = anyProblem({ ...SHAPE, mostSteps: 1 });
    const kept = steady.map((problem) => ({ ...problem, reactionSeconds: Number.POSITIVE_INFINITY }));
    fc.assert(
      fc.property(kept, level, level, fc.nat(3), fc.nat(3), (problem, a, b, i, j) => {
        first.solve(problem);
        const tolerance = 1e-9 * (1 + Math.abs(first.at(0, 0, 0)));
        expect(first.at(Math.max(a, b), i, 0)).toBeGreaterThanOrEqual(first.at(Math.min(a, b), i, 0) - tolerance);
        expect(first.at(a, Math.max(i, j), 0)).toBeGreaterThanOrEqual(first.at(a, Math.min(i, j), 0) - tolerance);
        expectAtLeast({ ...problem, capacityBps: problem.capacityBps.map((c) => 1.5 * c) }, problem, [a, i, 0]);
      }),
      { ...SEED, numRuns: 300 },
    );
  });

  test('without a cost of switches the previous representation does not matter', () => {
    fc.assert(
      fc.property(problems, level, fc.nat(3), (problem, buffered, rank) => {
        first.solve({ ...problem, lambda: 0 });
        const values = Array.from(problem.qualities, (_, r) => first.at(buffered, rank, r));
        for (const value of values) expect(value).toBeCloseTo(values[0]!, 9);
      }),
      { ...SEED, numRuns: 100 },
    );
  });

  test('rates, sizes, qualities and mu times 2: values times 2, to the last bit', () => {
    fc.assert(
      fc.property(problems, level, fc.nat(3), (problem, buffered, rank) => {
        first.solve(problem);
        second.solve({
          ...problem,
          mu: 2 * problem.mu,
          bufferValuePerSecond: problem.bufferValuePerSecond.map((value) => 2 * value),
          qualities: problem.qualities.map((quality) => 2 * quality),
          capacityBps: problem.capacityBps.map((bps) => 2 * bps),
          stages: problem.stages.map((stage) => ({
            ...stage,
            sizesBits: stage.sizesBits.map((bits) => 2 * bits),
          })),
        });
        expect(second.at(buffered, rank, 0)).toBe(2 * first.at(buffered, rank, 0));
      }),
      { ...SEED, numRuns: 100 },
    );
  });
});
