/** Compares the same sessions in two tiers, simulator and browser. */

import { seedOf } from '../../../abr/statistics/random.ts';
import type { Estimate, SessionResult } from '../../results.ts';
import { groupBy } from '../group-by.ts';
import { sessionKey } from '../plan/plan.ts';
import { pairedMeans } from '../statistics/paired-means.ts';
import { unitsByDataset } from '../statistics/resampling-units.ts';

const agreementOf = (own: SessionResult, simulated: SessionResult) => ({
  qoeDiff: own.qoe.linear - simulated.qoe.linear,
  stallSecondsDiff: own.stallSeconds - simulated.stallSeconds,
  startupSecondsDiff: own.startupSeconds - simulated.startupSeconds,
  sameRepresentation: sameShare(own, simulated),
  browserQoe: own.qoe.linear,
  simulatorQoe: simulated.qoe.linear,
});

type Agreement = keyof ReturnType<typeof agreementOf>;
export type TierAgreement = { algorithm: string; pairs: number } & Record<Agreement, Estimate>;

/** A row per algorithm, over sessions that ended normally in both tiers; browser minus simulator. */
export function tierAgreement(
  simulated: readonly SessionResult[],
  browser: readonly SessionResult[],
  seed: number,
): TierAgreement[] {
  const ways = unitsByDataset(browser);
  const played = groupBy(browser, ({ algorithm }) => algorithm);
  return [...played].flatMap(([algorithm, sessions]) => {
    // In the household `mixed` other algorithms play in the browser at the same place.
    const isOne = (session: SessionResult) => session.endedBy === 'end' && session.algorithm === algorithm;
    const agreement = pairedMeans<SessionResult, Agreement>(sessions.filter(isOne), simulated.filter(isOne), {
      ...{ ways, keyOf: sessionKey, valuesOf: agreementOf },
      seed: seedOf(JSON.stringify(['tiers', seed, algorithm])),
    });
    return agreement === undefined ? [] : [{ algorithm, ...agreement }];
  });
}

function sameShare(browser: SessionResult, simulated: SessionResult): number {
  const bitrates = new Map(simulated.segments.map(({ index, bitrateBps }) => [index, bitrateBps]));
  const same = browser.segments.filter(({ index, bitrateBps }) => bitrates.get(index) === bitrateBps).length;
  return same / browser.segments.length;
}
