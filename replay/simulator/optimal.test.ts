import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ALGORITHM_NAMES, type Controller } from '../../abr/index.ts';
import { normal, seededRandom } from '../../abr/random.ts';
import { IDEAL_BROWSER } from '../ideal-browser.fixture.ts';
import type { ResolvedScenario, SessionResult } from '../results.ts';
import { resolveScenario } from '../scenario-file.ts';
import { MEASURED_BROWSER, SCENARIOS, type Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { simulatedAlgorithm } from './algorithms.ts';
import { restless, traceOfRates as traceOf } from './made-up.fixture.ts';
import { findOptimum, optimalSession } from './optimal.ts';
import { CapacityBound } from './optimal-capacity.ts';
import { qoeOfSum, sessionProblem, sumOfPlan } from './optimal-problem.ts';
import { searchPlans } from './optimal-search.ts';
import { simulateSession } from './simulate-session.ts';

const SEED = { seed: 20250601 };

/** A rate per 15 s with noise and outages, on which every algorithm stalls. */
function roughTrace(seed: number, medianMbps: number): Trace {
  const random = seededRandom(seed);
  let level = 1;
  return traceOf(
    Array.from({ length: 300 }, (_, second) => {
      if (second % 15 === 0) level = Math.exp(0.7 * normal(random));
      return random() < 0.03 ? 0 : medianMbps * level * Math.exp(0.3 * normal(random));
    }),
  );
}

function follows(plan: ArrayLike<number>): Controller {
  return {
    name: 'plan',
    decide: ({ segmentIndex }) => ({ representation: plan[segmentIndex]!, controller: 'plan', reason: 'planned' }),
  };
}

const scenarioOf = (fields: Partial<Scenario>): ResolvedScenario =>
  resolveScenario({ ...SCENARIOS['uhd-8']!, ...fields });

/** Short sessions of three representations in all kinds of players. */
const smallSession = fc
  .record({
    ratesMbps: fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0.5, max: 60, noNaN: true })), {
      minLength: 15,
      maxLength: 40,
    }),
    segmentCount: fc.integer({ min: 1, max: 6 }),
    segmentSeconds: fc.constantFrom(2, 4),
    capSegments: fc.double({ min: 1.25, max: 6, noNaN: true }),
    rttSeconds: fc.constantFrom(0, 0.04, 0.3),
    ladderBps: fc.constantFrom([3e6, 8e6, 20e6], [1e6, 1.37e6, 24.1e6]),
    lambda: fc.constantFrom(0, 1, 3),
    playbackRate: fc.constantFrom(1, 1, 0.5, 1.7),
    browser: fc.constantFrom(IDEAL_BROWSER, MEASURED_BROWSER, {
      ...MEASURED_BROWSER,
      initSegmentBits: 2e6,
      requestLatenessSeconds: 0.3,
      stallLevelSeconds: 0.4,
    }),
    startSeconds: fc.double({ min: 0, max: 30, noNaN: true }),
  })
  .map(({ ratesMbps, capSegments, startSeconds, ...rest }) => ({
    trace: traceOf([...ratesMbps, 0.7]),
    startSeconds,
    segmentCount: rest.segmentCount,
    scenario: scenarioOf({
      ...rest,
      mu: rest.ladderBps[2]! / 1e6,
      bufferCapSeconds: capSegments * rest.segmentSeconds,
    }),
  }));

function plansOf(segmentCount: number, representationCount: number): Uint8Array[] {
  return Array.from({ length: representationCount ** segmentCount }, (_, number) =>
    Uint8Array.from(
      { length: segmentCount },
      (__, i) => Math.floor(number / representationCount ** i) % representationCount,
    ),
  );
}

