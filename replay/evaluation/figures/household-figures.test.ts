import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll } from '../../../abr/property.fixture.ts';
import type { SessionResult } from '../../results.ts';
import { unitsByDataset } from '../statistics/resampling-units.ts';
import { testResults, testScenario, testSession } from '../test-sessions.fixture.ts';
import { householdDifference, householdSummary, householdsOf, instability, unfairness } from './household-figures.ts';

const rows = (mbps: number[]) => mbps.map((value) => ({ bitrateBps: value * 1e6 }));

test('unfairness is 0 for equal values and for none, sqrt(1 - 1/n) if one has everything', () => {
  expect(unfairness([3, 3, 3])).toBe(0);
  expect(unfairness([0, 0])).toBe(0);
  expect(unfairness([7, 0, 0, 0])).toBeCloseTo(Math.sqrt(3 / 4), 12);
  // Jain: (1 + 3)^2 / (2 x 10).
  expect(unfairness([1, 3])).toBeCloseTo(Math.sqrt(1 - 16 / 20), 12);
});

test('unfairness does not depend on the order or the unit', () => {
  const values = fc.array(between(-100, 100), { minLength: 1 });
  forAll([values], { seed: 1 }, (list) => {
    expect(unfairness([...list].reverse().map((value) => value * 8))).toBeCloseTo(unfairness(list), 5);
  });
});

test('instability is 0 without changes, and for sessions shorter than the window', () => {
  expect(instability(rows(Array(20).fill(5)), { segmentSeconds: 4 })).toBe(0);
  expect(instability(rows([1, 8, 1, 8, 1]), { segmentSeconds: 4 })).toBe(0);
});

test('instability weights recent seconds more', () => {
  // The one value is of second 20. Its weights are 20 for the change to it, and 19 + ... + 1 for the bitrates before.
  expect(instability(rows([...Array(20).fill(2), 5]), { segmentSeconds: 1 })).toBeCloseTo((3 * 20) / (2 * 190), 12);
  const early = instability(rows([2, ...Array(20).fill(5)]), { segmentSeconds: 1 });
  expect(early).toBeCloseTo(3 / (5 * 190), 12);
});

/** Two players with these QoEs. */
function household(algorithm: string, trace: string, qoes: number[]): SessionResult[] {
  return qoes.map((linear, player) => ({
    ...testSession({ dataset: 'd', trace, group: trace, algorithm, startSeconds: 0 }),
    qoe: { linear, log: 0, hd: null },
    household: { name: 'two', algorithm, player, joinSeconds: player, linkUtilisation: 0.75 },
  }));
}

const sessions = Array.from({ length: 9 }, (_, i) => [
  ...household('mpc-d', `t${i}`, [4, 2]),
  ...household('mpc-l', `t${i}`, [3 + i, 5]),
]).flat();
const scenario = testScenario();
const households = householdsOf(sessions, scenario);

test('the figures of a household are of all its players', () => {
  expect(households).toHaveLength(18);
  expect(households[1]).toMatchObject({
    ...{ trace: 't0', household: 'two', algorithm: 'mpc-l', players: 2, linkUtilisation: 0.75 },
    ...{ qoeSum: 8, qoeLeast: 3, qoeP5: 3.1, qoeUnfairness: 0.242536, bitrateUnfairness: 0 },
  });
  expect(householdsOf([testSession()], scenario)).toEqual([]);
});

test('the figures of households are compared by place, with intervals over groups', () => {
  const of = (algorithm: string) => households.filter((one) => one.algorithm === algorithm);
  const options = { ways: unitsByDataset(sessions), seed: 1, label: 'd' };
  const difference = householdDifference(of('mpc-l'), of('mpc-d'), options)!;
  expect(difference).toMatchObject({ pairs: 9, units: 9, resampledBy: 'groups' });
  // The sums are 8 + i instead of 6, the least min(3 + i, 5) instead of 2.
  expect(difference.qoeSum.value).toBeCloseTo(6, 12);
  expect(difference.qoeLeast.value).toBeCloseTo((1 + 2 + 7 * 3) / 9, 12);
  expect(difference.qoeSum.ci95![0]).toBeGreaterThan(3);
  expect(difference.qoeSum.ci95![1]).toBeLessThan(9);
  expect(householdDifference(of('mpc-l'), [], options)).toBeUndefined();
});

test('the figures of neighbours, whose algorithm the household names, are apart', () => {
  const seat = { name: 'mixed', linkUtilisation: 0.5, joinSeconds: 0 };
  const play = (algorithm: string, stalls: number[], bps: number) =>
    ['t0', 't1'].flatMap((trace) =>
      stalls.map((stallSeconds, player) => ({
        ...testSession({ trace, group: trace, algorithm: player === 0 ? algorithm : 'dynamic', stallSeconds }),
        ...{ qoeLinear: 0, qoe: { linear: 0, log: 0, hd: null, perceived: 90 - stallSeconds }, meanBitrateBps: bps },
        household: { ...seat, algorithm, player },
      })),
    );
  const players = [{ joinSeconds: 0 }, { joinSeconds: 0, algorithm: 'dynamic' }];
  const household = { name: 'mixed', players, traffic: [] };
  const mixed = [...play('dynamic', [2, 4], 4e6), ...play('mpc-l', [0, 1], 3e6)];
  const rows = householdSummary(testResults(mixed, { baseline: 'dynamic', household }));
  expect(rows.map(({ players, algorithm, stallSeconds }) => [players, algorithm, stallSeconds])).toEqual([
    ...[
      ['all', 'dynamic', 3],
      ['all', 'mpc-l', 0.5],
      ['own', 'dynamic', 2],
      ['own', 'mpc-l', 0],
    ],
    ...[
      ['neighbours', 'dynamic', 4],
      ['neighbours', 'mpc-l', 1],
    ],
  ]);
  const [all, , , , , beside] = rows;
  expect(all).toMatchObject({ perceived: 87, perceivedLeast: 86, meanBitrateBps: 4e6, difference: undefined });
  expect(beside).toMatchObject({ perceived: 89, difference: { perceived: { value: 3 }, stallSeconds: { value: -3 } } });
  // Sessions from before version 0.3 have no perceived QoE.
  const old = mixed.map((one) => ({ ...one, qoe: { linear: 1, log: 0, hd: null } }));
  const [, , , , , older] = householdSummary(testResults(old, { baseline: 'dynamic', household }));
  expect([older!.perceived, older!.difference!.perceived, older!.stallSeconds]).toEqual([undefined, undefined, 1]);
});
