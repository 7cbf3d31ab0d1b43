import { expect, test } from '@jest/globals';
import { broken } from '../../session/scripted.fixture.ts';
import { assignArm, type TrialOptions } from '../index.ts';
import { define, items, STORAGE, usePage } from './config.fixture.ts';

usePage();

const keys = (count: number) => Array.from({ length: count }, (_, i) => `viewer ${i}`);
const armsOf = (trial: TrialOptions, count = 20_000) => keys(count).map((key) => assignArm({ ...trial, key }));

/** Within five standard deviations of the expected number. */
function expectShare(hits: number, of: number, share: number): void {
  expect(Math.abs(hits - of * share)).toBeLessThan(5 * Math.sqrt(of * share * (1 - share)));
}

test('an assignment is reproducible from name and key', () => {
  const trial = { name: 'spring', share: 0.5, key: 'somebody' };
  const arm = { trial: 'spring', arm: 'leo-abr', armShare: 0.5, unit: 'viewer', cluster: 674, options: {} };
  expect([assignArm(trial), assignArm({ ...trial })]).toEqual([arm, arm]);
});

test.each([0.1, 0.5, 0.9])('an assignment gives the share %d to the plugin', (share) => {
  const arms = armsOf({ name: 'balance', share });
  expectShare(arms.filter(({ arm }) => arm === 'leo-abr').length, arms.length, share);
  expect(new Set(arms.map(({ arm, armShare }) => `${arm} ${armShare}`)).size).toBe(2);
});

test('an assignment of an A/A trial is balanced, by cluster too, and independent of another trial', () => {
  const arms = { a: {}, b: {} };
  const first = armsOf({ name: 'A-A', arms });
  const second = armsOf({ name: 'other', arms });
  const inA = first.filter(({ arm }) => arm === 'a');
  expectShare(inA.length, first.length, 0.5);
  expectShare(first.filter(({ arm }, i) => arm === second[i]!.arm).length, first.length, 0.5);
  const low = first.filter(({ cluster }) => cluster < 500);
  expectShare(low.length, first.length, 0.5);
  expectShare(low.filter(({ arm }) => arm === 'a').length, low.length, 0.5);
  const sizes = new Array<number>(1000).fill(0);
  for (const { cluster } of first) sizes[cluster]!++;
  // Chi-squared of 999 degrees of freedom: 999 on average, with a deviation of 45.
  const chiSquared = sizes.reduce((sum, size) => sum + (size - 20) ** 2 / 20, 0);
  expect(Math.abs(chiSquared - 999)).toBeLessThan(5 * 45);
});

test('a trial may have more than two arms, in any order, with the options of each', () => {
  const risky = { risk: 0.3 };
  const arms = { own: 'player', careful: { risk: 0.1 }, risky } as const;
  const assigned = armsOf({ name: 'three', arms });
  const { own, careful, risky: _ } = arms;
  expect(armsOf({ name: 'three', arms: { risky, careful, own } })).toEqual(assigned);
  for (const name of ['own', 'careful', 'risky']) {
    const one = assigned.filter(({ arm }) => arm === name);
    expectShare(one.length, assigned.length, 1 / 3);
    const options = arms[name as keyof typeof arms];
    expect(one[0]!.options).toBe(options === 'player' ? undefined : options);
  }
});

test('a trial may have all or none of the viewers', () => {
  expect(new Set(armsOf({ name: 'all', share: 1 }, 100).map(({ arm }) => arm))).toEqual(new Set(['leo-abr']));
  expect(assignArm({ name: 'none', share: 0 })).toMatchObject({ arm: 'player', armShare: 1 });
});

const repeated = (unit: 'viewer' | 'session') =>
  new Set(keys(30).map(() => JSON.stringify(assignArm({ name: 'visits', unit })))).size;

test('a viewer has the same arm at each visit, by a number in the storage', () => {
  expect(repeated('viewer')).toBe(1);
  expect([...items.keys()]).toEqual(['leo-abr-viewer']);
  expect(items.get('leo-abr-viewer')).toMatch(/^[0-9a-f]{16}$/);
  expect(repeated('session')).toBeGreaterThan(20);
});

test('with storage: false, the storage is not touched, and the unit is the session unless there is a key', () => {
  const trial = { name: 'visits', storage: false };
  expect(new Set(keys(30).map(() => JSON.stringify(assignArm(trial)))).size).toBeGreaterThan(20);
  expect([assignArm(trial).unit, assignArm({ ...trial, key: 'a' }).unit, items.size]).toEqual(['session', 'viewer', 0]);
});

test('a viewer without a storage, or with one that keeps nothing, is a session', () => {
  for (const storage of [undefined, { ...STORAGE, getItem: broken }, { ...STORAGE, setItem: () => {} }]) {
    define('localStorage', storage);
    expect(repeated('viewer')).toBeGreaterThan(20);
  }
});

test.each<[object | undefined, string]>([
  [undefined, 'trial.name'],
  [{ name: 1 }, 'trial.name'],
  [{ name: 'a', shares: 0.1 }, 'trial.shares'],
  [{ name: 'a/b' }, 'trial.name'],
  [{ name: 'a', share: 1.1 }, 'trial.share'],
  [{ name: 'a', share: 0.5, arms: { a: {}, b: {} } }, 'trial.share'],
  [{ name: 'a', arms: { a: {} } }, 'trial.arms'],
  [{ name: 'a', arms: { a: {}, 'b\n': {} } }, 'trial.arms'],
  [{ name: 'a', arms: { a: {}, b: 'mpc-l' } }, 'trial.arms.b'],
  [{ name: 'a', unit: 'day' }, 'trial.unit'],
  [{ name: 'a', key: 7 }, 'trial.key'],
  [{ name: 'a', storage: 0 }, 'trial.storage'],
])('%j is refused', (trial, field) => {
  expect(() => assignArm(trial as never)).toThrow(field);
});
