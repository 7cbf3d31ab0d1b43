/** The means of each algorithm, its paired difference from the baseline, households, and the simulator's agreement. */

import type { ComponentDifference } from '../../../replay/evaluation/component-differences.ts';
import { type HouseholdSummary, householdSummary } from '../../../replay/evaluation/household-figures.ts';
import { sameJson } from '../../../replay/evaluation/same-json.ts';
import { type TierAgreement, tierAgreement } from '../../../replay/evaluation/tier-agreement.ts';
import { shownGapClosed } from '../../../replay/evaluation/verdicts.ts';
import type { Estimate, SummaryRow } from '../../../replay/results.ts';
import { ALGORITHM, type Block, type Column, type Table, tableOf } from '../document.ts';
import { estimateCell, fixed, percent, scaled, turned } from '../format.ts';
import type { Run } from '../runs.ts';
import { differencesFrom, groupTables, intervalsText, type Scope, type ScopeGroup } from './scopes.ts';

export function comparisonBlocks(run: Run, group: ScopeGroup): Block[] {
  const rowsOf = ({ dataset }: Scope) => run.results.summary.filter((row) => row.dataset === dataset);
  return [
    ...groupTables([group], (scope) => meansTable(rowsOf(scope), run, scope)),
    ...groupTables([group], (scope) => differenceTable(rowsOf(scope), run, scope)),
  ];
}

function meansTable(rows: readonly SummaryRow[], { digits }: Run, { title }: Scope): Table {
  const caption =
    `${title}: each algorithm by itself. Stalls exclude startup; "worst 5 %" is the mean of the worst sessions, ` +
    '"over 10 s" the share of sessions with stalls of more than 10 s.';
  const numbers: Column<SummaryRow>[] = [
    ['n', (row) => String(row.sessions)],
    ['QoE, mean', (row) => fixed(row.qoeMean, digits)],
    ['p5', (row) => fixed(row.qoeP5, digits - 1)],
    ['median', (row) => fixed(row.qoeMedian, digits - 1)],
    ['p95', (row) => fixed(row.qoeP95, digits - 1)],
    ['bitrate, Mbit/s', (row) => fixed(row.meanBitrateBps / 1e6, digits)],
    ['stalls, s', (row) => fixed(row.stallSecondsMean, 2)],
    ['worst 5 %, s', (row) => fixed(row.stallSecondsWorst5pct, 1)],
    ['over 10 s', (row) => percent(row.severeShare, 1)],
    ['startup, s', (row) => fixed(row.startupSecondsMean, 2)],
    ['wasted', (row) => percent(row.wastedShare, 1)],
  ];
  return tableOf(caption, { names: [ALGORITHM], numbers }, rows);
}

function differenceTable(rows: readonly SummaryRow[], run: Run, scope: Scope): Table | undefined {
  const { digits } = run;
  const compared = [...differencesFrom(run, scope)].map(([algorithm, difference]) => {
    const row = rows.find((one) => one.algorithm === algorithm);
    return { algorithm, difference, row, versus: row?.vsBaseline };
  });
  const [first] = compared;
  if (first === undefined) return undefined;
  const caption =
    `${scope.title}: difference from ${run.baseline} over pairs of sessions of the same trace and start. ` +
    'QoE = bitrate + stalls + startup + switches, in Mbit/s of undisturbed media, above 0 where the algorithm is ' +
    `better; "worst 5 %" in seconds of stalls, "over 10 s" in percentage points of the sessions, below 0 where it ` +
    `is better. ${intervalsText(first.difference)}`;
  type Compared = typeof first;
  const component = (title: string, of: (difference: ComponentDifference) => Estimate): Column<Compared> => [
    title,
    ({ difference }) => estimateCell(of(difference), { digits }),
  ];
  const numbers: Column<Compared>[] = [
    ['pairs', ({ difference }) => String(difference.pairs)],
    component('QoE', ({ qoe }) => qoe),
    component('from bitrate', ({ quality }) => quality),
    component('from stalls', ({ stalls }) => turned(stalls)),
    component('from startup', ({ startup }) => turned(startup)),
    component('from switches', ({ switches }) => turned(switches)),
    ['worst 5 %, s', ({ versus }) => estimateCell(versus?.worst5pctDiff, { digits: 1 })],
    ['over 10 s, points', ({ versus }) => estimateCell(versus && scaled(versus.severeShareDiff, 100), { digits: 1 })],
    ['QoE ratio', ({ versus }) => estimateCell(versus?.qoeMeanRatio, { digits: 2, plus: false, against: 1 })],
    ['gap closed', ({ row }) => estimateCell(row && shownGapClosed(row, rows), { digits: 2, plus: false })],
  ];
  return tableOf(caption, { names: [ALGORITHM], numbers }, compared);
}

