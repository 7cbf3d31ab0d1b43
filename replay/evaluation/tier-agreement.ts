/** The same sessions in two tiers, simulator and browser, from their results alone. */

import { seedOf } from '../random.ts';
import type { Estimate, SessionResult } from '../results.ts';
import { meansWithInterval } from './mean-interval.ts';
import { sessionKey } from './plan.ts';
import { resamplingUnits, unitsByDataset } from './resampling-units.ts';

/** Over the sessions that both have played to their end; differences are browser minus simulator. */
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
  /** QoE-linear of each session, for a plot. */
  points: { simulator: number; browser: number }[];
}

/** A row per algorithm that both tiers have, in order of the browser's sessions. */
export function tierAgreement(
  simulated: readonly SessionResult[],
  browser: readonly SessionResult[],
  seed: number,
): TierAgreement[] {
  const simulatedAt = new Map(simulated.map((session) => [sessionKey(session), session]));
  const pairsOf = new Map<string, { browser: SessionResult; simulator: SessionResult }[]>();
  for (const session of browser) {
    const other = simulatedAt.get(sessionKey(session));
    if (other === undefined || session.endedBy !== 'end' || other.endedBy !== 'end') continue;
    const pair = { browser: session, simulator: other };
    const pairs = pairsOf.get(session.algorithm);
    if (pairs === undefined) pairsOf.set(session.algorithm, [pair]);
    else pairs.push(pair);
  }
  const ways = unitsByDataset(browser);
  return [...pairsOf].map(([algorithm, pairs]) => {
    const { unitOf, unitCount } = resamplingUnits(
      pairs.map((pair) => pair.browser),
      ways,
    );
    const difference = (value: (session: SessionResult) => number) =>
      pairs.map((pair) => value(pair.browser) - value(pair.simulator));
    const points = pairs.map((pair) => ({
      simulator: pair.simulator.qoe.linear,
      browser: pair.browser.qoe.linear,
    }));
    const means = meansWithInterval(
      {
        qoeDiff: difference(({ qoe }) => qoe.linear),
        stallSecondsDiff: difference(({ stallSeconds }) => stallSeconds),
        startupSecondsDiff: difference(({ startupSeconds }) => startupSeconds),
        sameRepresentation: pairs.map((pair) => sameShare(pair.browser, pair.simulator)),
        browserQoe: points.map((point) => point.browser),
        simulatorQoe: points.map((point) => point.simulator),
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
      points,
    };
  });
}

function sameShare(browser: SessionResult, simulated: SessionResult): number {
  const bitrates = new Map(simulated.segments.map(({ index, bitrateBps }) => [index, bitrateBps]));
  const same = browser.segments.filter(({ index, bitrateBps }) => bitrates.get(index) === bitrateBps).length;
  return same / browser.segments.length;
}
