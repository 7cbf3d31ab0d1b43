/** The components of QoE-linear: of a session, and of the difference between two algorithms. */

import { QOE_UNIT_SECONDS } from '../../../abr/index.ts';
import { seedOf } from '../../../abr/statistics/random.ts';
import type { Estimate, ResolvedScenario, SessionResult } from '../../results.ts';
import type { Scenario } from '../../scenarios.ts';
import { placeKey } from '../plan/plan.ts';
import { differences, type PairedSample, pairedMeans } from '../statistics/paired-means.ts';
import type { DatasetUnits } from '../statistics/resampling-units.ts';

/** In Mbit/s of undisturbed 4 s segments; `qoe = quality - stalls - startup - switches`. */
export type QoeComponents = Record<'qoe' | 'quality' | 'stalls' | 'startup' | 'switches', number>;

/** Computes the mean bitrate (missing segments count as 0) and the costs, >= 0, from the totals (abr/qoe/session-qoe.ts). */
export function qoeComponents(
  { segments, startupSeconds, stallSeconds, switchBps, endedBy, qoe }: SessionResult,
  scenario: Pick<Scenario, 'segmentSeconds' | 'segmentCount' | 'mu' | 'lambda'>,
): QoeComponents {
  const perSegment = scenario.segmentSeconds / QOE_UNIT_SECONDS;
  const quality = segments.reduce((sum, { bitrateBps }) => sum + (bitrateBps / 1e6) * perSegment, 0);
  const [stalls, startup] = [scenario.mu * stallSeconds, scenario.mu * startupSeconds];
  const switches = (scenario.lambda * switchBps) / 1e6;
  const isWhole = endedBy === 'end';
  const solved = (quality - stalls - startup - switches) / qoe.linear;
  const units =
    !isWhole && solved > 0 && Number.isFinite(solved)
      ? solved
      : (isWhole ? segments.length : scenario.segmentCount) * perSegment;
  return {
    qoe: qoe.linear,
    quality: quality / units,
    stalls: stalls / units,
    startup: startup / units,
    switches: switches / units,
  };
}

/** Means over pairs, algorithm minus baseline; costs are above 0 if the algorithm's are higher. */
export type ComponentDifference = PairedSample & Record<keyof QoeComponents, Estimate>;

/** Pairs sessions by place. `seed` and `label` (the data set) give the seed of the resamples. */
export function componentDifference(
  algorithm: readonly SessionResult[],
  baseline: readonly SessionResult[],
  options: { scenario: ResolvedScenario; ways: ReadonlyMap<string, DatasetUnits>; seed: number; label: string },
): ComponentDifference | undefined {
  const { scenario, ways, seed, label } = options;
  return pairedMeans<SessionResult, keyof QoeComponents>(algorithm, baseline, {
    keyOf: placeKey,
    valuesOf: differences((session) => qoeComponents(session, scenario)),
    ways,
    seed: seedOf(JSON.stringify(['bootstrap', seed, label])),
  });
}
