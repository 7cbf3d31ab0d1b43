/** Compares two algorithms by pairs of sessions, for each component of the QoE. */

import { seedOf } from '../../abr/random.ts';
import type { Estimate, ResolvedScenario, SessionResult } from '../results.ts';
import { type PairedSample, pairedDifferences } from './paired-differences.ts';
import { placeKey } from './plan.ts';
import type { DatasetUnits } from './resampling-units.ts';
import { qoeComponents } from './session-components.ts';

/** Means over pairs, algorithm minus baseline, in the QoE's unit unless the name has another. */
export interface ComponentDifference extends PairedSample {
  qoe: Estimate;
  quality: Estimate;
  /** Costs: positive if the algorithm's are higher. */
  stalls: Estimate;
  startup: Estimate;
  switches: Estimate;
  stallSeconds: Estimate;
  startupSeconds: Estimate;
}

/**
 * Pairs sessions by place; undefined without pairs. `ways` is `unitsByDataset` of all sessions. The benchmark's `seed`
 * and `label` (the data set or subset) give the seed of the resamples.
 */
export function componentDifference(
  algorithm: readonly SessionResult[],
  baseline: readonly SessionResult[],
  options: { scenario: ResolvedScenario; ways: ReadonlyMap<string, DatasetUnits>; seed: number; label: string },
): ComponentDifference | undefined {
  const { scenario, seed, label } = options;
  return pairedDifferences<SessionResult, Exclude<keyof ComponentDifference, keyof PairedSample>>(algorithm, baseline, {
    ...options,
    keyOf: placeKey,
    valuesOf: (session) => {
      const { stallSeconds, startupSeconds } = session;
      return { ...qoeComponents(session, scenario), stallSeconds, startupSeconds };
    },
    seed: seedOf(JSON.stringify(['bootstrap', seed, label])),
  });
}
