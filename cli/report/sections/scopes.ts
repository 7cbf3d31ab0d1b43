/** The data sets of a run as sections show them, and paired differences from the baseline. */

import { type ComponentDifference, componentDifference } from '../../../replay/evaluation/component-differences.ts';
import { groupBy } from '../../../replay/evaluation/group-by.ts';
import { unitsByDataset } from '../../../replay/evaluation/resampling-units.ts';
import { oneRecordingDatasets } from '../../../replay/evaluation/verdicts.ts';
import { ALL_DATASETS, type SessionResult } from '../../../replay/results.ts';
import type { Table } from '../document.ts';
import { byAlgorithm, type Run } from '../runs.ts';

/** A data set of a run, or all of them together where there are several. */
export interface Scope {
  dataset: string;
  /** Its name for readers. */
  title: string;
  sessions: SessionResult[];
}

/** The scopes of a section's table: one, or the data sets with one recording. */
export interface ScopeGroup {
  title: string;
  scopes: Scope[];
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

/** Each scope by itself, but the data sets with one recording together, at the place of the first. */
export function scopeGroupsOf(run: Run): ScopeGroup[] {
  const small = oneRecordingDatasets(run.results.summary);
  const groups = groupBy(scopesOf(run), ({ dataset }) => (small.has(dataset) ? undefined : dataset));
  return [...groups].map(([dataset, scopes]) => ({
    title: dataset === undefined ? 'data sets with one recording each' : scopes[0]!.title,
    scopes,
  }));
}

/** The scopes that are large enough for figures of their own. */
export function largeScopes(groups: readonly ScopeGroup[]): Scope[] {
  return groups.flatMap(({ scopes }) => (scopes.length === 1 ? scopes : []));
}

/**
 * The tables of the groups: one each. Tables of a group with several scopes are joined under the caption of the first,
 * which begins with its scope's title; the data set is their first column.
 */
export function groupTables(groups: readonly ScopeGroup[], tableOf: (scope: Scope) => Table | undefined): Table[] {
  return groups.flatMap(({ title, scopes }) => {
    const tables = scopes.flatMap((scope) => {
      const table = tableOf(scope);
      return table === undefined ? [] : [{ scope, table }];
    });
    const [first] = tables;
    if (first === undefined || scopes.length === 1) return first === undefined ? [] : [first.table];
    const rows = tables.flatMap(({ scope, table }) => table.rows.map((row) => [scope.title, ...row]));
    const caption = `${title}${first.table.caption.slice(first.scope.title.length)}`;
    return [{ ...first.table, caption, names: ['data set', ...first.table.names], rows }];
  });
}

/** Differences of `algorithms` (default: the run's) from the baseline, where there are pairs. */
export function differencesFrom(
  { results, scenario, baseline, algorithms: all }: Run,
  { sessions, dataset }: Scope,
  algorithms: readonly string[] = all,
): Map<string, ComponentDifference> {
  const groups = byAlgorithm(sessions);
  const options = { scenario, ways: unitsByDataset(results.sessions), seed: results.tool.seed, label: dataset };
  return new Map(
    algorithms.flatMap((algorithm) => {
      if (algorithm === baseline) return [];
      const found = componentDifference(groups.get(algorithm) ?? [], groups.get(baseline) ?? [], options);
      return found === undefined ? [] : [[algorithm, found] as const];
    }),
  );
}

/** How the intervals of a comparison were made, for the caption of a table. */
export function intervalsText({ units, resampledBy }: Pick<ComponentDifference, 'units' | 'resampledBy'>): string {
  if (units < 2) return 'No intervals: there is one recording.';
  const what = { groups: 'recording groups', recordings: 'recordings', mixed: 'recording groups or recordings' };
  return `In brackets 95 % intervals, ${units} ${what[resampledBy]} resampled; bold where they exclude no difference.`;
}
