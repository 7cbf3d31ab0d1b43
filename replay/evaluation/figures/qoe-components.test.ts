import { expect, test } from '@jest/globals';
import type { SessionResult } from '../../results.ts';
import { sessionTotals } from '../../simulator/session-result.ts';
import { unitsByDataset } from '../statistics/resampling-units.ts';
import { testScenario, testSession } from '../test-sessions.fixture.ts';
import { componentDifference, qoeComponents } from './qoe-components.ts';

const scenario = testScenario();
const [low, high] = [scenario.ladderBps[0]!, scenario.ladderBps[3]!];

type SessionChanges = Partial<Pick<SessionResult, 'trace' | 'endedBy' | 'stallSeconds'>> & { segmentCount?: number };

/** A session that stalls in its first segment. */
function session(bitratesBps: number[], { stallSeconds = 0, segmentCount, ...rest }: SessionChanges = {}) {
  const [blank] = testSession().segments;
  const segments = bitratesBps.map((bitrateBps, index) => ({ ...blank!, index, bitrateBps }));
  segments[0]!.stallSeconds = stallSeconds;
  const played = { segments, startupSeconds: 0.5, stalls: [], ...(segmentCount !== undefined && { segmentCount }) };
  return testSession({ trace: 'a', ...rest, segments, ...sessionTotals(played, scenario) });
}

test('components add up to the QoE', () => {
  const played = session([low, high, high, low], { stallSeconds: 2 });
  const { qoe, quality, stalls, startup, switches } = qoeComponents(played, scenario);
  expect(quality).toBeCloseTo((3 + 30 + 30 + 3) / 4, 9);
  expect(stalls).toBeCloseTo((120 * 2) / 4, 9);
  expect(startup).toBeCloseTo((120 * 0.5) / 4, 9);
  expect(switches).toBeCloseTo((27 + 27) / 4, 9);
  expect(qoe).toBeCloseTo(quality - stalls - startup - switches, 9);
});

test('components of an unfinished session include the missing segments', () => {
  const cut = session([low, high], { stallSeconds: 600, segmentCount: 24, endedBy: 'cutoff' });
  const { qoe, quality, stalls, startup, switches } = qoeComponents(cut, scenario);
  expect(quality).toBeCloseTo(33 / 24, 6);
  expect(qoe).toBeCloseTo(quality - stalls - startup - switches, 6);
});

test('componentDifference pairs by place, and its parts add up to the QoE', () => {
  const baseline = ['a', 'b', 'c'].map((trace, i) => session([low, low, high, high], { trace, stallSeconds: i }));
  const own = ['c', 'a', 'b', 'd'].map((trace) => session([low, high, high, high], { trace }));
  const all = [...baseline, ...own];
  const options = { scenario, ways: unitsByDataset(all), seed: 1, label: 'set' };
  const found = componentDifference(own, baseline, options)!;
  expect(found).toMatchObject({ pairs: 3, units: 3, resampledBy: 'recordings' });
  expect(found.quality.value).toBeCloseTo(27 / 4, 6);
  expect(found.stalls.value).toBeCloseTo(-30, 6);
  expect(found.switches.value).toBeCloseTo(0, 6);
  const { qoe, quality, stalls, startup, switches } = found;
  expect(qoe.value).toBeCloseTo(quality.value - stalls.value - startup.value - switches.value, 6);
  expect(found.quality.ci95![0]).toBeCloseTo(27 / 4, 6);
  expect(componentDifference(own, [], options)).toBeUndefined();
});
