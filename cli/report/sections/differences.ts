/** Paired differences from a baseline, as several sections show them. */

import { type ComponentDifference, componentDifference } from '../../../replay/evaluation/component-differences.ts';
import { unitsByDataset } from '../../../replay/evaluation/resampling-units.ts';
import { ALL_DATASETS, type SessionResult } from '../../../replay/results.ts';
import type { Cell } from '../document.ts';
import { estimateCell, turned } from '../format.ts';
import { byAlgorithm, type Run } from '../runs.ts';

/** A data set of a run, or all of them together where there are several. */
export interface Scope {
  dataset: string;
  /** Its name for readers. */
  title: string;
  sessions: SessionResult[];
}

export function scopesOf({ datasets, results }: Run): Scope[] {
  const scopes = datasets.map((dataset) => ({
    dataset,
    title: dataset,
    sessions: results.sessions.filter((session) => session.dataset === dataset),
  }));
  return scopes.length < 2
    ? scopes
    : [...scopes, { dataset: ALL_DATASETS, title: 'all data sets together', sessions: results.sessions }];
}

/**
 * Differences of `algorithms` (default: the run's) from `baseline`, where there are pairs; `label` names the sessions.
 */
export function differencesFrom(
  run: Run,
  sessions: readonly SessionResult[],
  { baseline, label, algorithms = run.algorithms }: { baseline: string; label: string; algorithms?: readonly string[] },
): Map<string, ComponentDifference> {
  const groups = byAlgorithm(sessions);
  const ways = unitsByDataset(run.results.sessions);
  const differences = new Map<string, ComponentDifference>();
  for (const algorithm of algorithms) {
    if (algorithm === baseline) continue;
    const found = componentDifference(groups.get(algorithm) ?? [], groups.get(baseline) ?? [], {
      scenario: run.scenario,
      ways,
      seed: run.results.tool.seed,
      label,
    });
    if (found !== undefined) differences.set(algorithm, found);
  }
  return differences;
}

/** Titles of the columns of `componentCells`. */
export const COMPONENT_TITLES = ['pairs', 'QoE', 'from bitrate', 'from stalls', 'from startup', 'from switches'];

/** A difference and its components, above 0 where the algorithm is better. */
export function componentCells(of: ComponentDifference, digits: number): Cell[] {
  const estimates = [of.qoe, of.quality, turned(of.stalls), turned(of.startup), turned(of.switches)];
  return [String(of.pairs), ...estimates.map((estimate) => estimateCell(estimate, { digits }))];
}

/** How the intervals of a comparison were made, for the caption of a table or of a figure. */
export function intervalsText(
  { units, resampledBy }: Pick<ComponentDifference, 'units' | 'resampledBy'>,
  shownAs: 'brackets' | 'lines' = 'brackets',
): string {
  if (units < 2) return 'No intervals: there is one recording.';
  const what = { groups: 'recording groups', recordings: 'recordings', mixed: 'recording groups or recordings' };
  const intervals = `95 % intervals, ${units} ${what[resampledBy]} resampled`;
  return shownAs === 'lines'
    ? `Lines: ${intervals}.`
    : `In brackets ${intervals}; bold where they exclude no difference.`;
}
