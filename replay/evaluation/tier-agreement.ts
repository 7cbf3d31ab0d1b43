/** Compares the same sessions in two tiers, simulator and browser. */

import { seedOf } from '../../abr/random.ts';
import type { Estimate, SessionResult } from '../results.ts';
import { meansWithInterval } from './bootstrap.ts';
import { groupBy } from './group-by.ts';
import { sessionKey } from './plan.ts';
import { resamplingUnits, unitsByDataset } from './resampling-units.ts';

/** Over the sessions that ended normally in both tiers; differences are browser minus simulator. */
export interface TierAgreement {
  algorithm: string;
  sessions: number;
  browserQoe: number;
  simulatorQoe: number;
  qoeDiff: Estimate;
  stallSecondsDiff: Estimate;
  startupSecondsDiff: Estimate;
  /** Share of segments with the same representation. */
  sameRepresentation: Estimate;
}

/** A row per algorithm of both tiers, in order of the browser's sessions. */
export function tierAgreement(
  simulated: readonly SessionResult[],
  browser: readonly SessionResult[],
  seed: number,
): TierAgreement[] {
  const simulatedAt = new Map(simulated.map((session) => [sessionKey(session), session]));
  const allPairs = browser.flatMap((session) => {
    const other = simulatedAt.get(sessionKey(session));
    // In the household `mixed` others play in the browser.
    const isSame = other?.algorithm === session.algorithm;
    const isPair = other !== undefined && isSame && session.endedBy === 'end' && other.endedBy === 'end';
    return isPair ? [{ browser: session, simulator: other }] : [];
  });
  const ways = unitsByDataset(browser);
  return [...groupBy(allPairs, (pair) => pair.browser.algorithm)].map(([algorithm, pairs]) => {
    const { unitOf, unitCount } = resamplingUnits(
      pairs.map((pair) => pair.browser),
      ways,
    );
    const difference = (value: (session: SessionResult) => number) =>
      pairs.map((pair) => value(pair.browser) - value(pair.simulator));
    const means = meansWithInterval(
      {
        qoeDiff: difference(({ qoe }) => qoe.linear),
        stallSecondsDiff: difference(({ stallSeconds }) => stallSeconds),
        startupSecondsDiff: difference(({ startupSeconds }) => startupSeconds),
        sameRepresentation: pairs.map((pair) => sameShare(pair.browser, pair.simulator)),
        browserQoe: pairs.map((pair) => pair.browser.qoe.linear),
        simulatorQoe: pairs.map((pair) => pair.simulator.qoe.linear),
      },
      {
        unitOf: pairs.map((pair) => unitOf(pair.browser)),
        unitCount,
        seed: seedOf(JSON.stringify(['tiers', seed, algorithm])),
      },
    );
    return {
      algorithm,
      sessions: pairs.length,
      ...means,
      browserQoe: means.browserQoe.value,
      simulatorQoe: means.simulatorQoe.value,
    };
  });
}

function sameShare(browser: SessionResult, simulated: SessionResult): number {
  const bitrates = new Map(simulated.segments.map(({ index, bitrateBps }) => [index, bitrateBps]));
  const same = browser.segments.filter(({ index, bitrateBps }) => bitrates.get(index) === bitrateBps).length;
  return same / browser.segments.length;
}
