/** An algorithm against another by pairs of sessions, component by component of the QoE. */

import { seedOf } from '../random.ts';
import type { Estimate, ResampledBy, ResolvedScenario, SessionResult } from '../results.ts';
import { meansWithInterval } from './mean-interval.ts';
import { placeKey } from './plan.ts';
import { type DatasetUnits, resamplingUnits } from './resampling-units.ts';
import { QOE_COMPONENTS, qoeComponents } from './session-components.ts';

/** Means over pairs, algorithm minus baseline. The QoE's unit but where the name says another. */
export interface ComponentDifference {
  pairs: number;
  resampledBy: ResampledBy;
  /** How many units hold the pairs. */
  units: number;
  qoe: Estimate;
  quality: Estimate;
  /** Costs: above 0 where the algorithm pays more. */
  stalls: Estimate;
  startup: Estimate;
  switches: Estimate;
  stallSeconds: Estimate;
  startupSeconds: Estimate;
}

export interface DifferenceOptions {
  scenario: ResolvedScenario;
  /** How whole data sets are resampled (`unitsByDataset` of all sessions). */
  ways: ReadonlyMap<string, DatasetUnits>;
  /** Of the benchmark; with `label` it makes that of the resamples. */
  seed: number;
  /** The data set, or what else the pairs are of. */
  label: string;
  resamples?: number;
}

/** Pairs by place; undefined where there is none. Costs: resamples x units. */
export function componentDifference(
  algorithm: readonly SessionResult[],
  baseline: readonly SessionResult[],
  { scenario, ways, seed, label, resamples }: DifferenceOptions,
): ComponentDifference | undefined {
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