describe('optimal', () => {
  test('the sum of a plan equals that of the simulator', () => {
    fc.assert(
      fc.property(
        smallSession,
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 6, maxLength: 6 }),
        (session, plan) => {
          const played = simulateSession({ ...session, controller: follows(plan) });
          for (const form of ['linear', 'log'] as const) {
            const problem = sessionProblem(session, form);
            expect(qoeOfSum(problem, sumOfPlan(problem, plan))).toBeCloseTo(played.qoe[form], 6);
          }
        },
      ),
      { ...SEED, numRuns: 300 },
    );
  });

  test('its bounds are close, with the result of exhaustive search between them', () => {
    fc.assert(
      fc.property(smallSession, (session) => {
        for (const form of ['linear', 'log'] as const) {
          const problem = sessionProblem(session, form);
          const best = Math.max(...plansOf(session.segmentCount, 3).map((plan) => sumOfPlan(problem, plan)));
          const { reachedSum, upperBoundSum, plan } = findOptimum(problem);
          expect(sumOfPlan(problem, plan)).toBeCloseTo(reachedSum, 9);
          expect(reachedSum).toBeLessThanOrEqual(best + 1e-9);
          expect(upperBoundSum).toBeGreaterThanOrEqual(best - 1e-9);
          const unit = Math.max(Math.abs(upperBoundSum), 0.01 * session.segmentCount * problem.gains[2]!);
          expect(upperBoundSum - reachedSum).toBeLessThanOrEqual(0.01 * unit);
        }
      }),
      { ...SEED, numRuns: 200 },
    );
  });

  test('the bound by capacity holds for every session, and decreases with waited time', () => {
    fc.assert(
      fc.property(smallSession, (session) => {
        for (const form of ['linear', 'log'] as const) {
          const problem = sessionProblem(session, form);
          const best = Math.max(...plansOf(session.segmentCount, 3).map((plan) => sumOfPlan(problem, plan)));
          const capacity = new CapacityBound(problem, 1 / 8);
          expect(capacity.toCome(0, 0, 0)).toBeGreaterThanOrEqual(best - 1e-9);
          expect(capacity.toCome(1, 2, 1)).toBeLessThanOrEqual(capacity.toCome(1, 1, 1));
          expect(capacity.toCome(1, 1, 2)).toBeLessThanOrEqual(capacity.toCome(1, 1, 1));
        }
      }),
      { ...SEED, numRuns: 50 },
    );
  });

  test('each search gives a bound, which decreases with finer grids', () => {
    fc.assert(
      fc.property(smallSession, fc.boolean(), (session, ignoreInitialisation) => {
        const problem = sessionProblem(session, 'linear');
        const best = Math.max(...plansOf(session.segmentCount, 3).map((plan) => sumOfPlan(problem, plan)));
        let bound = Number.POSITIVE_INFINITY;
        for (const grid of [1, 1 / 4, 1 / 32, 2 ** -20]) {
          const search = searchPlans(problem, {
            requestGridSeconds: grid,
            waitGridSeconds: grid,
            ignoreInitialisation,
            knownSum: Number.NEGATIVE_INFINITY,
            mostLabels: 1e5,
          })!;
          expect(search.upperBoundSum).toBeGreaterThanOrEqual(best - 1e-9);
          expect(search.upperBoundSum).toBeLessThanOrEqual(bound + 1e-9);
          bound = search.upperBoundSum;
        }
        if (!ignoreInitialisation) expect(bound).toBeLessThanOrEqual(best + 1e-3);
      }),
      { ...SEED, numRuns: 50 },
    );
  });

  test.each(Object.keys(SCENARIOS).filter((name) => !SCENARIOS[name]!.live))(
    '%s: above every algorithm and every abandonment, at most 1 %% above its own session',
    (name) => {
      const scenario = resolveScenario(SCENARIOS[name]!);
      const segmentCount = 20;
      for (const [seed, medianMbps] of [
        [1, 12],
        [2, 60],
      ] as const) {
        const task = {
          trace: roughTrace(seed, medianMbps),
          scenario,
          startSeconds: 10,
          segmentCount,
          seed,
          timings: false,
        };
        const optimal = optimalSession(task);
        const bound = optimal.qoeUpperBound!;
        expect(optimal).toMatchObject({ algorithm: 'optimal', endedBy: 'end', wastedBits: 0 });
        expect(bound.linear - optimal.qoe.linear).toBeGreaterThanOrEqual(0);
        expect(bound.linear - optimal.qoe.linear).toBeLessThanOrEqual(
          0.01 * Math.max(Math.abs(bound.linear), (0.01 * scenario.ladderBps.at(-1)!) / 1e6),
        );
        const others: SessionResult[] = [
          ...ALGORITHM_NAMES.map((algorithm) => simulatedAlgorithm(algorithm).simulate(task)),
          ...[1, 2, 3].map((s) => simulateSession({ ...task, controller: restless(s, scenario.ladderBps.length) })),
        ];
        for (const { algorithm, qoe } of others) {
          expect([algorithm, qoe.linear <= bound.linear + 1e-6]).toEqual([algorithm, true]);
          expect([algorithm, qoe.log <= bound.log + 1e-6]).toEqual([algorithm, true]);
          if (name === 'pensieve-60') expect([algorithm, qoe.hd! <= bound.hd! + 1e-6]).toEqual([algorithm, true]);
          // Its own session is also better.
          expect([algorithm, qoe.linear <= optimal.qoe.linear + 0.01 * Math.abs(bound.linear) + 0.01]).toEqual([
            algorithm,
            true,
          ]);
        }
      }
    },
  );

  test('on a link that is too slow for any plan the bound is that of the cutoff', () => {
    const session = { trace: traceOf([0.001]), scenario: scenarioOf({}), startSeconds: 0, segmentCount: 5, seed: 1 };
    const optimal = optimalSession(session);
    expect(optimal.endedBy).toBe('cutoff');
    expect(optimal.qoeUpperBound!.linear).toBeCloseTo(optimal.qoe.linear, 6);
    expect(optimal.qoe.linear).toBeCloseTo((-120 * 600) / 5, 6);
  });

  test('a live scenario is refused', () => {
    const scenario = SCENARIOS['live-hd-1']!;
    expect(() => simulatedAlgorithm('optimal', undefined, '--algorithms', scenario)).toThrow(
      '--algorithms: expected a scenario on demand for optimal, got "live-hd-1"',
    );
  });

  test('a ladder of one has one plan', () => {
    const scenario = scenarioOf({ ladderBps: [5e6], mu: 5 });
    const optimal = optimalSession({ trace: traceOf([8, 2, 8]), scenario, startSeconds: 0, segmentCount: 8, seed: 1 });
    expect(optimal.qoeUpperBound!.linear - optimal.qoe.linear).toBeLessThan(0.05);
    expect(optimal.segments.every((row) => row.bitrateBps === 5e6)).toBe(true);
  });
});
