/** Compares the same sessions in two tiers, simulator and browser. */

import { seedOf } from '../../abr/random.ts';
import type { Estimate, SessionResult } from '../results.ts';
import { groupBy } from './group-by.ts';
import { pairedMeans } from './paired-means.ts';
import { sessionKey } from './plan.ts';
import { unitsByDataset } from './resampling-units.ts';

type Agreement =
  | 'qoeDiff'
  | 'stallSecondsDiff'
  | 'startupSecondsDiff'
  | 'sameRepresentation'
  | 'browserQoe'
  | 'simulatorQoe';
export type TierAgreement = { algorithm: string; pairs: number } & Record<Agreement, Estimate>;

/** A row per algorithm of both tiers, in order of the browser's sessions. */
export function tierAgreement(
  simulated: readonly SessionResult[],
  browser: readonly SessionResult[],
  seed: number,
): TierAgreement[] {
  const ways = unitsByDataset(browser);
  return [...groupBy(browser, ({ algorithm }) => algorithm)].flatMap(([algorithm, sessions]) => {
    // In the household `mixed` other algorithms play in the browser at the same place.
    const others = simulated.filter((session) => session.algorithm === algorithm);
    const agreement = agreementOf(sessions, others, { ways, seed: seedOf(JSON.stringify(['tiers', seed, algorithm])) });
    return agreement === undefined ? [] : [{ algorithm, ...agreement }];
  });
}

/** Over the sessions that ended normally in both tiers; differences are browser minus simulator. */
function agreementOf(
  browser: readonly SessionResult[],
  simulated: readonly SessionResult[],
  resampling: { ways: ReturnType<typeof unitsByDataset>; seed: number },
) {
  const [played, others] = [browser, simulated].map((sessions) => sessions.filter(({ endedBy }) => endedBy === 'end'));
  return pairedMeans<SessionResult, Agreement>(played!, others!, {
    ...resampling,
    keyOf: sessionKey,
    valuesOf: (own, other) => ({
      qoeDiff: own.qoe.linear - other.qoe.linear,
      stallSecondsDiff: own.stallSeconds - other.stallSeconds,
      startupSecondsDiff: own.startupSeconds - other.startupSeconds,
      sameRepresentation: sameShare(own, other),
      browserQoe: own.qoe.linear,
      simulatorQoe: other.qoe.linear,
    }),
  });
}

/** Share of segments with the same representation. */
function sameShare(browser: SessionResult, simulated: SessionResult): number {
  const bitrates = new Map(simulated.segments.map(({ index, bitrateBps }) => [index, bitrateBps]));
  const same = browser.segments.filter(({ index, bitrateBps }) => bitrates.get(index) === bitrateBps).length;
  return same / browser.segments.length;
}
