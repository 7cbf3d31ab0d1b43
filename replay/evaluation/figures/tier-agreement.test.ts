import { expect, test } from '@jest/globals';
import { testSession } from '../test-sessions.fixture.ts';
import { tierAgreement } from './tier-agreement.ts';

test('pairs the sessions that ended normally in both tiers', () => {
  const [row] = testSession().segments;
  const browser = ['a', 'b', 'c'].map((trace) =>
    testSession({ trace, qoeLinear: 12, stallSeconds: 1, segments: [row!, { ...row!, index: 1, bitrateBps: 8e6 }] }),
  );
  const simulated = ['a', 'b', 'd'].map((trace) =>
    testSession({ trace, qoeLinear: 10, segments: [row!, { ...row!, index: 1 }] }),
  );
  const cut = testSession({ trace: 'c', endedBy: 'cutoff' });
  const [found, ...others] = tierAgreement([...simulated, cut], browser, 1);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ algorithm: 'mpc-d', pairs: 2, browserQoe: { value: 12 }, simulatorQoe: { value: 10 } });
  expect(found).toMatchObject({ qoeDiff: { value: 2, ci95: [2, 2] }, stallSecondsDiff: { value: 1 } });
  expect(found!.sameRepresentation.value).toBe(0.5);
  expect(tierAgreement([], browser, 1)).toEqual([]);
  const again = simulated.map((session) => ({ ...session, seed: 8, qoe: { ...session.qoe, linear: 13 } }));
  const [averaged] = tierAgreement([...simulated, ...again], browser, 1);
  const qoeDiff = { value: 0.5, ci95: [0.5, 0.5] };
  expect(averaged).toMatchObject({ pairs: 2, simulatorQoe: { value: 11.5 }, qoeDiff });
});