/** Means of each given algorithm, and differences from the baseline's households; empty without households. */
export function householdBlocks(run: Run, groups: readonly ScopeGroup[]): Block[] {
  if (run.results.households === undefined) return [];
  const { digits, baseline } = run;
  const text =
    'Means over households; "p5" is the 5th percentile of QoE over all their players, stalls are per player, with the ' +
    'mean of the worst 5 %. Unfairness is sqrt(1 − Jain’s index); instability is FESTIVE’s; utilisation is the share of ' +
    'the link’s bits that arrived. The last two columns are differences from the households of ' +
    `${baseline} on the same places.`;
  const numbers: Column<HouseholdSummary>[] = [
    ['n', (row) => String(row.households)],
    ['QoE, sum', (row) => fixed(row.qoeSum, digits)],
    ['least', (row) => fixed(row.qoeLeast, digits)],
    ['p5', (row) => fixed(row.qoeP5, digits - 1)],
    ['stalls, s', (row) => fixed(row.stallSecondsMean, 2)],
    ['worst 5 %, s', (row) => fixed(row.stallSecondsWorst5pct, 1)],
    ['unfairness, QoE', (row) => fixed(row.qoeUnfairness, 3)],
    ['bitrate', (row) => fixed(row.bitrateUnfairness, 3)],
    ['instability', (row) => fixed(row.instability, 3)],
    ['utilisation', (row) => percent(row.linkUtilisation, 1)],
    ['QoE, sum', (row) => estimateCell(row.difference?.qoeSum, { digits })],
    ['least', (row) => estimateCell(row.difference?.qoeLeast, { digits })],
  ];
  const tables = groupTables(groups, ({ dataset, title }) => {
    const rows = householdSummary(run.results, dataset);
    const first = rows.find(({ difference }) => difference !== undefined)?.difference;
    const names: Column<HouseholdSummary>[] = [['given', ({ algorithm }) => algorithm]];
    return tableOf(`${title}.${first ? ` ${intervalsText(first)}` : ''}`, { names, numbers }, rows);
  });
  return [{ kind: 'text', text }, ...tables];
}

/** Simulator against browser: a table for each pair of runs on demand with common sessions. */
export function tierBlocks(runs: readonly Run[]): Block[] {
  return runs
    .filter(({ isSimulated, scenario }) => isSimulated && scenario.live === undefined)
    .flatMap((simulator) =>
      runs
        .filter(({ isSimulated, scenario }) => !isSimulated && sameJson(scenario, simulator.scenario))
        .flatMap((browser) => tierTable(simulator, browser) ?? []),
    );
}

function tierTable(simulator: Run, { results, digits, scenarioLabel, tier }: Run): Table | undefined {
  const agreement = tierAgreement(simulator.results.sessions, results.sessions, results.tool.seed);
  const caption =
    `${scenarioLabel}, ${tier} against simulator: sessions that ended normally in both. ` +
    'Differences are browser minus simulator, with 95 % intervals.';
  const numbers: Column<TierAgreement>[] = [
    ['n', (row) => String(row.sessions)],
    ['QoE, browser', (row) => fixed(row.browserQoe, digits)],
    ['QoE, simulator', (row) => fixed(row.simulatorQoe, digits)],
    ['difference', (row) => estimateCell(row.qoeDiff, { digits })],
    ['stalls, s', (row) => estimateCell(row.stallSecondsDiff, { digits: 2 })],
    ['startup, s', (row) => estimateCell(row.startupSecondsDiff, { digits: 2 })],
    ['same representation', (row) => percent(row.sameRepresentation.value, 1)],
  ];
  return agreement.length === 0 ? undefined : tableOf(caption, { names: [ALGORITHM], numbers }, agreement);
}
