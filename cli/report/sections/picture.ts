/** The picture that opens a report: QoE by algorithm, per data set. */

import { tooFewSessions } from '../../../replay/evaluation/verdicts.ts';
import type { SummaryRow } from '../../../replay/results.ts';
import { type QoeRow, qoeChart } from '../charts.ts';
import type { Block, Figure, SeriesStyle } from '../document.ts';
import { count, fixed } from '../format.ts';
import type { Run } from '../runs.ts';
import { type Scope, type ScopeGroup, scopeGroupsOf } from './scopes.ts';

/** `runTitle` names a run where there are several. */
export function openingBlocks(
  runs: readonly Run[],
  { styles, runTitle }: { styles: ReadonlyMap<string, SeriesStyle>; runTitle(run: Run): string },
): Block[] {
  const played = runs.filter(({ results }) => results.sessions.length > 0);
  const shown = played.flatMap((run) => openingGroups(run).map((group) => ({ run, group })));
  const figures = shown.map(({ run, group }) => ({
    ...figureOf(run, group, styles),
    title: played.length > 1 ? `${runTitle(run)}: ${group.title}` : group.title,
  }));
  // In the other figures, the algorithms are the names of the lines.
  const legend = shown
    .filter(({ group }) => group.scopes.length > 1)
    .flatMap(({ run }) => run.algorithms)
    .filter((algorithm, i, all) => all.indexOf(algorithm) === i)
    .map((algorithm) => ({ name: algorithm, style: styles.get(algorithm)! }));
  const verdicts = played.flatMap((run) => {
    const verdict = tooFewSessions(run.results.summary);
    return verdict === undefined ? [] : [played.length > 1 ? `${runTitle(run)}: ${verdict}` : verdict];
  });
  const text =
    'Mean QoE of the sessions; to the right is better. A line is the 95 % interval of the difference from the ' +
    'baseline, drawn around the mean: where it crosses the dashed line, which is the baseline, these sessions do not ' +
    'show which of the two is better.';
  return [
    { kind: 'figures', width: 'half', figures, ...(legend.length > 0 && { legend }) },
    { kind: 'text', text },
    ...verdicts.map((verdict) => ({ kind: 'text' as const, text: verdict })),
  ];
}

/** The data sets; all together only if no data set has more than one recording. */
function openingGroups(run: Run): ScopeGroup[] {
  const groups = scopeGroupsOf(run);
  const isLarge = ({ scopes }: ScopeGroup) => scopes.length === 1 && run.datasets.includes(scopes[0]!.dataset);
  return groups.some(isLarge) ? groups.filter((group) => isLarge(group) || group.scopes.length > 1) : groups;
}

function figureOf(run: Run, { title, scopes }: ScopeGroup, styles: ReadonlyMap<string, SeriesStyle>): Figure {
  const rows = scopes.flatMap((scope) => rowsOf(run, scope, scopes.length > 1));
  const intervals = hasIntervals(run, scopes) ? '' : '; no intervals';
  const numbers = rows.map(({ label, algorithm, value }) => {
    const of = scopes.length > 1 ? `${label} ${algorithm}` : algorithm;
    return `${of} ${fixed(value, 1)}`;
  });
  return {
    caption: `${sessionsText(run, scopes)}${intervals}.`,
    label: `Mean QoE by algorithm in Mbit/s, ${title}: ${numbers.join(', ')}.`,
    draw: () => qoeChart(rows, { baseline: scopes.length > 1 ? undefined : run.baseline, styles }),
  };
}

function hasIntervals({ results }: Run, scopes: readonly Scope[]): boolean {
  return results.summary.some(
    ({ dataset, vsBaseline }) => vsBaseline?.qoeDiff.ci95 != null && scopes.some((scope) => scope.dataset === dataset),
  );
}

/** A line per algorithm, or per data set with a mark per algorithm. */
function rowsOf({ results }: Run, { dataset, title }: Scope, isShared: boolean): QoeRow[] {
  return results.summary
    .filter((row) => row.dataset === dataset)
    .map((row) => {
      const { qoe, difference } = figuresOf(row);
      const [low, high] = difference?.ci95 ?? [difference?.value ?? 0, difference?.value ?? 0];
      const offset = qoe - (difference?.value ?? 0);
      return {
        label: isShared ? title : row.algorithm,
        algorithm: row.algorithm,
        value: qoe,
        low: low + offset,
        high: high + offset,
      };
    });
}

function figuresOf({ qoeMean, live, vsBaseline }: SummaryRow) {
  return live === undefined
    ? { qoe: qoeMean, difference: vsBaseline?.qoeDiff }
    : { qoe: live.qoe, difference: vsBaseline?.live?.qoeDiff };
}

function sessionsText({ algorithms }: Run, scopes: readonly Scope[]): string {
  const most = Math.max(
    ...scopes.flatMap(({ sessions }) =>
      algorithms.map((name) => sessions.filter(({ algorithm }) => algorithm === name).length),
    ),
  );
  return `${scopes.length > 1 ? 'Up to ' : ''}${count(most, 'session')} per algorithm`;
}
