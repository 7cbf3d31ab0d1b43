/** Compares the same sessions in two tiers, simulator and browser. */

import { seedOf } from '../../../abr/statistics/random.ts';
import type { Estimate, SessionResult } from '../../results.ts';
import { groupBy } from '../group-by.ts';
import { sessionKey } from '../plan/plan.ts';
import { pairedMeans } from '../statistics/paired-means.ts';
import { unitsByDataset } from '../statistics/resampling-units.ts';

function agreementOf(own: SessionResult, simulated: readonly SessionResult[]) {
  const mean = (of: (one: SessionResult) => number) =>
    simulated.reduce((sum, one) => sum + of(one), 0) / simulated.length;
  return {
    qoeDiff: own.qoe.linear - mean(({ qoe }) => qoe.linear),
    stallSecondsDiff: own.stallSeconds - mean(({ stallSeconds }) => stallSeconds),
    startupSecondsDiff: own.startupSeconds - mean(({ startupSeconds }) => startupSeconds),
    sameRepresentation: mean((one) => sameShare(own, one)),
    browserQoe: own.qoe.linear,
    simulatorQoe: mean(({ qoe }) => qoe.linear),
  };
}

type Agreement = keyof ReturnType<typeof agreementOf>;
export type TierAgreement = { algorithm: string; pairs: number } & Record<Agreement, Estimate>;

/**
 * A row per algorithm, over sessions that ended normally in both tiers; browser minus simulator. Simulated sessions of
 * the same place, with other seeds, count by their mean.
 */
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
    const simulatedAt = groupBy(simulated.filter(isOne), sessionKey);
    const agreement = pairedMeans<SessionResult, Agreement>(sessions.filter(isOne), simulated.filter(isOne), {
      ...{ ways, keyOf: sessionKey, valuesOf: (own) => agreementOf(own, simulatedAt.get(sessionKey(own))!) },
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
