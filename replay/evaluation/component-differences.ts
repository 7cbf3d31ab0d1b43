/** Compares two algorithms by pairs of sessions, for each component of the QoE. */

import { seedOf } from '../random.ts';
import type { Estimate, ResampledBy, ResolvedScenario, SessionResult } from '../results.ts';
import { meansWithInterval } from './mean-interval.ts';
import { placeKey } from './plan.ts';
import { type DatasetUnits, resamplingUnits } from './resampling-units.ts';
import { QOE_COMPONENTS, qoeComponents } from './session-components.ts';

/** Means over pairs, algorithm minus baseline, in the QoE's unit unless the name has another. */
export interface ComponentDifference {
  pairs: number;
  resampledBy: ResampledBy;
  /** Number of units with pairs. */
  units: number;
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
 * and `label` (the data set or subset) give the seed of the resamples. Cost: resamples x units.
 */
export function componentDifference(
  algorithm: readonly SessionResult[],
  baseline: readonly SessionResult[],
  options: {
    scenario: ResolvedScenario;
    ways: ReadonlyMap<string, DatasetUnits>;
    seed: number;
    label: string;
    resamples?: number;
  },
): ComponentDifference | undefined {
  const { scenario, ways, seed, label, resamples } = options;
  const baselineAt = new Map(baseline.map((session) => [placeKey(session), session]));
  const pairs = algorithm.flatMap((own) => {
    const other = baselineAt.get(placeKey(own));
    return other === undefined ? [] : [{ own, other }];
  });
  if (pairs.length === 0) return undefined;
  const { unitOf, unitCount, resampledBy } = resamplingUnits(
    pairs.map(({ own }) => own),
    ways,
  );
  const parts = pairs.map(({ own, other }) => ({
    own: qoeComponents(own, scenario),
    other: qoeComponents(other, scenario),
  }));
  const samples = {
    ...(Object.fromEntries(
      QOE_COMPONENTS.map((name) => [name, parts.map(({ own, other }) => own[name] - other[name])]),
    ) as Record<(typeof QOE_COMPONENTS)[number], number[]>),
    stallSeconds: pairs.map(({ own, other }) => own.stallSeconds - other.stallSeconds),
    startupSeconds: pairs.map(({ own, other }) => own.startupSeconds - other.startupSeconds),
  };
  const estimates = meansWithInterval(samples, {
    unitOf: pairs.map(({ own }) => unitOf(own)),
    unitCount,
    seed: seedOf(JSON.stringify(['bootstrap', seed, label])),
    ...(resamples !== undefined && { resamples }),
  });
  return { pairs: pairs.length, resampledBy, units: unitCount, ...estimates };
}
